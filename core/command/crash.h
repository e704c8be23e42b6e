/* crash.h - a sentence before a program ends unexpectedly: by a crash, or because a library or a plugin calls exit().
 */
#ifndef GBEES_COMMAND_CRASH_H
#define GBEES_COMMAND_CRASH_H

/* The sentences, each a line with its end; they must stay where they are. */
typedef struct gbees_crash_texts {
    const char *crash; /* at a crash, which then goes on as it would without */
    const char *hdf5;  /* at one within HDF5, which then is an exit status of 1, as for other lack of memory */
    const char *exit;  /* at an exit() before gbees_crash_finish(); the exit status is then 1. NULL: none */
} gbees_crash_texts;

/* From here to gbees_crash_finish() such an end writes its sentence to standard error. */
void gbees_crash_explain(const gbees_crash_texts *texts);
void gbees_crash_finish(void);
/* Writes a text to standard error, from a signal's handler, too. */
void gbees_crash_say(const char *text);

#endif
