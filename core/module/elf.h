/* elf.h - whether a shared object is all there. */
#ifndef GBEES_MODULE_ELF_H
#define GBEES_MODULE_ELF_H

#include <stdint.h>

/* Whether a file of `size` bytes ends before what its headers say is to be loaded: a copy that was broken off, a disk
 * that was full.  The system's loader would map it all the same, and the process die of a bus error.  What can't be
 * read, or is no file of this machine's kind, counts as whole: the loader has the words for it. */
int gbees_elf_is_cut(const char *path, uint64_t size);

#endif
