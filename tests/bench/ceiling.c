/* ceiling - what this machine can do at most: bytes a second of a copy and of a change in place, multiply-adds a
 * second in float and double, with one thread and with all. Prints one JSON object. See
 * doc/notes/benchmark-results.md.
 */
#include "ceiling.h"
#include <argp.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct options {
    size_t bytes; /* of each of the two arrays */
    int repeat;
    int threads[8], count;
} options;

static const struct argp_option table[] = {
    {"bytes", 'b', "N", 0, "size of each of the two arrays (default 5e8: more than a cache holds)", 0},
    {"repeat", 'r', "N", 0, "the best of so many (default 5)", 0},
    {"threads", 't', "N", 0, "once more with so many threads; may be repeated (default: 1, and all)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    options *chosen = state->input;
    char *end = NULL;
    const double value = text ? strtod(text, &end) : 0;

    if (text && (end == text || *end || !(value >= 1 && value <= 1e12)))
        argp_error(state, "'%s' is not a number from 1 to 1e12", text);
    switch (key) {
    case 'b':
        chosen->bytes = ((size_t)value + 63) / 64 * 64;
        return 0;
    case 'r':
        chosen->repeat = (int)(value < 1000 ? value : 1000);
        return 0;
    case 't':
        if (chosen->count == (int)(sizeof chosen->threads / sizeof chosen->threads[0]) || value > 4096)
            argp_error(state, "--threads: too many");
        chosen->threads[chosen->count++] = (int)value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* Each thread's part begins on a cache line of its own. */
static void part(size_t count, int thread, int threads, size_t *from, size_t *to)
{
    *from = count / 16 * (size_t)thread / (size_t)threads * 16;
    *to = thread + 1 == threads ? count : count / 16 * ((size_t)thread + 1) / (size_t)threads * 16;
}

typedef void loop(float *to, const float *from, size_t count);

/* Bytes read and written a second, the best of some. */
static double bytes_a_second(loop *body, float *to, const float *from, size_t count, int threads, int repeat)
{
    double best = 0;

    for (int k = 0; k < repeat; k++) {
        const double start = omp_get_wtime();

#pragma omp parallel num_threads(threads)
        {
            size_t first, last;

            part(count, omp_get_thread_num(), omp_get_num_threads(), &first, &last);
            body(to + first, from + first, last - first);
        }
        const double rate = 2 * sizeof(float) * (double)count / (omp_get_wtime() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- arithmetic ------------------------------------------------------------------------------------------- */

/* Operations a second, a multiply-add being two, the best of some. */
static double operations_a_second(double (*spin)(size_t rounds, double start), double each, int threads, int repeat,
                                  double *sink)
{
    const size_t rounds = 2000000;
    double best = 0;

    for (int k = 0; k < repeat; k++) {
        const double start = omp_get_wtime();
        double sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
        sum += spin(rounds, 1e-3 * omp_get_thread_num());
        const double rate = each * (double)rounds * threads / (omp_get_wtime() - start);
        best = rate > best ? rate : best;
        *sink += sum;
    }
    return best;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static void measure(const options *chosen, int threads, float *to, float *from, int last, double *sink)
{
    const ceiling_loops *loops = ceiling_choose();
    const size_t count = chosen->bytes / sizeof *to;

    /* Pages are where the thread is that touches them first. */
#pragma omp parallel num_threads(threads)
    {
        size_t first, end;

        part(count, omp_get_thread_num(), omp_get_num_threads(), &first, &end);
        for (size_t i = first; i < end; i++)
            to[i] = from[i] = 1;
    }
    printf("  {\"threads\": %d, \"copy_bytes_per_s\": %.4g, ", threads,
           bytes_a_second(ceiling_copy, to, from, count, threads, chosen->repeat));
    printf("\"in_place_bytes_per_s\": %.4g, ", bytes_a_second(ceiling_scale, to, to, count, threads, chosen->repeat));
    printf("\"float_operations_per_s\": %.4g, ",
           operations_a_second(loops->spin_float, loops->each_float, threads, chosen->repeat, sink));
    printf("\"double_operations_per_s\": %.4g}%s\n",
           operations_a_second(loops->spin_double, loops->each_double, threads, chosen->repeat, sink),
           last ? "" : ",");
}

int main(int argc, char **argv)
{
    const struct argp parser = {table, parse, NULL, "What this machine can do at most, as JSON.", NULL, NULL, NULL};
    options chosen = {.bytes = 500000000, .repeat = 5};
    double sink = 0;
    float *to, *from;

    argp_parse(&parser, argc, argv, 0, NULL, &chosen);
    if (!chosen.count) {
        chosen.threads[chosen.count++] = 1;
        if (omp_get_max_threads() > 1)
            chosen.threads[chosen.count++] = omp_get_max_threads();
    }
    printf("{\"isa\": \"%s\", \"array_bytes\": %zu, \"ceilings\": [\n", ceiling_choose()->name, chosen.bytes);
    for (int k = 0; k < chosen.count; k++) {
        to = aligned_alloc(64, chosen.bytes);
        from = aligned_alloc(64, chosen.bytes);
        if (!to || !from) {
            fprintf(stderr, "ceiling: no memory for two arrays of %zu bytes: take a smaller --bytes\n", chosen.bytes);
            return EXIT_FAILURE;
        }
        measure(&chosen, chosen.threads[k], to, from, k + 1 == chosen.count, &sink);
        free(to);
        free(from);
    }
    /* What was computed must seem to be of use. */
    printf("], \"sink\": %.1g}\n", sink);
    return EXIT_SUCCESS;
}
