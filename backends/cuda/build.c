/* build.c - see build.h. */
#include "build.h"
#include "compiler_note.h"
#include "spec.h"
#include <pthread.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct job {
    const cuda_api *api;
    program_spec spec;
    program *out;
    int wanted, status;
    gbees_error error;
} job;

static void *look_up(void *context)
{
    job *j = context;

    j->status = program_find(j->api, &j->spec, j->out, &j->error);
    return NULL;
}

static void *make(void *context)
{
    job *j = context;

    j->status = program_build(j->api, &j->spec, j->out, &j->error);
    return NULL;
}

/* All that are wanted, side by side. */
static int work(job *jobs, void *(*task)(void *), gbees_error *error)
{
    pthread_t thread[PROGRAMS];
    int started[PROGRAMS] = {0}, status = 0;

    for (int k = 0; k < PROGRAMS; k++)
        if (k != PROGRAM_STEPS && jobs[k].wanted)
            started[k] = pthread_create(&thread[k], NULL, task, &jobs[k]) == 0;
    for (int k = 0; k < PROGRAMS; k++)
        if (jobs[k].wanted && !started[k]) /* the longest, and whatever found no thread */
            (void)task(&jobs[k]);
    for (int k = 0; k < PROGRAMS; k++) {
        if (started[k])
            (void)pthread_join(thread[k], NULL);
        if (jobs[k].status && !status)
            status = gbees_error_set(error, jobs[k].error.status, "%s", jobs[k].error.text);
    }
    return status;
}

/* What was found is wanted no more; the number of those that still are. */
static int count_missing(job *jobs)
{
    int missing = 0;

    for (int k = 0; k < PROGRAMS; k++) {
        jobs[k].wanted = jobs[k].wanted && !jobs[k].out->image;
        missing += jobs[k].wanted;
    }
    return missing;
}

int program_is_wanted(const gbees_problem *problem, const char *arch, int part)
{
    switch (part) {
    case PROGRAM_UPDATES:
    case PROGRAM_LIKELIHOODS:
        return cuda_spec_has_updates(problem);
    case PROGRAM_MOVES:
    case PROGRAM_MARKS:
        return cuda_spec_has_moves(problem);
    case PROGRAM_SWEEPS:
        return cuda_spec_moves_apart(problem);
    case PROGRAM_SMALL:
        return cuda_spec_has_small(problem, arch);
    default:
        return 1;
    }
}

int program_set_build(cuda_api *api, const gbees_problem *problem, const char *arch, int exact, program_set *out,
                      gbees_error *error)
{
    job jobs[PROGRAMS];
    program_set made = {.wall_s = 0};
    double start = seconds();

    for (int k = 0; k < PROGRAMS; k++) {
        jobs[k] = (job){.api = api, .out = &made.part[k], .wanted = program_is_wanted(problem, arch, k)};
        cuda_spec_set(&jobs[k].spec, problem, arch, k, exact);
    }
    int status = work(jobs, look_up, error);
    if (!status && count_missing(jobs) > 0) {
        status = cuda_api_open_compiler(api, error);
        if (!status)
            status = work(jobs, make, error);
    }
    if (!status && api->compiler) /* for a run that finds all of them */
        compiler_note_write(api);
    made.wall_s = seconds() - start;
    if (status)
        program_set_destroy(api, &made);
    else
        *out = made;
    return status;
}

void program_set_destroy(const cuda_api *api, program_set *set)
{
    for (int k = 0; k < PROGRAMS; k++)
        program_destroy(api, &set->part[k]);
}
