/* record_name.h - where a record is in a results folder: in a file of its own, or a group of run.h5. */
#ifndef GBEES_RESULTS_FOLDER_RECORD_NAME_H
#define GBEES_RESULTS_FOLDER_RECORD_NAME_H

#include <stddef.h>

#define GBEES_RUN_FILE "run.h5"
#define GBEES_MOMENTS_FILE "moments.h5"
#define GBEES_RUN_FACTS "run"                       /* the group of what is the same for all records */
#define GBEES_RUN_MOMENTS GBEES_RUN_FILE "/moments" /* once the run has ended */

enum { GBEES_RECORD_NAME = 64 };

typedef struct gbees_record_name {
    int leg, number;
    int grouped; /* whether it is in run.h5 */
} gbees_record_name;

/* leg1_record2.h5, or run.h5/leg1/record2. */
void gbees_record_name_write(const gbees_record_name *name, char text[GBEES_RECORD_NAME]);
/* Reads exactly what the function above writes: 0, or -1 if the text is something else. */
int gbees_record_name_read(const char *text, gbees_record_name *name);
/* Whether an object of run.h5's root is a leg. */
int gbees_record_name_is_leg(const char *text);
/* As strcmp(), by leg, then number. */
int gbees_record_name_compare(const gbees_record_name *a, const gbees_record_name *b);

#endif
