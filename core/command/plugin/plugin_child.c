/* plugin_child.c - runs a plugin's code in a child process; see plugin.h. */
#include "base/seconds.h"
#include "plugin.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's last line: it has ended in order. */
static const char end_mark[] = "\004";

enum { EXIT_NO_PROGRAM = 127, LINE_MOST = 1 << 16 };

/* Discards what the plugin prints, and its core files. */
static void discard_output(void)
{
    const struct rlimit none = {0, 0};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_CORE, &none);
    for (int descriptor = 0; nothing >= 0 && descriptor < 3; descriptor++)
        (void)dup2(nothing, descriptor);
}

static _Noreturn void be_child(gbees_child_work *work, void *context, int descriptor)
{
    FILE *say = fdopen(descriptor, "w");

    discard_output();
    if (!say)
        _exit(EXIT_FAILURE);
    (void)setvbuf(say, NULL, _IOLBF, 0); /* line by line: each must arrive even if the next call crashes */
    work(context, say);
    (void)fprintf(say, "%s\n", end_mark);
    (void)fflush(say);
    _exit(EXIT_SUCCESS);
}

/* Lines as they come in. */
typedef struct listener {
    int descriptor;
    char *text;
    size_t length;
    gbees_child_reader *reader;
    void *context;
    int done; /* the end mark has arrived */
} listener;

static void take_lines(listener *l)
{
    char *line = l->text, *end;

    while ((end = memchr(line, '\n', l->length - (size_t)(line - l->text)))) {
        *end = '\0';
        if (strcmp(line, end_mark) == 0)
            l->done = 1;
        else if (!l->done)
            l->reader(l->context, line);
        line = end + 1;
    }
    l->length -= (size_t)(line - l->text);
    memmove(l->text, line, l->length);
    if (l->length == LINE_MOST)
        l->length = 0; /* longer than any line of the checks */
}

/* Reads until the child closes the pipe (returns 1) or writes nothing for `seconds` (0). */
static int listen_all(listener *l, double seconds)
{
    double deadline = gbees_seconds_now() + seconds;

    for (;;) {
        struct pollfd poll_for = {l->descriptor, POLLIN, 0};
        double left = deadline - gbees_seconds_now();
        int ready = left > 0 ? poll(&poll_for, 1, (int)(left * 1000) + 1) : 0;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return 0;
        ssize_t got = read(l->descriptor, l->text + l->length, LINE_MOST - l->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 1;
        l->length += (size_t)got;
        take_lines(l);
        if (l->done)
            return 1;
        deadline = gbees_seconds_now() + seconds;
    }
}

static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Writes how the child ended, as the rest of a sentence that begins with what it was doing. */
static int explain(int status, gbees_error *error)
{
    if (WIFSIGNALED(status))
        return gbees_error_set(error, GBEES_EMODEL,
                               "the plugin crashed (%s): look for an index out of range, or a division of integers "
                               "by zero",
                               strsignal(WTERMSIG(status)));
    return gbees_error_set(error, GBEES_EMODEL,
                           "the plugin ended the program itself, with exit status %d: take exit() out of it",
                           WEXITSTATUS(status));
}

int gbees_child_run(gbees_child_work *work, gbees_child_reader *reader, void *context, double seconds,
                    gbees_error *error)
{
    listener l = {.text = malloc(LINE_MOST), .reader = reader, .context = context};
    int ends[2];

    if (!l.text || pipe2(ends, O_CLOEXEC)) {
        free(l.text);
        return gbees_error_set(error, GBEES_ENOMEM, "no child process can be started: %s", strerror(errno));
    }
    (void)fflush(NULL); /* else parent and child would both write the buffer */
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        be_child(work, context, ends[1]);
    }
    (void)close(ends[1]);
    l.descriptor = ends[0];
    int in_time = child > 0 && listen_all(&l, seconds);
    int reason = errno;
    if (child > 0 && !(in_time && !l.done))
        (void)kill(child, SIGKILL); /* also after its last line: a library's clean-up may hang */
    int status = child > 0 ? wait_for(child) : 0;
    (void)close(ends[0]);
    free(l.text);
    if (child < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "no child process can be started: %s", strerror(reason));
    if (l.done)
        return GBEES_OK;
    if (!in_time)
        return gbees_error_set(error, GBEES_ECANCELLED,
                               "no answer within %g s: look for a loop that never ends, or give more time with "
                               "--time-limit",
                               seconds);
    return explain(status, error);
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
    int reason = errno, status = child > 0 ? wait_for(child) : 0;
    (void)sigaction(SIGINT, &before, NULL);
    if (child < 0)
        return gbees_error_set(error, GBEES_ENOMEM, "%s can't be started: %s", arguments[0], strerror(reason));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    return GBEES_OK;
}
