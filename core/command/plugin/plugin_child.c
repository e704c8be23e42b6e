/* plugin_child.c - runs a plugin's code in a child process; see plugin.h. */
#include "base/child.h"
#include "plugin.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's last line: it has ended in order. */
static const char end_mark[] = "\004";

enum { EXIT_NO_PROGRAM = 127, LINE_MOST = 1 << 16 };

typedef struct job {
    gbees_child_work *work;
    void *context;
} job;

static void do_job(int descriptor, void *context)
{
    const job *j = context;
    FILE *say = fdopen(descriptor, "w");

    if (!say)
        return;
    (void)setvbuf(say, NULL, _IOLBF, 0); /* line by line: each must arrive even if the next call crashes */
    j->work(j->context, say);
    (void)fprintf(say, "%s\n", end_mark);
    (void)fflush(say);
}

/* Reads a line without its end, cut to LINE_MOST - 1 bytes. Returns 0, or -1 if the child has ended, or is late. */
static int read_line(gbees_child *child, char *line)
{
    for (size_t length = 0; gbees_child_read(child, line + length, 1) == 0;) {
        if (line[length] == '\n') {
            line[length] = '\0';
            return 0;
        }
        length += length + 1 < LINE_MOST;
    }
    return -1;
}

/* Says how the child ended. */
static int explain(const gbees_child *child, gbees_error *error)
{
    if (child->late)
        return gbees_error_set(error, GBEES_ECANCELLED,
                               "no answer within %g s: look for a loop that never ends, or give more time with "
                               "--time-limit",
                               child->limits.quiet_s);
    if (WIFSIGNALED(child->ended))
        return gbees_error_set(error, GBEES_EMODEL,
                               "the plugin crashed (%s): look for an index out of range, or a division of integers "
                               "by zero",
                               strsignal(WTERMSIG(child->ended)));
    return gbees_error_set(error, GBEES_EMODEL,
                           "the plugin ended the program itself, with exit status %d: take exit() out of it",
                           WEXITSTATUS(child->ended));
}

int gbees_child_run(gbees_child_work *work, gbees_child_reader *reader, void *context, double seconds,
                    gbees_error *error)
{
    const gbees_child_limits limits = {.quiet_s = seconds};
    job j = {work, context};
    gbees_child child;
    char *line = malloc(LINE_MOST), why[128];
    int done = 0;

    (void)fflush(NULL); /* else parent and child would both write the buffer */
    int status = line ? gbees_child_start(&child, do_job, &j, &limits, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to start a child process");
    while (!status && !done && read_line(&child, line) == 0) {
        done = strcmp(line, end_mark) == 0;
        if (!done)
            reader(context, line);
    }
    free(line);
    if (status)
        return status;
    if (done)
        (void)kill(child.process, SIGKILL); /* after its last line a library's clean-up may hang */
    gbees_child_end(&child, why, sizeof why);
    return done ? GBEES_OK : explain(&child, error);
}

int gbees_child_execute(char *const *arguments, int *code, gbees_error *error)
{
    /* SIGINT ends the program that runs; this one cleans up. */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;

    (void)fflush(NULL);
    (void)sigaction(SIGINT, &ignore, &before);
    pid_t child = fork();
    if (child == 0) {
        (void)sigaction(SIGINT, &before, NULL);
        (void)execvp(arguments[0], arguments);
        _exit(EXIT_NO_PROGRAM);
    }
    int reason = errno, status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    (void)sigaction(SIGINT, &before, NULL);
    if (child < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "%s can't be started: %s", arguments[0], strerror(reason));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    return GBEES_OK;
}
