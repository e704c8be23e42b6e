/* kernel.c - the Gaussian kernel density estimate of compare.h, by brute force: whitened, blocked, vectorised. */
#include "base/cholesky.h"
#include "compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 256 };

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&       \
    !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

/* Samples in coordinates in which the kernel is the standard Gaussian; x[j] are parts of `memory`. */
typedef struct cloud {
    size_t count;
    double *x[GBEES_MAX_DIM], *weight, *memory;
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* of the kernel's covariance */
} cloud;

/* exp(-s) for LANES numbers s >= 0, to a relative 1e-10 (0 beyond 700): 2^k times a polynomial on +-ln(2)/2, in a
 * form that vectorises without a vector library. */
CLONES static double weigh(const double *square, const double *weight, size_t count)
{
    const double magic = 0x1.8p52; /* adding it leaves the rounded integer in the low bits */
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        double s = square[i] < 1400 ? -0.5 * square[i] : -700;
        double shifted = s * 1.4426950408889634 + magic;
        double r = s - (shifted - magic) * 0.6931471805599453;
        double e =
            1 +
            r * (1 + r * (1. / 2 +
                          r * (1. / 6 + r * (1. / 24 +
                                             r * (1. / 120 + r * (1. / 720 + r * (1. / 5040 + r * (1. / 40320))))))));
        uint64_t bits;
        double power;

        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits << 52) + 0x3ff0000000000000u;
        memcpy(&power, &bits, sizeof power);
        sum += weight[i] * e * power;
    }
    return sum;
}

CLONES static void add_square(const double *x, double centre, size_t count, double *square)
{
    for (size_t i = 0; i < count; i++)
        square[i] += (x[i] - centre) * (x[i] - centre);
}

/* The estimate at a point, up to a constant. */
static double evaluate(const cloud *samples, int n, const double *centre)
{
    double square[LANES], sum = 0;

    for (size_t first = 0; first < samples->count; first += LANES) {
        const size_t left = samples->count - first, count = left < LANES ? left : LANES;

        memset(square, 0, sizeof square);
        for (int j = 0; j < n; j++)
            add_square(samples->x[j] + first, centre[j], count, square);
        sum += weigh(square, samples->weight + first, count);
    }
    return sum;
}

/* Covariance as scipy.stats.gaussian_kde has it: unbiased, times the square of n^(-1/(d+4)). */
static int kernel_factor(const gbees_montecarlo *montecarlo, size_t count, double *factor, gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    double kernel[GBEES_MAX_DIM * GBEES_MAX_DIM];
    gbees_sample_moments moments;
    int status = gbees_montecarlo_measure(montecarlo, count, &moments, error);

    if (status)
        return status;
    for (int j = 0; j < n * n; j++)
        kernel[j] = moments.covariance[j] * moments.effective / (moments.effective - 1) *
                    pow(moments.effective, -2. / (n + 4));
    if (gbees_cholesky_factor(n, kernel, factor))
        return gbees_error_set(error, GBEES_ENUMERIC, "the samples' covariance at t = %g is not positive definite",
                               montecarlo->time);
    return GBEES_OK;
}

/* Vectors are taken from the middle of the grid, to keep digits. */
static void whiten(int n, const double *factor, const double *origin, const double *x, double *y)
{
    double offset[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < n; j++)
        offset[j] = x[j] - origin[j];
    gbees_cholesky_solve(n, factor, offset, y);
}

static int cloud_create(const gbees_montecarlo *montecarlo, size_t count, const double *origin, cloud *samples,
                        gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    cloud new = {.count = count};
    int status = kernel_factor(montecarlo, count, new.factor, error);

    if (status)
        return status;
    new.memory = malloc(count * ((size_t)n + 1) * sizeof *new.memory);
    if (!new.memory)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for a kernel estimate from %zu samples", count);
    for (int j = 0; j < n; j++)
        new.x[j] = new.memory + (size_t)j *count;
    new.weight = new.memory + (size_t)n *count;
    for (size_t i = 0; i < count; i++) {
        double x[GBEES_MAX_DIM], y[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = montecarlo->x[j][i];
        whiten(n, new.factor, origin, x, y);
        for (int j = 0; j < n; j++)
            new.x[j][i] = y[j];
        new.weight[i] = montecarlo->weight[i];
    }
    *samples = new;
    return GBEES_OK;
}

int gbees_compare_kernel(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, size_t count,
                         double work, double *coefficient, gbees_error *error)
{
    const int n = snapshot->dimension;
    size_t stride;
    double *estimate, sum = 0, total = 0, product = 0;
    cloud samples;
    int status;

    if (count == 0 || count > montecarlo->count)
        count = montecarlo->count;
    stride = (size_t)fmax(1, ceil((double)snapshot->count * (double)count / work));
    if ((status = cloud_create(montecarlo, count, snapshot->origin, &samples, error)))
        return status;
    estimate = malloc((snapshot->count + 1) * sizeof *estimate);
    if (!estimate) {
        free(samples.memory);
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for a kernel estimate in %zu cells", snapshot->count);
    }
#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo)) schedule(dynamic, 16)
    for (size_t i = 0; i < snapshot->count; i += stride) {
        double x[GBEES_MAX_DIM], y[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = gbees_snapshot_centre(snapshot, j, i);
        whiten(n, samples.factor, snapshot->origin, x, y);
        estimate[i] = evaluate(&samples, n, y);
    }
    for (size_t i = 0; i < snapshot->count; i += stride) {
        sum += snapshot->p[i];
        total += estimate[i];
        product += sqrt(snapshot->p[i] * estimate[i]);
    }
    free(estimate);
    free(samples.memory);
    if (!(total > 0 && sum > 0))
        return gbees_error_set(error, GBEES_ENUMERIC, "leg %d record %d: no sample is near its cells", snapshot->leg,
                               snapshot->number);
    *coefficient = product / sqrt(sum * total);
    return GBEES_OK;
}
