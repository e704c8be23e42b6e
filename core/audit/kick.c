/* kick.c - the noise that a block of samples gets between two steps; see samples.h. */
#include "numerics/noise_factor.h"
#include "samples.h"
#include <math.h>

enum { BLOCK = SAMPLES_BLOCK };

static const double origin[GBEES_MAX_DIM];

/* Whether Q, of which there are `entries`, is 0 at all samples of a block: they need no random numbers then. */
static int is_silent(int entries, size_t count, const double (*q)[BLOCK])
{
    double largest = 0;

    for (int k = 0; k < entries; k++)
        for (size_t i = 0; i < count; i++)
            largest = fabs(q[k][i]) > largest || q[k][i] != q[k][i] ? INFINITY : largest;
    return largest == 0;
}

int gbees_samples_kick(const gbees_montecarlo *montecarlo, size_t block, const samples_noise *noise, double *const *x,
                       double (*factor)[BLOCK])
{
    const gbees_problem *problem = montecarlo->problem;
    const int n = problem->dimension, full = problem->model->diffusion == GBEES_FULL;
    const size_t count = samples_in_block(montecarlo, block);
    const double by = sqrt(noise->duration);
    double own[GBEES_MAX_ENTRIES], z[GBEES_MAX_DIM], *out[GBEES_MAX_ENTRIES];

    if (!gbees_problem_own_functions(problem)->diffusion_d)
        return 0;
    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = factor[k];
    gbees_problem_own_functions(problem)->diffusion_d(count, noise->time, origin, (const double *const *)x,
                                                      problem->parameters, out);
    if (is_silent(full ? n * n : n, count, (const double(*)[BLOCK])factor))
        return 0;
    for (size_t i = 0; i < count; i++) {
        gbees_noise_factor(n, full, &factor[0][i], BLOCK, own);
        for (int call = 0; 4 * call < n; call++)
            gbees_samples_normals(montecarlo->options.seed, samples_number(montecarlo, block * BLOCK + i),
                                  noise->number, (uint64_t)call, SAMPLES_FOR_NOISE, &z[4 * call]);
        for (int j = 0; j < n; j++)
            for (int k = full ? 0 : j; k <= j; k++) {
                x[j][i] += by * own[j * n + k] * z[k];
                factor[full ? j * n + k : j][i] = own[j * n + k];
            }
    }
    return 1;
}
