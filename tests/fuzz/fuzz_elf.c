/* fuzz_elf.c - the headers of a plugin's file, which are read before the system's loader maps it. */
#include "harness.h"
#include "module/elf.h"
#include <stdlib.h>

const char fuzz_corpus[] = "elf";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("plugin.so", data, size);
    const int cut = gbees_elf_is_cut(path, size);

    fuzz_expect(cut == 0 || cut == 1, "a file is cut or is not");
    if (!cut)
        fuzz_expect(!gbees_elf_is_cut(path, (uint64_t)size + 4096),
                    "a file that is not cut is not when it is longer");
    else if (size > 0)
        fuzz_expect(gbees_elf_is_cut(path, size - 1), "nor is a cut file whole when it is shorter");
    free(path);
    return 0;
}
