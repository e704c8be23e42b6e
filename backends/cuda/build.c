/* build.c - see build.h. */
#include "build.h"
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

static void *work(void *context)
{
    job *j = context;

    j->status = program_build(j->api, &j->spec, j->out, &j->error);
    return NULL;
}

int program_set_build(const cuda_api *api, const gbees_problem *problem, const char *arch, int exact,
                      program_set *out, gbees_error *error)
{
    job jobs[PROGRAMS];
    pthread_t thread[PROGRAMS];
    int started[PROGRAMS] = {0}, status = 0;
    program_set made = {.wall_s = 0};
    double start = seconds();

    for (int k = 0; k < PROGRAMS; k++) {
        jobs[k] =
            (job){.api = api, .out = &made.part[k], .wanted = k != PROGRAM_UPDATES || problem->measurement_count > 0};
        cuda_spec_set(&jobs[k].spec, problem, arch, k, exact);
        if (k != PROGRAM_STEPS && jobs[k].wanted)
            started[k] = pthread_create(&thread[k], NULL, work, &jobs[k]) == 0;
    }
    for (int k = 0; k < PROGRAMS; k++)
        if (jobs[k].wanted && !started[k]) /* the longest, and whatever found no thread */
            (void)work(&jobs[k]);
    for (int k = 0; k < PROGRAMS; k++) {
        if (started[k])
            (void)pthread_join(thread[k], NULL);
        if (jobs[k].status && !status)
            status = gbees_error_set(error, jobs[k].error.status, "%s", jobs[k].error.text);
    }
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
