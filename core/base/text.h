/* text.h - a string that grows, and the nearest of some names; nothing here knows about gbees. */
#ifndef GBEES_BASE_TEXT_H
#define GBEES_BASE_TEXT_H

#include <stddef.h>

/* Starts as {0}. When memory runs out `failed` is set, and further appends do nothing. */
typedef struct gbees_text {
    char *data; /* NUL-terminated once something was appended; NULL before */
    size_t length, capacity;
    int failed;
} gbees_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gbees_text_add(gbees_text *text, const char *format, ...);
void gbees_text_free(gbees_text *text);
/* Returns the string, which the caller frees, and empties *text; NULL if memory ran out. */
char *gbees_text_take(gbees_text *text);

/* Returns the name nearest to `name` by edit distance, without regard to case; NULL if none is within 1 + a third
 * of the length. */
const char *gbees_text_nearest(const char *name, const char *const *names, size_t count);

#endif
