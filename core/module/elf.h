/* elf.h - recognises a truncated shared object. */
#ifndef GBEES_MODULE_ELF_H
#define GBEES_MODULE_ELF_H

#include <stdint.h>

/* Whether a file of `size` bytes is shorter than the segments in its ELF headers, as after an interrupted copy. The
 * system's loader would map such a file, and the process would be killed by SIGBUS. Returns 0 for a file that can't
 * be read or is not ELF, as the loader reports that by an error. */
int gbees_elf_is_cut(const char *path, uint64_t size);

#endif
