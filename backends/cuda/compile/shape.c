/* shape.c - chooses the first shape of a program by what its kernels are known to need, and the next one after it
 * has spilled registers. */
#include "shape.h"
#include "common/initial.h"
#include "kernel_table.h"

/* Whether the kernel for steps is known to spill unless it recomputes values (low_registers). */
static int is_heavy(const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;

    return problem->dimension >= 6 && (problem->bounded || problem->rotated || numerics->precision == GBEES_DOUBLE ||
                                       gbees_problem_engine_noise(problem));
}

/* Whether ctu computes line by line (device/ctu_lines.h), as it does where bricks are at most two cells wide. */
static int has_lines(const gbees_problem *problem)
{
    return problem->dimension >= 6;
}

/* The first shape for the passes over a large grid. They keep more values in registers than other kernels, most of
 * all with a bound in many dimensions. */
static program_shape shape_of_advect(const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;
    const int is_f64 = numerics->precision == GBEES_DOUBLE, tight = problem->dimension >= 6 && problem->bounded;

    if (gbees_scheme_is_split(numerics->scheme)) {
        const int four = problem->dimension == 4; /* the longest lines that are swept this way */
        const int few = is_f64 || (four && initial_box_is_fine(problem)); /* the drift is evaluated in double */

        if (tight && gbees_scheme_get(numerics->scheme)->order == 5)
            return (program_shape){8, is_f64 ? 2 : 3, 1};
        return (program_shape){8, few ? 3 : 4, four};
    }
    if (tight && !is_f64 && has_lines(problem))
        return (program_shape){10, 2, 1};
    if (has_lines(problem))
        return (program_shape){8, is_f64 ? 2 : 3, 0};
    return (program_shape){10, 2, 0};
}

program_shape shape_first(const gbees_problem *problem, int program)
{
    switch (program) {
    case PROGRAM_UPDATES:
    case PROGRAM_LIKELIHOODS:
        return (program_shape){10, 1, 0};
    case PROGRAM_MARKS: /* the model's bound is evaluated in double */
        return problem->bounded ? (program_shape){8, 3, 1} : (program_shape){8, 5, 0};
    case PROGRAM_ADVECT:
        return shape_of_advect(problem);
    case PROGRAM_PRUNES:
        return problem->dimension > 3 ? (program_shape){8, 5, 1} : (program_shape){10, 2, 0};
    case PROGRAM_INTEGRATE: /* a sample has its states and the drifts of three stages in registers */
        return (program_shape){8, problem->dimension <= 3 && !problem->model->diffusion ? 2 : 1, 0};
    case PROGRAM_FOLLOW: /* ... and the slopes of up to ten stages */
        return (program_shape){8, problem->dimension <= 3 ? 2 : 1, 0};
    default:
        return (program_shape){10, 2, program == PROGRAM_STEPS && is_heavy(problem)};
    }
}

int shape_next(program_shape *shape)
{
    static const program_shape by_registers[] = {{8, 5, 1}, {8, 4, 1},  {8, 3, 1}, {10, 2, 1},
                                                 {8, 2, 1}, {10, 1, 1}, {8, 1, 1}};
    const size_t count = sizeof by_registers / sizeof *by_registers;

    if (!shape->low_registers) {
        shape->low_registers = 1;
        return 1;
    }
    for (size_t i = 0; i + 1 < count; i++)
        if (by_registers[i].warps == shape->warps && by_registers[i].blocks == shape->blocks) {
            *shape = by_registers[i + 1];
            return 1;
        }
    return 0;
}
