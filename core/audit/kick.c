/* kick.c - the noise that a block of samples gets between two steps; see samples.h. */
#include "base/clones.h"
#include "numerics/noise_factor.h"
#include "samples.h"
#include <math.h>

enum { BLOCK = SAMPLES_BLOCK };

static const double origin[GBEES_MAX_DIM];

/* Whether all numbers are 0, by their bits but the sign's. */
GBEES_PROCESSOR_CLONES static int are_zero(size_t count, const double *restrict q)
{
    uint64_t any = 0;

    for (size_t i = 0; i < count; i++) {
        const gbees_bits of = {.x = q[i]};

        any |= of.word << 1;
    }
    return !any;
}

/* Whether Q, of which there are `entries`, is 0 at all samples of a block: they need no random numbers then. */
static int is_silent(int entries, size_t count, const double (*q)[BLOCK])
{
    int silent = 1;

    for (int k = 0; k < entries && silent; k++)
        silent = are_zero(count, q[k]);
    return silent;
}

/* Draws the numbers of a kick, unless kicks->z has them. Returns the first of them, of n. */
static int draw(const gbees_montecarlo *montecarlo, size_t block, uint64_t number, samples_kicks *kicks)
{
    const int n = montecarlo->problem->dimension, together = gbees_kicks_together(n);
    const uint64_t attempt = number / (uint64_t)together;
    const size_t count = samples_in_block(montecarlo, block);
    uint64_t sample[BLOCK];

    if (kicks->drawn != attempt + 1) {
        for (size_t i = 0; i < count; i++)
            sample[i] = samples_number(montecarlo, block * BLOCK + i);
        for (int call = 0; 4 * call < n; call++)
            gbees_samples_fill(montecarlo->options.seed, count, sample, attempt, (uint64_t)call, SAMPLES_FOR_NOISE,
                               &kicks->z[4 * call]);
        kicks->drawn = attempt + 1;
    }
    return (int)(number % (uint64_t)together) * n;
}

/* x += by * root * z, where *root is Q, and becomes its root. */
GBEES_PROCESSOR_CLONES static void add_diagonal(size_t count, double by, const double *restrict z,
                                                double *restrict root, double *restrict x)
{
    for (size_t i = 0; i < count; i++) {
        root[i] = root[i] > 0 ? sqrt(root[i]) : 0;
        x[i] += by * root[i] * z[i];
    }
}

/* x += by * F z with the factor F of a full Q, which *kicks has and which becomes F; z: of the first state. */
static void add_full(int n, size_t count, double by, const double (*z)[BLOCK], samples_kicks *kicks, double *const *x)
{
    double own[GBEES_MAX_ENTRIES];

    for (size_t i = 0; i < count; i++) {
        gbees_noise_factor(n, 1, &kicks->factor[0][i], BLOCK, own);
        for (int j = 0; j < n; j++)
            for (int k = 0; k <= j; k++) {
                x[j][i] += by * own[j * n + k] * z[k][i];
                kicks->factor[j * n + k][i] = own[j * n + k];
            }
    }
}

int gbees_samples_kick(const gbees_montecarlo *montecarlo, size_t block, const samples_noise *noise, double *const *x,
                       samples_kicks *kicks)
{
    const gbees_problem *problem = montecarlo->problem;
    const int n = problem->dimension, full = problem->model->diffusion == GBEES_FULL;
    const size_t count = samples_in_block(montecarlo, block);
    const double by = sqrt(noise->duration);
    double *out[GBEES_MAX_ENTRIES];

    if (!gbees_problem_own_functions(problem)->diffusion_d)
        return 0;
    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = kicks->factor[k];
    gbees_problem_own_functions(problem)->diffusion_d(count, noise->time, origin, (const double *const *)x,
                                                      problem->parameters, out);
    if (is_silent(full ? n * n : n, count, (const double(*)[BLOCK])kicks->factor))
        return 0;
    const double(*z)[BLOCK] = (const double(*)[BLOCK])kicks->z + draw(montecarlo, block, noise->number, kicks);

    if (full)
        add_full(n, count, by, z, kicks, x);
    for (int j = 0; j < n && !full; j++)
        add_diagonal(count, by, z[j], kicks->factor[j], x[j]);
    return 1;
}
