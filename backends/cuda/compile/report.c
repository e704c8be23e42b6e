/* report.c - reads from the log of ptxas what each kernel takes. */
#include "report.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a kernel uses; all but the registers are bytes. */
typedef struct usage {
    char name[64];
    int registers, stack, spilled, reloaded, shared;
} usage;

/* Returns the number before a word in the line: 28 for " registers" in "Used 28 registers, 1024 bytes smem"; 0 if the
 * word is not there. */
static int number_before(const char *line, const char *end, const char *word)
{
    const char *found = strstr(line, word);

    if (!found || found >= end)
        return 0;
    while (found > line && (found[-1] < '0' || found[-1] > '9'))
        found--;
    while (found > line && found[-1] >= '0' && found[-1] <= '9')
        found--;
    return (int)strtol(found, NULL, 10);
}

/* For qsort(): by name. */
static int compare(const void *a, const void *b)
{
    return strcmp(((const usage *)a)->name, ((const usage *)b)->name);
}

/* Reads one line into the kernel that the log is at.  Functions that are not inlined have lines of their own, whose
 * stack the kernel's includes ("cumulative"). */
static void read_line(const char *line, const char *end, usage *kernel)
{
    if (strstr(line, " registers") && strstr(line, " registers") < end) {
        int cumulative = number_before(line, end, " bytes cumulative stack");

        kernel->registers = number_before(line, end, " registers");
        kernel->shared = number_before(line, end, " bytes smem");
        kernel->stack = cumulative > kernel->stack ? cumulative : kernel->stack;
    } else if (strstr(line, " bytes stack frame") && strstr(line, " bytes stack frame") < end) {
        if (!kernel->registers)
            kernel->stack = number_before(line, end, " bytes stack frame");
        kernel->spilled += number_before(line, end, " bytes spill stores");
        kernel->reloaded += number_before(line, end, " bytes spill loads");
    }
}

/* Reads a log: *count kernels, in the log's order. The caller frees them; NULL: out of memory. */
static usage *read_log(const char *log, size_t *count)
{
    static const char begin[] = "Compiling entry function '";
    usage *list = calloc(1, sizeof *list);

    for (const char *line = log; list && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *end = line + strcspn(line, "\n"), *entry = strstr(line, begin);

        if (entry && entry < end) {
            usage *grown = realloc(list, (*count + 1) * sizeof *list);

            if (!grown) {
                free(list);
                return NULL;
            }
            list = grown;
            entry += sizeof begin - 1;
            list[*count] = (usage){0};
            (void)snprintf(list[(*count)++].name, sizeof list->name, "%.*s", (int)strcspn(entry, "'\n"), entry);
        } else if (*count)
            read_line(line, end, &list[*count - 1]);
    }
    return list;
}

char *cuda_report(const char *log)
{
    size_t count = 0;
    usage *list = read_log(log ? log : "", &count);
    gbees_text text = {0};

    if (!list)
        return NULL;
    qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count; i++)
        gbees_text_add(&text, "%s: %d registers, %d bytes of stack, %d spilled, %d reloaded, %d shared\n",
                       list[i].name, list[i].registers, list[i].stack, list[i].spilled, list[i].reloaded,
                       list[i].shared);
    free(list);
    return gbees_text_take(&text);
}

int cuda_report_spilled(const char *report)
{
    int spilled = 0;

    for (const char *line = report; *line; line += strcspn(line, "\n"), line += *line == '\n')
        spilled += number_before(line, line + strcspn(line, "\n"), " spilled");
    return spilled;
}
