/* builder.c - reads keys of the scenario for the parts of gbees_problem_create(); see builder.h. */
#include "builder.h"
#include "base/text.h"
#include "frame/matrix.h"
#include "scenario/scenario.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

const gbees_node *builder_find(const builder *b, const char *key)
{
    return gbees_scenario_find(b->scenario, key);
}

double builder_number(const builder *b, const char *key, double initial)
{
    const gbees_node *node = builder_find(b, key);

    return node ? gbees_node_number(node) : initial;
}

int builder_is_set(const builder *b, const char *key, const char *value)
{
    const gbees_node *node = builder_find(b, key);

    return node && strcmp(node->text, value) == 0;
}

const char *builder_nearer(const char *name, const char *guess, const char *best)
{
    const char *both[] = {guess, best};

    return gbees_text_nearest(name, both, best ? 2 : 1);
}

int builder_no_memory(const builder *b)
{
    return gbees_error_set(b->error, GBEES_ENOMEM, "not enough memory for the problem");
}

/* Makes a[n * n] exactly symmetric; an asymmetry above rounding is an error. */
static int make_symmetric(const gbees_node *node, const char *label, int n, double *a, gbees_error *error)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double lower = a[i * n + j], upper = a[j * n + i];
            double scale = fmax(fmax(fabs(lower), fabs(upper)), sqrt(fabs(a[i * n + i])) * sqrt(fabs(a[j * n + j])));

            if (fabs(lower - upper) > 1e-12 * scale)
                return gbees_node_error(
                    node, error, "%s: not symmetric: row %d has %.17g in column %d, row %d has %.17g in column %d",
                    label, i + 1, lower, j + 1, j + 1, upper, i + 1);
            a[i * n + j] = a[j * n + i] = lower == upper ? lower : 0.5 * lower + 0.5 * upper;
        }
    }
    return GBEES_OK;
}

static int check_positive(const gbees_node *node, const char *label, int n, const double *a, gbees_error *error)
{
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM];

    memcpy(factor, a, (size_t)(n * n) * sizeof *a);
    lapack_int minor = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, factor, n);
    if (minor == 0)
        return GBEES_OK;
    if (minor <= 1)
        return gbees_node_error(node, error, "%s: not positive definite: the first variance is %g", label, a[0]);
    return gbees_node_error(node, error, "%s: not positive definite: its leading %d x %d part is not", label,
                            (int)minor, (int)minor);
}

int builder_covariance(const gbees_node *node, const char *label, int n, const char *what, double *out,
                       gbees_error *error)
{
    int status = gbees_node_matrix(node, label, n, what, out, error);

    if (!status)
        status = make_symmetric(node, label, n, out, error);
    if (!status)
        status = check_positive(node, label, n, out, error);
    return status;
}

int builder_semidefinite(const gbees_node *node, const char *label, int n, const char *what, double *out,
                         gbees_error *error)
{
    double vectors[GBEES_MATRIX], values[GBEES_MAX_DIM];
    int status = gbees_node_matrix(node, label, n, what, out, error);

    if (!status)
        status = make_symmetric(node, label, n, out, error);
    if (status)
        return status;
    memcpy(vectors, out, (size_t)(n * n) * sizeof *vectors);
    if (gbees_matrix_eigen(n, vectors, values))
        return gbees_node_error(node, error, "%s: its eigenvalues were not found", label);
    if (values[0] < -1e-12 * fabs(values[n - 1]))
        return gbees_node_error(node, error, "%s: not positive: it has the eigenvalue %g", label, values[0]);
    return GBEES_OK;
}
