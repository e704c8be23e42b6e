/* signals.h - turns signals into requests to end a run after its current step. */
#ifndef GBEES_COMMAND_RUN_SIGNALS_H
#define GBEES_COMMAND_RUN_SIGNALS_H

/* From here on SIGINT, SIGTERM and SIGHUP are noted; before, they end the program at once. */
void gbees_signals_listen(void);
/* The signal that was caught, 0: none. A run asks for it between two slices of steps, and in other long work. */
int gbees_signals_caught(void);
/* The name of a signal that ends a run, as "SIGTERM". */
const char *gbees_signals_name(int number);
/* Whether SIGUSR1 has been caught since the last call. */
int gbees_signals_take_request(void);
/* From here to gbees_signals_finish() a crash, or an exit() from within a library or a plugin, writes a sentence to
 * standard error before the program ends. */
void gbees_signals_explain(void);
void gbees_signals_finish(void);
/* Has these sentences name the model. */
void gbees_signals_model(const char *name);
/* Ends the program, with a sentence that names the model, if the run does not ask for signals for as long as
 * `seconds` (at least 10), after it has had as long: a call of the model, or a kernel, that does not return. 0 or
 * less: never. */
void gbees_signals_limit(double seconds);
/* Writing to a pipe that nobody reads, or beyond the size that files may have here, is then an error like others. */
void gbees_signals_ignore_failed_writes(void);

#endif
