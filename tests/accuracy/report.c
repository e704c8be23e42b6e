/* report.c - see report.h. */
#include "report.h"
#include <math.h>
#include <string.h>

int gbees_accuracy_measure(const gbees_snapshot *snapshot, const gbees_sample_moments *moments,
                           const gbees_montecarlo *montecarlo, size_t kernel_samples, double work,
                           gbees_accuracy *accuracy, gbees_error *error)
{
    gbees_accuracy result = {.leg = snapshot->leg,
                             .number = snapshot->number,
                             .dimension = snapshot->dimension,
                             .time = snapshot->time,
                             .cells = snapshot->count,
                             .kernel = NAN};
    int status = gbees_montecarlo_measure(montecarlo, 0, &result.truth, error);

    if (!status)
        status = gbees_compare_binned(snapshot, montecarlo, &result.binned, &result.covered, error);
    if (!status)
        status = gbees_compare_marginals(snapshot, montecarlo, result.marginal, error);
    if (!status && kernel_samples > 0)
        status = gbees_compare_kernel(snapshot, montecarlo, kernel_samples, work, &result.kernel, error);
    if (status)
        return status;
    result.grid = *moments;
    result.mean = gbees_compare_mean(result.dimension, &result.grid, &result.truth);
    result.spread = gbees_compare_spread(result.dimension, &result.grid, &result.truth);
    memcpy(result.name, snapshot->name, sizeof result.name);
    *accuracy = result;
    return GBEES_OK;
}

void gbees_accuracy_print(FILE *file, const gbees_accuracy *list, size_t count)
{
    fprintf(file, "| leg | record | t | cells | e_m | e_s | BC, binned | BC, kernel | samples within | "
                  "effective samples |\n"
                  "| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for (size_t i = 0; i < count; i++) {
        const gbees_accuracy *a = &list[i];
        char kernel[32] = "-";

        if (!isnan(a->kernel))
            snprintf(kernel, sizeof kernel, "%.4f", a->kernel);
        fprintf(file, "| %d | %d | %.4g | %zu | %.4f | %.4f | %.4f | %s | %.4f | %.0f |\n", a->leg, a->number,
                a->time, a->cells, a->mean, a->spread, a->binned, kernel, a->covered, a->truth.effective);
    }
}

void gbees_accuracy_print_moments(FILE *file, const gbees_accuracy *list, size_t count)
{
    fprintf(file, "| leg | record | t | state | mean | true mean | std | true std | Kolmogorov |\n"
                  "| --: | --: | --: | :-- | --: | --: | --: | --: | --: |\n");
    for (size_t i = 0; i < count; i++) {
        const gbees_accuracy *a = &list[i];

        for (int j = 0; j < a->dimension; j++)
            fprintf(file, "| %d | %d | %.4g | %s | %.4f | %.4f +- %.4f | %.4f | %.4f +- %.4f | %.4f |\n", a->leg,
                    a->number, a->time, a->name[j], a->grid.mean[j], a->truth.mean[j], a->truth.mean_error[j],
                    a->grid.std[j], a->truth.std[j], a->truth.std_error[j], a->marginal[j]);
    }
}
