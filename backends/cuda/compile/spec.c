/* spec.c - derives from a problem the options -D of a program: dimension, precision, scheme, bound, noise, and what
 * measurements need. */
#include "spec.h"
#include "common/initial.h"
#include "device/state.h"
#include "kernel_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuda_spec_is_separate(void)
{
    const char *units = getenv("GBEES_CUDA_UNITS");

    return units && strcmp(units, "two") == 0;
}

int cuda_spec_is_drift_f64(const gbees_problem *problem)
{
    return problem->numerics.precision != GBEES_DOUBLE && initial_box_is_fine(problem);
}

int cuda_spec_rows(const gbees_problem *problem)
{
    return gbees_scheme_is_split(problem->numerics.scheme) ? 2 : 3;
}

int cuda_spec_passes(const gbees_problem *problem)
{
    return gbees_scheme_is_split(problem->numerics.scheme) ? problem->dimension : cuda_spec_rows(problem) - 1;
}

/* ---- what the likelihoods need ---- */

/* What the problem's measurements need beside Gaussian likelihoods: bits LIKELIHOOD_..., the value of
 * GBEES_LIKELIHOODS. All, if they are not known. */
static unsigned likelihoods_of(const gbees_problem *problem)
{
    unsigned likelihoods =
        problem->arriving ? LIKELIHOOD_RESIDUALS | LIKELIHOOD_STUDENT | LIKELIHOOD_MODEL | LIKELIHOOD_PERIODS : 0;

    for (int i = 0; i < problem->measurement_count; i++) {
        const gbees_measurement *m = &problem->measurements[i];

        likelihoods |= m->missing ? LIKELIHOOD_RESIDUALS : 0;
        for (int j = 0; j < m->size; j++)
            likelihoods |= !(m->period[j] > 0)                          ? 0
                           : m->likelihood == GBEES_LIKELIHOOD_GAUSSIAN ? LIKELIHOOD_RESIDUALS | LIKELIHOOD_PERIODS
                                                                        : LIKELIHOOD_RESIDUALS;
        likelihoods |= m->likelihood == GBEES_LIKELIHOOD_STUDENT ? LIKELIHOOD_STUDENT : 0;
        likelihoods |= m->likelihood == GBEES_LIKELIHOOD_MODEL ? LIKELIHOOD_MODEL : 0;
    }
    return likelihoods;
}

/* The number of components of the largest measurement, the value of GBEES_MEASURED; 1 without measurements. */
static int largest_measurement(const gbees_problem *problem)
{
    const gbees_model *model = problem->model;
    int most = 1;

    for (int i = 0; problem->arriving && i < model->measurement_count; i++)
        most = model->measurements[i].size > most ? model->measurements[i].size : most;
    for (int i = 0; i < problem->measurement_count; i++)
        most = problem->measurements[i].size > most ? problem->measurements[i].size : most;
    return most;
}

/* ---- rounding ---- */

/* Whether the program's warps sweep two pencils at once: split schemes in four and five dimensions.  There both
 * pencils have to take the same of two formulas.  Contracted, the formulas would be rounded differently, and results
 * would depend on which pencils a warp takes together, which changes from run to run. */
static int pairs_pencils(const gbees_problem *problem, int program)
{
    return program == PROGRAM_ADVECT && problem->dimension < 6 && gbees_scheme_is_split(problem->numerics.scheme);
}

/* Whether the compiler may contract a * b + c of a program to one operation, which rounds once.  Which ones it
 * contracts depends on the text around them: so programs that have to give the same bits as the CPU, or as the host's
 * own code, are compiled without; and those of targets that absorb, of which the lines near them and the others
 * compute faces that they share. */
static int contracts(const gbees_problem *problem, int program, int exact)
{
    return problem->numerics.precision != GBEES_DOUBLE && !exact && !program_has_samples(program) &&
           program != PROGRAM_REMAP && !pairs_pencils(problem, program) && !gbees_problem_absorbs(problem);
}

/* ---- the spec ---- */

/* Adds an option -D. The text must outlive the spec. */
static void add(program_spec *spec, const char *define)
{
    spec->defines[spec->define_count++] = define;
}

/* Adds the options that follow from the scenario's numerics: precision and scheme. */
static void add_numerics(program_spec *spec, const gbees_problem *problem)
{
    static const char *const orders[] = {"GBEES_ORDER=1", "GBEES_ORDER=3", "GBEES_ORDER=5", "GBEES_ORDER=7"};
    const gbees_scheme scheme = problem->numerics.scheme;
    const int is_f64 = problem->numerics.precision == GBEES_DOUBLE;

    add(spec, is_f64 ? "GBEES_REAL=double" : "GBEES_REAL=float");
    add(spec, is_f64 ? "GBEES_REAL_IS_DOUBLE=1" : "GBEES_REAL_IS_DOUBLE=0");
    add(spec, cuda_spec_is_drift_f64(problem) ? "GBEES_DRIFT_F64=1" : "GBEES_DRIFT_F64=0");
    add(spec, gbees_scheme_is_split(scheme) ? "GBEES_SPLIT=1" : "GBEES_SPLIT=0");
    add(spec, gbees_scheme_get(scheme)->preserving ? "GBEES_PRESERVING=1" : "GBEES_PRESERVING=0");
    if (gbees_scheme_is_split(scheme))
        add(spec, orders[gbees_scheme_get(scheme)->order / 2]);
}

/* Adds the options that follow from the model, its bound and the grid. `rotated`: positions are on a rotated grid. */
static void add_model(program_spec *spec, const gbees_problem *problem, int rotated)
{
    static const char *const diffusions[] = {"GBEES_DIFFUSION=0", "GBEES_DIFFUSION=1", "GBEES_DIFFUSION=2"};

    const int changes = problem->model->flags & GBEES_TIME_DEPENDENT || (rotated && problem->moving);

    add(spec, changes ? "GBEES_DRIFT_TIME_DEPENDENT=1" : "GBEES_DRIFT_TIME_DEPENDENT=0");
    if (rotated && problem->moving)
        add(spec, "GBEES_MOVING=1");
    if (gbees_problem_absorbs(problem))
        add(spec, "GBEES_ABSORBS=1");
    add(spec, problem->bounded ? "GBEES_BOUNDED=1" : "GBEES_BOUNDED=0");
    if (rotated == problem->rotated && gbees_problem_is_closed(problem))
        add(spec, "GBEES_CLOSED=1");
    add(spec, rotated ? "GBEES_ROTATED=1" : "GBEES_ROTATED=0");
    add(spec, diffusions[rotated ? gbees_problem_engine_noise(problem) : problem->model->diffusion]);
}

/* Adds the options that follow from the measurements. */
static void add_updates(program_spec *spec, const gbees_problem *problem)
{
    static const char *const likelihoods[] = {
        "GBEES_LIKELIHOODS=0",  "GBEES_LIKELIHOODS=1",  "GBEES_LIKELIHOODS=2",  "GBEES_LIKELIHOODS=3",
        "GBEES_LIKELIHOODS=4",  "GBEES_LIKELIHOODS=5",  "GBEES_LIKELIHOODS=6",  "GBEES_LIKELIHOODS=7",
        "GBEES_LIKELIHOODS=8",  "GBEES_LIKELIHOODS=9",  "GBEES_LIKELIHOODS=10", "GBEES_LIKELIHOODS=11",
        "GBEES_LIKELIHOODS=12", "GBEES_LIKELIHOODS=13", "GBEES_LIKELIHOODS=14", "GBEES_LIKELIHOODS=15"};
    static const char *const sizes[1 + GBEES_MAX_DIM] = {
        NULL,
        "GBEES_MEASURED=1",
        "GBEES_MEASURED=2",
        "GBEES_MEASURED=3",
        "GBEES_MEASURED=4",
        "GBEES_MEASURED=5",
        "GBEES_MEASURED=6",
        "GBEES_MEASURED=7",
        "GBEES_MEASURED=8",
    };

    add(spec, likelihoods[likelihoods_of(problem)]);
    add(spec, sizes[largest_measurement(problem)]);
}

void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int program, int exact)
{
    *spec = (program_spec){.model = problem->model,
                           .dimension = problem->dimension,
                           .no_contraction = !contracts(problem, program, exact),
                           .separate = cuda_spec_is_separate(),
                           .shape = shape_first(problem, program)};
    (void)snprintf(spec->arch, sizeof spec->arch, "%s", arch);
    add(spec, program_define(program));
    add_numerics(spec, problem);
    add_model(spec, problem, problem->rotated && !program_has_samples(program)); /* samples are in the model's axes */
    if (program == PROGRAM_UPDATES || program == PROGRAM_LIKELIHOODS)
        add_updates(spec, problem);
    if (program == PROGRAM_STEPS && kernels_always_advect_apart(problem))
        add(spec, "GBEES_ADVECT_APART=1");
    if (program == PROGRAM_RANKS)
        add(spec, "GBEES_SHARED=1");
}

void cuda_spec_share(program_spec *spec, int program)
{
    if (program == PROGRAM_PRUNES || program == PROGRAM_MARKS)
        add(spec, "GBEES_SHARED=1");
}

const char *cuda_spec_source_file(const gbees_model *model)
{
    const char *name = model->source_file;

    while (name[0] == '.' && name[1] == '/')
        name += 2;
    return name;
}
