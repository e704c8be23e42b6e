/* option_values.h - options of gbees-run whose value is a number, or a word or a number: their text is checked and
 * becomes the value. */
#ifndef GBEES_COMMAND_RUN_OPTION_VALUES_H
#define GBEES_COMMAND_RUN_OPTION_VALUES_H

#include "options.h"

enum { GBEES_DENSITIES_EVERY_MOST = 1000000 };

/* The texts as they are given; NULL: the option is not. */
typedef struct gbees_option_values {
    const char *threads, *ranks_per_gpu, *simulate, *simulate_count, *audit, *progress, *max_time, *max_memory,
        *every;
} gbees_option_values;

/* What comes before the text of --densities and --files in the scenario; NULL: the text is no value of theirs. */
const char *gbees_option_densities(const char *text);
const char *gbees_option_files(const char *text);

/* Whether all of the text is one finite number. */
int gbees_option_is_number(const char *text);

/* Sets what the texts say, and the defaults of those that are NULL. Returns GBEES_OK, or GBEES_EUSAGE for the first
 * that is no value of its option. */
int gbees_option_values_read(const gbees_option_values *values, gbees_options *options, gbees_error *error);

#endif
