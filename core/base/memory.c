/* memory.c - reads how much memory is left from /proc/meminfo, the limits of control groups from /sys/fs/cgroup, and
 * what of the address space is taken from /proc/self/statm: the least of them counts. */
#include "memory.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

__attribute__((format(printf, 1, 2))) static FILE *open_file(const char *format, ...)
{
    char path[2 * PATH_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    return length < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* Returns the number at the beginning of the file's first line that starts with `key`, after the key; `otherwise` if
 * there is no such line, no number in it (as in "max"), or no file. Closes the file. */
static double read_number(FILE *file, const char *key, double otherwise)
{
    const size_t length = strlen(key);
    char line[128];
    double value = otherwise, found;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, length) && sscanf(line + length, "%lf", &found) == 1) {
            value = found;
            break;
        }
    if (file)
        (void)fclose(file);
    return value;
}

/* Names in /sys/fs/cgroup, which differ between versions 1 and 2 of control groups. */
typedef struct group_files {
    const char *folder, *limit, *used, *cache;
} group_files;

/* Returns the bytes that a group and its ancestors leave under their limits. Inactive page cache counts as free.
 * Overwrites `group`. */
static double left_in_groups(const char *root, char *group, const group_files *files)
{
    double left = INFINITY;

    for (;;) {
        const double limit =
            read_number(open_file("%s/sys/fs/cgroup%s%s/%s", root, files->folder, group, files->limit), "", INFINITY);
        const double used =
            read_number(open_file("%s/sys/fs/cgroup%s%s/%s", root, files->folder, group, files->used), "", 0);
        const double cache =
            read_number(open_file("%s/sys/fs/cgroup%s%s/memory.stat", root, files->folder, group), files->cache, 0);
        char *last = strrchr(group, '/');

        left = fmin(left, fmax(limit - used + cache, 0));
        if (!last)
            return left;
        *last = 0; /* the group above */
    }
}

/* The least that the control groups of this process leave, in bytes. */
static double left_in_control_groups(const char *root)
{
    static const group_files unified = {"", "memory.max", "memory.current", "inactive_file "};
    static const group_files separate = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                         "total_inactive_file "};
    FILE *file = open_file("%s/proc/self/cgroup", root);
    char line[PATH_BYTES];
    double left = INFINITY;

    while (file && fgets(line, sizeof line, file)) { /* "0::/group", "4:memory:/group" */
        char *controller = strchr(line, ':'), *group = controller ? strchr(controller + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = 0;
        group[strcspn(group, "\n")] = 0;
        if (!controller[1])
            left = fmin(left, left_in_groups(root, group, &unified));
        else if (!strcmp(controller + 1, "memory"))
            left = fmin(left, left_in_groups(root, group, &separate));
    }
    if (file)
        (void)fclose(file);
    return left;
}

double gbees_memory_available_below(const char *root)
{
    const double free_bytes = 1024 * read_number(open_file("%s/proc/meminfo", root), "MemAvailable:", INFINITY);

    return fmin(free_bytes, left_in_control_groups(root));
}

/* What a limit of the address space (ulimit -v) leaves. Grids reserve a quarter more than they use. */
static double left_of_address_space(void)
{
    const double reserved = 1.25, page = (double)sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    const double taken = page * read_number(open_file("/proc/self/statm"), "", 0);
    return fmax((double)limit.rlim_cur - taken, 0) / reserved;
}

double gbees_memory_available(void)
{
    return fmin(gbees_memory_available_below(""), left_of_address_space());
}
