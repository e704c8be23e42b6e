/* file_child.c - starts a child whose limits of memory and time follow from the file's size, has it read the file,
 * and takes what it passes, or its error. */
#include "file_child.h"
#include "base/child.h"
#include "base/write_all.h"
#include "hdf5_file.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits for a file of `size` bytes: what is read of it is deflated at most 1032 times, mostly some 5. */
enum { MEMORY_LEAST = 1 << 30, MEMORY_A_BYTE = 256, CPU_LEAST_S = 60, BYTES_A_SECOND = 1 << 20 };

/* Bytes of a file, or of that which a group is in; 0: it is not there. */
static size_t size_of(const char *path)
{
    struct stat file;
    const char *name;
    int bad = stat(path, &file);

    if (bad && errno == ENOTDIR) {
        const int descriptor = gbees_hdf5_open_part(path, &name);

        bad = descriptor < 0 || fstat(descriptor, &file);
        if (descriptor >= 0)
            (void)close(descriptor);
    }
    return bad || file.st_size < 0 ? 0 : (size_t)file.st_size;
}

static gbees_child_limits choose_limits(const char *path)
{
    const size_t size = size_of(path);

    return (gbees_child_limits){.memory = MEMORY_LEAST + size * MEMORY_A_BYTE,
                                .cpu_s = CPU_LEAST_S + (unsigned)(size / BYTES_A_SECOND)};
}

struct gbees_file_pipe {
    gbees_child *child; /* on the caller's side; NULL in the child, */
    int descriptor;     /* which writes here */
};

int gbees_file_is_taken(const gbees_file_pipe *pipe)
{
    return pipe->child != NULL;
}

int gbees_file_pass(gbees_file_pipe *pipe, void *data, size_t size)
{
    if (size == 0)
        return 0;
    return pipe->child ? gbees_child_read(pipe->child, data, size) : gbees_write_all(pipe->descriptor, data, size);
}

int gbees_file_pass_array(gbees_file_pipe *pipe, void *data, size_t size, size_t count)
{
    void *items;

    if (pipe->child) {
        items = count < SIZE_MAX / size - 1 ? malloc((count + 1) * size) : NULL;
        if (items)
            memset((char *)items + count * size, 0, size);
        memcpy(data, &items, sizeof items);
        if (!items)
            return 1;
    }
    memcpy(&items, data, sizeof items);
    return gbees_file_pass(pipe, items, count * size);
}

/* What the child does. */
typedef struct job {
    const char *path;
    gbees_file_load *load;
    gbees_file_layout *pass;
    void *result;
} job;

static void load_and_pass(int descriptor, void *context)
{
    const job *j = context;
    gbees_file_pipe pipe = {.descriptor = descriptor};
    gbees_error error = {0};

    (void)j->load(j->path, j->result, &error);
    if (gbees_write_all(descriptor, &error, sizeof error) == 0 && !error.status)
        (void)j->pass(&pipe, j->result);
}

int gbees_file_child_read(const char *path, gbees_file_load *load, gbees_file_layout *pass, void *result,
                          gbees_error *error)
{
    const gbees_child_limits limits = choose_limits(path);
    job j = {path, load, pass, result};
    gbees_error problem = {0};
    gbees_child child;
    char why[128];
    (void)H5open(); /* once, and not in each child */
    const int status = gbees_child_start(&child, load_and_pass, &j, &limits, error);

    if (status)
        return status;
    int failed = gbees_child_read(&child, &problem, sizeof problem);
    problem.text[sizeof problem.text - 1] = '\0';
    if (!failed && !problem.status)
        failed = pass(&(gbees_file_pipe){.child = &child}, result);
    gbees_child_end(&child, why, sizeof why);
    if (failed > 0)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);
    if (failed)
        return gbees_error_set(
            error, GBEES_EINPUT,
            "can't read the file %s: it is damaged, or made to do harm: a process read it first, and %s", path, why);
    return problem.status ? gbees_error_set(error, problem.status, "%s", problem.text) : GBEES_OK;
}
