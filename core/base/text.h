/* text.h - a string that grows, and the search for a similar name. */
#ifndef GBEES_BASE_TEXT_H
#define GBEES_BASE_TEXT_H

#include <stddef.h>

/* All zero: an empty string. failed: an append has failed, for want of memory or by a wrong format; the string is
 * incomplete, and further appends do nothing. */
typedef struct gbees_text {
    char *data; /* NUL-terminated once something was appended; NULL before */
    size_t length, capacity;
    int failed;
} gbees_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
/* Appends, formatted as by printf(). */
void gbees_text_add(gbees_text *text, const char *format, ...);
void gbees_text_free(gbees_text *text);
/* Returns the string, which the caller frees, and empties *text; NULL if an append has failed. */
char *gbees_text_take(gbees_text *text);

/* Returns the one of names[count] with the smallest edit distance to `name`, regardless of case, for "did you mean";
 * NULL if all are further away than 1 + strlen(name) / 3. */
const char *gbees_text_nearest(const char *name, const char *const *names, size_t count);

#endif
