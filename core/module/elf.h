/* elf.h - recognises a truncated shared object. */
#ifndef GBEES_MODULE_ELF_H
#define GBEES_MODULE_ELF_H

#include <stdint.h>

/* Whether a file of `size` bytes is shorter than the segments in its headers: an interrupted copy, a full disk.
 * The system's loader would map such a file, and the process would die of SIGBUS. A file that can't be read, or
 * of another format, is not truncated: the loader reports it better. */
int gbees_elf_is_cut(const char *path, uint64_t size);

#endif
