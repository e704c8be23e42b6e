/* no_memory.h - the error of memory that is not there. */
#ifndef GBEES_BASE_NO_MEMORY_H
#define GBEES_BASE_NO_MEMORY_H

#include <gbees/error.h>

/* Returns GBEES_ENOMEM. The text is "not enough memory " and `what`: "for ..." or "to ...". */
static inline int gbees_no_memory(gbees_error *error, const char *what)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory %s", what);
}

#endif
