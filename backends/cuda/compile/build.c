/* build.c - see build.h. */
#include "build.h"
#include "compiler_note.h"
#include "spec.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- a thread for each ---- */

struct program_job {
    const cuda_api *api;
    program_spec spec;
    program_maker *make;
    program made;
    int status;
    gbees_error error;
    pthread_t thread;
    int has_thread;
    int is_made; /* once this is seen, the job's thread has done with it */
};

static void *run(void *context)
{
    program_job *j = context;

    j->status = j->make(j->api, &j->spec, &j->made, &j->error);
    __atomic_store_n(&j->is_made, 1, __ATOMIC_RELEASE);
    return NULL;
}

int program_set_begin(program_set *set, int part, const cuda_api *api, const program_spec *spec, program_maker *make,
                      gbees_error *error)
{
    program_job *j = calloc(1, sizeof *j);

    if (!j)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to make the GPU kernels");
    j->api = api;
    j->spec = *spec;
    j->make = make;
    set->job[part] = j;
    j->has_thread = pthread_create(&j->thread, NULL, run, j) == 0;
    if (!j->has_thread)
        (void)run(j);
    return GBEES_OK;
}

int program_set_take(program_set *set, int part, int waits, gbees_error *error)
{
    program_job *j = set->job[part];
    int status;

    if (!j || (!waits && !__atomic_load_n(&j->is_made, __ATOMIC_ACQUIRE)))
        return GBEES_OK;
    if (j->has_thread)
        (void)pthread_join(j->thread, NULL);
    status = j->status ? gbees_error_set(error, j->error.status, "%s", j->error.text) : GBEES_OK;
    set->part[part] = j->made;
    set->job[part] = NULL;
    free(j);
    return status;
}

void program_set_destroy(const cuda_api *api, program_set *set)
{
    gbees_error ignored;

    for (int k = 0; k < PROGRAMS; k++) {
        (void)program_set_take(set, k, 1, &ignored);
        program_destroy(api, &set->part[k]);
    }
}

/* ---- all of them ---- */

/* The compiler reads the texts of one program at a time, some 50 ms each: what takes longest after that comes first,
 * and before it what the first step waits for. */
static const int order[PROGRAMS] = {PROGRAM_STEPS, PROGRAM_SMALL,       PROGRAM_ADVECT,
                                    PROGRAM_GRID,  PROGRAM_PRUNES,      PROGRAM_ADVECT_ALL,
                                    PROGRAM_MARKS, PROGRAM_LIKELIHOODS, PROGRAM_UPDATES};

/* Until a thread that was begun has come to the compiler, before the next one. */
static void let_pass(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Makes the wanted ones side by side, without waiting for those in `later`. */
static int make_all(program_set *set, const cuda_api *api, const program_spec *specs, unsigned wanted, unsigned later,
                    program_maker *make, gbees_error *error)
{
    int status = GBEES_OK;
    gbees_error why;

    for (int i = 0; i < PROGRAMS && !status; i++) {
        if (!(wanted >> order[i] & 1))
            continue;
        status = program_set_begin(set, order[i], api, &specs[order[i]], make, error);
        if (make == program_make)
            let_pass();
    }
    for (int k = 0; k < PROGRAMS; k++)
        if (!(later >> k & 1) && program_set_take(set, k, 1, &why) && !status)
            status = gbees_error_set(error, why.status, "%s", why.text);
    return status;
}

/* Of the wanted programs those that were not found. */
static unsigned missing_of(const program_set *set, unsigned wanted)
{
    for (int k = 0; k < PROGRAMS; k++)
        wanted &= ~(set->part[k].image ? 1u << k : 0u);
    return wanted;
}

int program_is_wanted(const gbees_problem *problem, const char *arch, int part)
{
    switch (part) {
    case PROGRAM_UPDATES:
    case PROGRAM_LIKELIHOODS:
        return cuda_spec_has_updates(problem);
    case PROGRAM_ADVECT:
    case PROGRAM_MARKS:
        return cuda_spec_has_advect(problem);
    case PROGRAM_ADVECT_ALL:
        return cuda_spec_advects_apart(problem);
    case PROGRAM_SMALL:
        return cuda_spec_has_small(problem, arch);
    default:
        return 1;
    }
}

int program_set_build(cuda_api *api, const gbees_problem *problem, const char *arch, int exact, unsigned later,
                      program_set *out, gbees_error *error)
{
    program_spec specs[PROGRAMS];
    unsigned wanted = 0;
    double start = seconds();

    *out = (program_set){.wall_s = 0};
    for (int k = 0; k < PROGRAMS; k++) {
        wanted |= program_is_wanted(problem, arch, k) ? 1u << k : 0u;
        cuda_spec_set(&specs[k], problem, arch, k, exact);
    }
    int status = make_all(out, api, specs, wanted, 0, program_find, error);
    wanted = missing_of(out, wanted);
    if (!status && wanted) {
        status = cuda_api_open_compiler(api, error);
        if (!status)
            status = make_all(out, api, specs, wanted, later, program_make, error);
    }
    if (!status && api->compiler) /* for a run that finds all of them */
        compiler_note_write(api);
    out->wall_s = seconds() - start;
    if (status)
        program_set_destroy(api, out);
    return status;
}
