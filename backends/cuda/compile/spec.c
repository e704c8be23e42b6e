/* spec.c - see spec.h. */
#include "spec.h"
#include "build.h"
#include "common/initial.h"
#include "device/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unit of both texts takes no longer to make than two that are linked, its kernels are the same, and it needs one
 * library less; the other way is for whoever compares them. */
static int is_separate(void)
{
    const char *units = getenv("GBEES_CUDA_UNITS");

    return units && strcmp(units, "two") == 0;
}

unsigned cuda_spec_libraries(void)
{
    return CUDA_COMPILER_LATER | (is_separate() ? (unsigned)CUDA_LINKER : 0u);
}

int cuda_spec_is_drift_f64(const gbees_problem *problem)
{
    return problem->numerics.precision != GBEES_DOUBLE && initial_box_is_fine(problem);
}

/* As GBEES_LIKELIHOODS has it (device/state.h). */
static unsigned likelihoods_of(const gbees_problem *problem)
{
    unsigned likelihoods = 0;

    for (int i = 0; i < problem->measurement_count; i++) {
        const gbees_measurement *m = &problem->measurements[i];

        likelihoods |= m->missing ? LIKELIHOOD_RESIDUALS : 0;
        for (int j = 0; j < m->size; j++)
            likelihoods |= m->period[j] > 0 ? LIKELIHOOD_RESIDUALS : 0;
        likelihoods |= m->likelihood == GBEES_LIKELIHOOD_STUDENT ? LIKELIHOOD_STUDENT : 0;
        likelihoods |= m->likelihood == GBEES_LIKELIHOOD_MODEL ? LIKELIHOOD_MODEL : 0;
    }
    return likelihoods;
}

/* Components of the largest one. */
static int largest_measurement(const gbees_problem *problem)
{
    int most = 1;

    for (int i = 0; i < problem->measurement_count; i++)
        most = problem->measurements[i].size > most ? problem->measurements[i].size : most;
    return most;
}

int cuda_spec_has_updates(const gbees_problem *problem)
{
    return problem->measurement_count > 0 && problem->measurements[0].time <= problem->end;
}

int cuda_spec_has_advect(const gbees_problem *problem)
{
    return problem->dimension > 3 && !problem->model->diffusion;
}

/* Up to three axes, on GPUs that have clusters of blocks: from sm_90 on. */
int cuda_spec_has_small(const gbees_problem *problem, const char *arch)
{
    const char *number = strpbrk(arch, "0123456789");

    return problem->dimension <= 3 && gbees_scheme_is_split(problem->numerics.scheme) && !problem->model->diffusion &&
           !problem->bounded && number && strtol(number, NULL, 10) >= 90;
}

/* From five axes on grids are hardly ever small, and each axis is a sweep more for the compiler. */
int cuda_spec_advects_apart(const gbees_problem *problem)
{
    return problem->dimension > 4 && cuda_spec_has_advect(problem);
}

int cuda_spec_rows(const gbees_problem *problem)
{
    const gbees_scheme scheme = problem->numerics.scheme;

    return gbees_scheme_is_split(scheme) ? 2 : scheme == GBEES_SCHEME_CTU_POSITIVE ? 4 : 3;
}

/* Whether kernels are known to need more registers than they would have, were they not lean. */
static int is_heavy(const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;

    return problem->dimension >= 6 && (problem->bounded || problem->rotated || numerics->precision == GBEES_DOUBLE ||
                                       numerics->scheme == GBEES_SCHEME_CTU_POSITIVE || gbees_problem_noise(problem));
}

/* The passes of ctu where bricks are two cells wide at most (device/ctu_lines.h). */
static int has_lines(const gbees_problem *problem)
{
    return problem->dimension >= 6 && problem->numerics.scheme != GBEES_SCHEME_CTU_POSITIVE;
}

/* Of moves, which have the most to keep in registers: models with a bound, of many states, want most of all.  Each
 * shape that is tried in vain takes the compiler a second. */
static program_shape shape_of_advect(const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;
    const int twice = numerics->precision == GBEES_DOUBLE, tight = problem->dimension >= 6 && problem->bounded;

    if (gbees_scheme_is_split(numerics->scheme)) {
        const int four = problem->dimension == 4; /* the longest lines of all that are swept so */
        const int few = twice || (four && cuda_spec_is_drift_f64(problem));

        if (tight && gbees_scheme_order(numerics->scheme) == 5)
            return (program_shape){8, twice ? 2 : 3, 1};
        return (program_shape){8, few ? 3 : 4, four};
    }
    if (tight && !twice && has_lines(problem))
        return (program_shape){10, 2, 1};
    if (has_lines(problem))
        return (program_shape){8, twice ? 2 : 3, 0};
    return (program_shape){10, 2, 0};
}

/* The one to begin with: as many threads as go well with the registers that most models need. */
static program_shape shape_of(const gbees_problem *problem, int part)
{
    const gbees_numerics *numerics = &problem->numerics;

    switch (part) {
    case PROGRAM_UPDATES:
    case PROGRAM_LIKELIHOODS:
        return (program_shape){10, 1, 0};
    case PROGRAM_MARKS:
        if (problem->bounded) /* with the model's bound, in doubles */
            return (program_shape){8, 3, 1};
        return (program_shape){8, 5, 0};
    case PROGRAM_ADVECT:
        return shape_of_advect(problem);
    case PROGRAM_PRUNES:
        return problem->dimension > 3 ? (program_shape){8, 5, 1} : (program_shape){10, 2, 0};
    case PROGRAM_SMALL: { /* a brick a warp, of as many as there are for the most part */
        const int few = numerics->precision == GBEES_DOUBLE && gbees_scheme_order(numerics->scheme) == 7;

        return (program_shape){few ? 12 : 16, 1, 0};
    }
    default:
        return (program_shape){10, 2, part == PROGRAM_STEPS && is_heavy(problem)};
    }
}

/* In four and five dimensions a warp sweeps two pencils at once, and both together decide which of two formulas they
 * take.  Contracted these are rounded differently, and which pencils go together changes from run to run. */
static int pairs_pencils(const gbees_problem *problem, int part)
{
    return part == PROGRAM_ADVECT && problem->dimension < 6 && gbees_scheme_is_split(problem->numerics.scheme);
}

/* Whether products and sums may be rounded together, as the compiler likes it: what comes out then depends on the
 * text around them.  The kernels between which a small grid's run changes over round alike. */
static int contracts(const gbees_problem *problem, const char *arch, int part, int exact)
{
    const int steps = part == PROGRAM_STEPS || part == PROGRAM_SMALL || part == PROGRAM_PRUNES;

    return problem->numerics.precision != GBEES_DOUBLE && !exact && !pairs_pencils(problem, part) &&
           !(steps && cuda_spec_has_small(problem, arch));
}

void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int part, int exact)
{
    static const char *const likelihoods[] = {"GBEES_LIKELIHOODS=0", "GBEES_LIKELIHOODS=1", "GBEES_LIKELIHOODS=2",
                                              "GBEES_LIKELIHOODS=3", "GBEES_LIKELIHOODS=4", "GBEES_LIKELIHOODS=5",
                                              "GBEES_LIKELIHOODS=6", "GBEES_LIKELIHOODS=7"};
    static const char *const sizes[] = {NULL,
                                        "GBEES_MEASURED=1",
                                        "GBEES_MEASURED=2",
                                        "GBEES_MEASURED=3",
                                        "GBEES_MEASURED=4",
                                        "GBEES_MEASURED=5",
                                        "GBEES_MEASURED=6",
                                        "GBEES_MEASURED=7",
                                        "GBEES_MEASURED=8"};
    static const char *const parts[PROGRAMS] = {
        [PROGRAM_STEPS] = "GBEES_KERNELS=GBEES_KERNELS_ADVANCE",
        [PROGRAM_GRID] = "GBEES_KERNELS=GBEES_KERNELS_GRID",
        [PROGRAM_UPDATES] = "GBEES_KERNELS=GBEES_KERNELS_UPDATE",
        [PROGRAM_ADVECT] = "GBEES_KERNELS=GBEES_KERNELS_ADVECT",
        [PROGRAM_PRUNES] = "GBEES_KERNELS=GBEES_KERNELS_PRUNE",
        [PROGRAM_MARKS] = "GBEES_KERNELS=GBEES_KERNELS_MARK",
        [PROGRAM_LIKELIHOODS] = "GBEES_KERNELS=GBEES_KERNELS_LIKELIHOOD",
        [PROGRAM_ADVECT_ALL] = "GBEES_KERNELS=GBEES_KERNELS_ADVECT_ALL",
        [PROGRAM_SMALL] = "GBEES_KERNELS=GBEES_KERNELS_SMALL",
    };
    static const char *const diffusions[] = {"GBEES_DIFFUSION=0", "GBEES_DIFFUSION=1", "GBEES_DIFFUSION=2"};
    const gbees_numerics *numerics = &problem->numerics;
    int twice = numerics->precision == GBEES_DOUBLE, split = gbees_scheme_is_split(numerics->scheme);
    int shared = numerics->scheme == GBEES_SCHEME_CTU_POSITIVE;
    int diverges = shared || numerics->scheme == GBEES_SCHEME_CTU_DIVERGENCE;

    *spec = (program_spec){
        .model = problem->model,
        .dimension = problem->dimension,
        .defines = {twice ? "GBEES_REAL=double" : "GBEES_REAL=float",
                    twice ? "GBEES_REAL_IS_DOUBLE=1" : "GBEES_REAL_IS_DOUBLE=0",
                    cuda_spec_is_drift_f64(problem) ? "GBEES_DRIFT_F64=1" : "GBEES_DRIFT_F64=0",
                    split ? "GBEES_SPLIT=1" : "GBEES_SPLIT=0",
                    gbees_scheme_is_preserving(numerics->scheme) ? "GBEES_PRESERVING=1" : "GBEES_PRESERVING=0",
                    gbees_scheme_order(numerics->scheme) == 7 ? "GBEES_ORDER=7" : "GBEES_ORDER=5",
                    diverges ? "GBEES_DIVERGENCE=1" : "GBEES_DIVERGENCE=0", parts[part],
                    problem->model->flags & GBEES_TIME_DEPENDENT ? "GBEES_DRIFT_TIME_DEPENDENT=1"
                                                                 : "GBEES_DRIFT_TIME_DEPENDENT=0",
                    problem->bounded ? "GBEES_BOUNDED=1" : "GBEES_BOUNDED=0",
                    problem->rotated ? "GBEES_ROTATED=1" : "GBEES_ROTATED=0",
                    shared ? "GBEES_LIMITED=1" : "GBEES_LIMITED=0", diffusions[gbees_problem_noise(problem)]},
        .define_count = 13,
        .no_contraction = !contracts(problem, arch, part, exact), /* the CPU's bits */
        .separate = is_separate(),
        .shape = shape_of(problem, part)};
    if (part == PROGRAM_UPDATES || part == PROGRAM_LIKELIHOODS) {
        spec->defines[spec->define_count++] = likelihoods[likelihoods_of(problem)];
        spec->defines[spec->define_count++] = sizes[largest_measurement(problem)];
    }
    if (part == PROGRAM_STEPS && cuda_spec_advects_apart(problem))
        spec->defines[spec->define_count++] = "GBEES_ADVECT_APART=1";
    if (part == PROGRAM_SMALL)
        spec->defines[spec->define_count++] = "GBEES_SMALL=1";
    (void)snprintf(spec->arch, sizeof spec->arch, "%s", arch);
}
