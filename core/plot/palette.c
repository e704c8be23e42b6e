/* palette.c - groups the image's colours and divides the group that differs most, at the mean of the colour that
 * differs most in it, until there are 256. */
#include "palette.h"
#include <stdlib.h>

/* A kind of pixel that occurs. */
typedef struct kind {
    size_t number;
    double count, sum[3];
} kind;

/* Kinds first ... end - 1 of a list. */
typedef struct group {
    size_t first, end;
    double spread; /* the largest sum of squared differences from the mean, along a colour */
    int along;     /* which */
    double mean[3];
} group;

enum { GROUPS = GBEES_PALETTE_COLORS - 1, WHITE = 0xffffff };

/* Pixels of one kind have the same upper bits. */
static size_t kind_of(uint32_t pixel)
{
    return (size_t)((pixel >> 19 & 31) << 10 | (pixel >> 11 & 31) << 5 | (pixel >> 3 & 31));
}

unsigned char gbees_palette_color(const gbees_palette *palette, uint32_t pixel)
{
    return (pixel & WHITE) == WHITE ? (unsigned char)(palette->count - 1) : palette->of_kind[kind_of(pixel)];
}

static void measure(const kind *list, group *g)
{
    double count = 0, sum[3] = {0}, squares[3] = {0};

    for (size_t i = g->first; i < g->end; i++) {
        count += list[i].count;
        for (int c = 0; c < 3; c++) {
            sum[c] += list[i].sum[c];
            squares[c] += list[i].sum[c] * list[i].sum[c] / list[i].count;
        }
    }
    g->spread = -1;
    for (int c = 0; c < 3; c++) {
        const double spread = g->end - g->first > 1 ? squares[c] - sum[c] * sum[c] / count : 0;

        g->mean[c] = sum[c] / count;
        if (spread > g->spread) {
            g->spread = spread;
            g->along = c;
        }
    }
}

/* Divides a group at the mean along the colour that differs most. Both parts have some kinds if there are two. */
static void divide(kind *list, group *from, group *to)
{
    const int c = from->along;
    size_t middle = from->first;

    for (size_t i = from->first; i < from->end; i++)
        if (list[i].sum[c] / list[i].count < from->mean[c]) {
            const kind moved = list[i];

            list[i] = list[middle];
            list[middle++] = moved;
        }
    if (middle == from->first || middle == from->end) /* rounding */
        middle = from->first + 1;
    *to = (group){.first = middle, .end = from->end};
    from->end = middle;
    measure(list, from);
    measure(list, to);
}

static size_t count_kinds(kind *list, size_t count, const uint32_t *pixel)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        kind *of = &list[kind_of(pixel[i])];

        if ((pixel[i] & WHITE) == WHITE)
            continue;
        of->count++;
        for (int c = 0; c < 3; c++)
            of->sum[c] += (double)(pixel[i] >> (16 - 8 * c) & 255);
    }
    for (size_t k = 0; k < GBEES_PALETTE_KINDS; k++)
        if (list[k].count > 0) {
            list[found] = list[k];
            list[found++].number = k;
        }
    return found;
}

int gbees_palette_make(gbees_palette *palette, size_t count, const uint32_t *pixel)
{
    kind *list = calloc(GBEES_PALETTE_KINDS, sizeof *list);
    group groups[GROUPS];

    if (!list)
        return 0;
    groups[0] = (group){.end = count_kinds(list, count, pixel)};
    palette->count = groups[0].end > 0;
    if (palette->count > 0)
        measure(list, &groups[0]);
    while (palette->count > 0 && palette->count < GROUPS) {
        group *most = &groups[0];

        for (int g = 1; g < palette->count; g++)
            most = groups[g].spread > most->spread ? &groups[g] : most;
        if (!(most->spread > 0))
            break;
        divide(list, most, &groups[palette->count++]);
    }
    for (int g = 0; g < palette->count; g++) {
        for (int c = 0; c < 3; c++)
            palette->color[g][c] = (unsigned char)(groups[g].mean[c] + 0.5);
        for (size_t i = groups[g].first; i < groups[g].end; i++)
            palette->of_kind[list[i].number] = (unsigned char)g;
    }
    for (int c = 0; c < 3; c++)
        palette->color[palette->count][c] = 255;
    palette->count++;
    free(list);
    return 1;
}
