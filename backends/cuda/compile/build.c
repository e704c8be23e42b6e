/* build.c - makes each program of a problem in a thread of its own: finds it in the cache, or compiles it. The
 * programs that a run needs at once are waited for; the others are taken when they are done. */
#include "build.h"
#include "base/seconds.h"
#include "compiler_note.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---- a thread a program ---- */

struct program_job {
    const cuda_api *api;
    program_spec spec;
    program_maker *make;
    program made;
    int status;
    gbees_error error;
    pthread_t thread;
    int has_thread;
    int is_made; /* set last, with release order: the thread touches nothing after it */
};

/* A thread's function: makes the program of a job. */
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
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to start compiling the GPU kernels");
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

/* NVRTC reads the texts of one program after the other, some 50 ms each, and compiles several at once.  So the
 * programs that the first step waits for are begun first, then those that take longest to compile. */
static const int begin_order[PROGRAMS] = {PROGRAM_STEPS,      PROGRAM_ADVECT, PROGRAM_GRID,        PROGRAM_PRUNES,
                                          PROGRAM_ADVECT_ALL, PROGRAM_MARKS,  PROGRAM_LIKELIHOODS, PROGRAM_UPDATES,
                                          PROGRAM_RANKS,      PROGRAM_FRAME,  PROGRAM_REMAP,       PROGRAM_INTEGRATE,
                                          PROGRAM_FOLLOW};

/* The specs of all programs, and which of them are to be made. In a set of programs bit k stands for program k. */
typedef struct program_batch {
    program_spec spec[PROGRAMS];
    unsigned wanted, later;
} program_batch;

/* Waits 1 ms, so that the thread that was begun last reaches NVRTC before the next one. */
static void let_pass(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Finds or makes the wanted programs, each in a thread, and waits for those that are not for later. Returns the first
 * error. */
static int make_all(program_set *set, const cuda_api *api, const program_batch *batch, program_maker *make,
                    gbees_error *error)
{
    int status = GBEES_OK;
    gbees_error why;

    for (int i = 0; i < PROGRAMS && !status; i++) {
        const int part = begin_order[i];

        if (!(batch->wanted >> part & 1))
            continue;
        status = program_set_begin(set, part, api, &batch->spec[part], make, error);
        if (make == program_make)
            let_pass();
    }
    for (int k = 0; k < PROGRAMS; k++)
        if (!(batch->later >> k & 1) && program_set_take(set, k, 1, &why) && !status)
            status = gbees_error_set(error, why.status, "%s", why.text);
    return status;
}

/* The batch of all programs that an order needs; none is left for later. */
static program_batch batch_of(const program_order *order)
{
    program_batch batch = {.wanted = 0};

    for (int k = 0; k < PROGRAMS; k++) {
        const int is_wanted = program_is_wanted(order->problem, k) || (order->shared && program_is_shared(k));

        batch.wanted |= is_wanted ? 1u << k : 0u;
        cuda_spec_set(&batch.spec[k], order->problem, order->arch, k, order->exact);
        if (order->shared)
            cuda_spec_share(&batch.spec[k], k);
    }
    return batch;
}

int program_set_build(cuda_api *api, const program_order *order, program_set *out, gbees_error *error)
{
    const double start = gbees_seconds_now();
    program_batch batch = batch_of(order);

    *out = (program_set){.wall_s = 0};
    int status = make_all(out, api, &batch, program_find, error);
    for (int k = 0; k < PROGRAMS; k++)
        batch.wanted &= ~(out->part[k].image ? 1u << k : 0u);
    batch.later = order->later;
    if (!status && batch.wanted) {
        status = cuda_api_open_compiler(api, error);
        if (!status)
            status = make_all(out, api, &batch, program_make, error);
    }
    if (!status && api->compiler) /* for a run that finds all programs in the cache */
        compiler_note_write(api);
    out->wall_s = gbees_seconds_now() - start;
    if (status)
        program_set_destroy(api, out);
    return status;
}
