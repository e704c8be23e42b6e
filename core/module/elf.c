/* elf.c - compares the sizes in ELF headers with a file's; see elf.h. */
#include "elf.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* Whether the header is one of this machine's word size and byte order. */
static int is_ours(const ElfW(Ehdr) * header)
{
    const union {
        uint16_t word;
        unsigned char byte[2];
    } one = {.word = 1};

    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           header->e_ident[EI_DATA] == (one.byte[0] ? ELFDATA2LSB : ELFDATA2MSB) &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Whether bytes offset ... offset + length - 1 are in a file of `size` bytes. */
static int is_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

static int is_cut(int file, uint64_t size)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;

    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header || !is_ours(&header))
        return 0;
    for (uint64_t k = 0; k < header.e_phnum; k++) {
        const uint64_t at = header.e_phoff + k * sizeof segment;

        if (!is_inside(at, sizeof segment, size))
            return 1;
        if (pread(file, &segment, sizeof segment, (off_t)at) != (ssize_t)sizeof segment)
            return 0;
        if (segment.p_type == PT_LOAD && !is_inside(segment.p_offset, segment.p_filesz, size))
            return 1;
    }
    return 0;
}

int gbees_elf_is_cut(const char *path, uint64_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return 0;
    const int cut = is_cut(file, size);
    (void)close(file);
    return cut;
}
