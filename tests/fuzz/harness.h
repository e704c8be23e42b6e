/* harness.h - what the harnesses share. Each is one LLVMFuzzerTestOneInput() over a reader of the library: libFuzzer
 * calls it with inputs that it makes up, replay.c with the files of the harness's corpus. A harness aborts where the
 * reader breaks a rule that holds for any input. */
#ifndef GBEES_TESTS_FUZZ_HARNESS_H
#define GBEES_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* The harness's own: its folder below corpus/, and its entry. */
extern const char fuzz_corpus[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A folder of this process's own, which is removed at its end with the files in it. */
const char *fuzz_folder(void);
/* Writes a file in that folder, and returns its path, to be freed. */
char *fuzz_write(const char *name, const void *data, size_t size);

/* Aborts with a text unless it holds. */
void fuzz_expect(int holds, const char *rule);

/* Whether HDF5 itself crashes on this input: it is then read in a child process alone, as the programs do. */
int fuzz_is_isolated(void);
void fuzz_set_isolated(int isolated);

#endif
