/* record_name.c - writes leg and number as "leg0_record3.h5" or "run.h5/leg0/record3", and reads them back. */
#include "record_name.h"
#include <stdio.h>
#include <string.h>

void gbees_record_name_write(const gbees_record_name *name, char text[GBEES_RECORD_NAME])
{
    if (name->grouped)
        (void)snprintf(text, GBEES_RECORD_NAME, GBEES_RUN_FILE "/leg%d/record%d", name->leg, name->number);
    else
        (void)snprintf(text, GBEES_RECORD_NAME, "leg%d_record%d.h5", name->leg, name->number);
}

/* No sign, no leading zero, no rest. */
int gbees_record_name_read(const char *text, gbees_record_name *name)
{
    char again[GBEES_RECORD_NAME];

    name->grouped = strncmp(text, GBEES_RUN_FILE "/", strlen(GBEES_RUN_FILE "/")) == 0;
    if (sscanf(text, name->grouped ? GBEES_RUN_FILE "/leg%9d/record%9d" : "leg%9d_record%9d.h5", &name->leg,
               &name->number) != 2)
        return -1;
    gbees_record_name_write(name, again);
    return name->leg >= 0 && name->number >= 0 && strcmp(text, again) == 0 ? 0 : -1;
}

int gbees_record_name_is_leg(const char *text)
{
    return strncmp(text, "leg", 3) == 0 && text[3] >= '0' && text[3] <= '9';
}

int gbees_record_name_compare(const gbees_record_name *a, const gbees_record_name *b)
{
    return a->leg != b->leg ? (a->leg > b->leg) - (a->leg < b->leg)
                            : (a->number > b->number) - (a->number < b->number);
}
