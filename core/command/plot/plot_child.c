/* plot_child.c - sends paths and the job's error through a pipe, each as a head and a text. */
#include "plot_child.h"
#include "base/child.h"
#include "base/write_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096 /* bytes of a text */, TOLD = -1 /* of a path, in place of a status */ };

typedef struct message {
    int status;
    unsigned size;
} message;

typedef struct drawing {
    gbees_plot_job *job;
    void *context;
} drawing;

static int send_text(int descriptor, int status, const char *text)
{
    const size_t length = strlen(text);
    const message head = {status, (unsigned)(length < MOST ? length : MOST - 1)};

    return gbees_write_all(descriptor, &head, sizeof head) || gbees_write_all(descriptor, text, head.size);
}

int gbees_plot_child_tell(int descriptor, const char *path, gbees_error *error)
{
    return send_text(descriptor, TOLD, path)
               ? gbees_error_set(error, GBEES_ECANCELLED, "gbees-plot has ended: %s", strerror(errno))
               : GBEES_OK;
}

static void draw(int descriptor, void *context)
{
    const drawing *d = context;
    gbees_error error = {0};
    const int status = d->job(d->context, descriptor, &error);

    (void)send_text(descriptor, status, error.text);
}

static int print(const char *path, gbees_error *error)
{
    return printf("%s\n", path) < 0 || fflush(stdout) != 0
               ? gbees_error_set(error, GBEES_EIO, "can't write to standard output: %s", strerror(errno))
               : GBEES_OK;
}

/* Prints paths until the job's status comes. Returns 0 with the child's *status, or a status. ended: the child has
 * ended before. */
static int follow(gbees_child *child, int *status, int *ended, gbees_error *error)
{
    char text[MOST];
    message head;

    *ended = 0;
    for (;;) {
        if (gbees_child_read(child, &head, sizeof head) || head.size >= sizeof text ||
            gbees_child_read(child, text, head.size)) {
            *ended = 1;
            return GBEES_OK;
        }
        text[head.size] = '\0';
        if (head.status != TOLD) {
            *status = head.status;
            return head.status ? gbees_error_set(error, (gbees_status)head.status, "%s", text) : GBEES_OK;
        }
        const int failed = print(text, error);
        if (failed)
            return failed;
    }
}

int gbees_plot_child_run(gbees_plot_job *job, void *context, gbees_error *error)
{
    static const gbees_child_limits limits = {.quiet_s = 300};
    drawing d = {job, context};
    gbees_child child;
    char why[128];
    int result = GBEES_OK, ended;
    int status = gbees_child_start(&child, draw, &d, &limits, error);

    if (status)
        return status;
    status = follow(&child, &result, &ended, error);
    gbees_child_end(&child, why, sizeof why);
    if (status || !ended)
        return status;
    return gbees_error_set(error, GBEES_EIO,
                           "the process that draws failed: %s; there may be too little memory for it", why);
}
