/* text.c - a string that grows, and edit distances; see text.h. */
#include "text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `extra` bytes and a NUL. Returns 1, or sets text->failed and returns 0. */
static int reserve(gbees_text *text, size_t extra)
{
    size_t needed = text->length + extra + 1;

    if (needed <= text->capacity)
        return 1;
    size_t capacity = text->capacity ? text->capacity : 128;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void gbees_text_add(gbees_text *text, const char *format, ...)
{
    va_list arguments, again;

    if (text->failed)
        return;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        text->failed = 1;
    else if (reserve(text, (size_t)length)) {
        (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void gbees_text_free(gbees_text *text)
{
    free(text->data);
    *text = (gbees_text){0};
}

char *gbees_text_take(gbees_text *text)
{
    char *data = text->failed ? NULL : text->data ? text->data : calloc(1, 1);

    if (text->failed)
        free(text->data);
    *text = (gbees_text){0};
    return data;
}

static int is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The Levenshtein distance of two names, regardless of case; of names longer than LONGEST, the longer one's length.
 */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 128 };
    size_t la = strlen(a), lb = strlen(b), row[LONGEST + 1];

    if (la > LONGEST || lb > LONGEST)
        return la > lb ? la : lb;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t change = diagonal + !is_same(a[i - 1], b[j - 1]);
            size_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[lb];
}

const char *gbees_text_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = 2 + strlen(name) / 3;

    for (size_t i = 0; i < count; i++) {
        size_t d = distance(name, names[i]);

        if (d < best) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}
