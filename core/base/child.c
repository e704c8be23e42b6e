/* child.c - a child process with limits of memory and time, which writes to a pipe; see child.h. */
#include "child.h"
#include "base/seconds.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 };

/* ---- the child ------------------------------------------------------------------------------------------------- */

/* The size of the process's address space in bytes; 0: unknown. */
static size_t address_space(void)
{
    char text[64];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    unsigned long pages = 0;

    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%lu", &pages) == 1 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static void set_limit(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit))
        return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)
        limit.rlim_cur = most;
    (void)setrlimit(resource, &limit);
}

static void limit_self(const gbees_child_limits *limits)
{
    size_t before = address_space();

    set_limit(RLIMIT_CORE, 0);
    if (limits->memory > 0 && before > 0)
        set_limit(RLIMIT_AS, (rlim_t)(before + limits->memory));
    if (limits->cpu_s > 0)
        set_limit(RLIMIT_CPU, limits->cpu_s);
}

/* Resets all signals to their defaults, as the caller's handlers are not meant for the child, and has the system kill
 * the child when the caller ends. */
static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void drop_output(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int descriptor = 0; nothing >= 0 && descriptor < 3; descriptor++)
        (void)dup2(nothing, descriptor);
}

static _Noreturn void be_child(gbees_child_job *job, void *context, int descriptor, const gbees_child_limits *limits)
{
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 3); /* the pipe may be 0 to 2 if the caller has closed those */

    reset_signals();
    drop_output();
    limit_self(limits);
    job(high, context);
    _exit(0);
}

/* ---- the caller ------------------------------------------------------------------------------------------------ */

int gbees_child_start(gbees_child *child, gbees_child_job *job, void *context, const gbees_child_limits *limits,
                      gbees_error *error)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return gbees_error_set(error, GBEES_EIO, "can't start a child process: %s", strerror(errno));
    (void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* fewer context switches */
    pid_t process = fork();
    if (process == 0) {
        (void)close(ends[0]);
        be_child(job, context, ends[1], limits);
    }
    int reason = errno;
    (void)close(ends[1]);
    if (process < 0) {
        (void)close(ends[0]);
        return gbees_error_set(error, reason == ENOMEM ? GBEES_ENOMEM : GBEES_EIO, "can't start a child process: %s",
                               strerror(reason));
    }
    *child = (gbees_child){.process = process, .descriptor = ends[0], .limits = *limits};
    return GBEES_OK;
}

/* Waits until the pipe has bytes or is closed. Returns 1, or 0 after limits.quiet_s seconds or a failed poll(). */
static int wait_for_bytes(const gbees_child *child)
{
    const double end = gbees_seconds_now() + child->limits.quiet_s;

    if (!(child->limits.quiet_s > 0))
        return 1;
    for (;;) {
        struct pollfd asked = {.fd = child->descriptor, .events = POLLIN};
        double left = end - gbees_seconds_now();
        int ready = poll(&asked, 1, left > 0 ? (int)(left * 1000) + 1 : 0);

        if (ready > 0)
            return 1;
        if (left <= 0 || (ready < 0 && errno != EINTR))
            return 0;
    }
}

int gbees_child_read(gbees_child *child, void *data, size_t size)
{
    char *to = data;

    while (size > 0) {
        if (!wait_for_bytes(child)) {
            child->late = 1;
            return -1;
        }
        ssize_t done = read(child->descriptor, to, size);

        if (done == 0 || (done < 0 && errno != EINTR))
            return -1;
        if (done > 0) {
            to += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

void gbees_child_end(gbees_child *child, char *why, size_t size)
{
    int status = 0;
    pid_t done;

    (void)close(child->descriptor);
    if (child->late)
        (void)kill(child->process, SIGKILL);
    do
        done = waitpid(child->process, &status, 0);
    while (done < 0 && errno == EINTR);
    child->ended = status;
    if (child->late)
        (void)snprintf(why, size, "it did not end within %g s", child->limits.quiet_s);
    else if (done < 0)
        (void)snprintf(why, size, "it ended");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        (void)snprintf(why, size, "it took more than %u s of processor time", child->limits.cpu_s);
    else if (WIFSIGNALED(status))
        (void)snprintf(why, size, "it crashed (%s)", strsignal(WTERMSIG(status)));
    else
        (void)snprintf(why, size, "it ended the process with status %d", WEXITSTATUS(status));
}
