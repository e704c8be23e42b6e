/* kernel_table.c - the table of kernels and programs, and the rules that
 * tell which programs a problem needs. */
#include "kernel_table.h"

const kernel_entry kernel_table[KERNELS] = {
    [KERNEL_START] = {"gbees_start", "setting up the grid", PROGRAM_GRID, 0, 0},
    [KERNEL_REHASH] = {"gbees_rehash", "filling the hash table again", PROGRAM_PRUNES, 0, 0},
    [KERNEL_ADVANCE] = {"gbees_advance", "advancing the density", PROGRAM_STEPS, 1, 0},
    [KERNEL_ADVECT] = {"gbees_advect", "advancing the density", PROGRAM_ADVECT, 0, 0},
    [KERNEL_MARK] = {"gbees_mark", "advancing the density", PROGRAM_MARKS, 0, 0},
    [KERNEL_ADVECT_ALL] = {"gbees_advect_all", "advancing the density", PROGRAM_ADVECT_ALL, 1, 2},
    [KERNEL_PRUNE] = {"gbees_prune", "pruning the grid", PROGRAM_PRUNES, 1, 1},
    [KERNEL_COUNT] = {"gbees_count", "counting cells", PROGRAM_PRUNES, 0, 0},
    [KERNEL_FIND_BEST] = {"gbees_find_best", "comparing with a measurement", PROGRAM_LIKELIHOODS, 0, 0},
    [KERNEL_MULTIPLY] = {"gbees_multiply", "updating with a measurement", PROGRAM_UPDATES, 0, 0},
    [KERNEL_SCALE] = {"gbees_scale", "normalising the density", PROGRAM_GRID, 0, 0},
    [KERNEL_STATISTICS] = {"gbees_statistics", "computing moments", PROGRAM_GRID, 0, 0},
    [KERNEL_PACK] = {"gbees_pack", "packing cells", PROGRAM_GRID, 0, 0},
    [KERNEL_RANGE] = {"gbees_range", "computing marginals", PROGRAM_GRID, 0, 0},
    [KERNEL_MARGINALS] = {"gbees_marginal_sums", "computing marginals", PROGRAM_GRID, 0, 0},
    [KERNEL_FRAME] = {"gbees_frame", "moving the grid", PROGRAM_FRAME, 0, 0},
    [KERNEL_REMAP] = {"gbees_remap", "taking cells to another frame", PROGRAM_REMAP, 0, 0},
    [KERNEL_GROW] = {"gbees_grow", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_LINK] = {"gbees_link", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_RELINK] = {"gbees_relink", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_SELECT] = {"gbees_select", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_KEYS] = {"gbees_keys", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_SAMPLE] = {"gbees_sample", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_INSERT] = {"gbees_insert", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_COPY_ROWS] = {"gbees_copy_rows", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_COPY_MARKS] = {"gbees_copy_marks", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_STAY] = {"gbees_stay", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_KEEP] = {"gbees_keep", "sharing the grid among GPUs", PROGRAM_RANKS, 0, 0},
    [KERNEL_INSPECT] = {"gbees_inspect", "advancing the density", PROGRAM_RANKS, 0, 0},
    [KERNEL_NOISE_RATES] = {"gbees_noise_rates", "advancing the density", PROGRAM_RANKS, 0, 0},
    [KERNEL_DIFFUSE] = {"gbees_diffuse", "advancing the density", PROGRAM_RANKS, 0, 0},
    [KERNEL_INTEGRATE] = {"gbees_integrate", "integrating samples", PROGRAM_INTEGRATE, 0, 0},
    [KERNEL_FOLLOW] = {"gbees_follow", "integrating samples", PROGRAM_FOLLOW, 0, 0},
};

const char *program_define(int program)
{
    static const char *const defines[PROGRAMS] = {
        [PROGRAM_STEPS] = "GBEES_KERNELS=GBEES_KERNELS_ADVANCE",
        [PROGRAM_GRID] = "GBEES_KERNELS=GBEES_KERNELS_GRID",
        [PROGRAM_UPDATES] = "GBEES_KERNELS=GBEES_KERNELS_UPDATE",
        [PROGRAM_ADVECT] = "GBEES_KERNELS=GBEES_KERNELS_ADVECT",
        [PROGRAM_PRUNES] = "GBEES_KERNELS=GBEES_KERNELS_PRUNE",
        [PROGRAM_MARKS] = "GBEES_KERNELS=GBEES_KERNELS_MARK",
        [PROGRAM_LIKELIHOODS] = "GBEES_KERNELS=GBEES_KERNELS_LIKELIHOOD",
        [PROGRAM_ADVECT_ALL] = "GBEES_KERNELS=GBEES_KERNELS_ADVECT_ALL",
        [PROGRAM_FRAME] = "GBEES_KERNELS=GBEES_KERNELS_FRAME",
        [PROGRAM_REMAP] = "GBEES_KERNELS=GBEES_KERNELS_REMAP",
        [PROGRAM_RANKS] = "GBEES_KERNELS=GBEES_KERNELS_RANKS",
        [PROGRAM_INTEGRATE] = "GBEES_KERNELS=GBEES_KERNELS_INTEGRATE",
        [PROGRAM_FOLLOW] = "GBEES_KERNELS=GBEES_KERNELS_FOLLOW",
    };

    return defines[program];
}

int kernels_have_updates(const gbees_problem *problem)
{
    return problem->arriving ? problem->model->measurement_count > 0
                             : problem->measurement_count > 0 && problem->measurements[0].time <= problem->end;
}

/* Not in up to three dimensions: grids do not become large enough to gain by it. Nor with noise that is not in the
 * sweeps: its passes are of the kernel for steps. */
int kernels_have_advect(const gbees_problem *problem)
{
    return problem->dimension > 3 && (!gbees_problem_engine_noise(problem) || gbees_problem_noise_in_sweeps(problem));
}

/* From five dimensions on grids are hardly ever small, and each axis adds a sweep to the kernel for steps, which
 * would take longer to compile. */
int kernels_always_advect_apart(const gbees_problem *problem)
{
    return problem->dimension > 4 && kernels_have_advect(problem);
}

int program_is_wanted(const gbees_problem *problem, int program)
{
    switch (program) {
    case PROGRAM_UPDATES:
    case PROGRAM_LIKELIHOODS:
        return kernels_have_updates(problem);
    case PROGRAM_ADVECT:
    case PROGRAM_MARKS:
        return kernels_have_advect(problem);
    case PROGRAM_ADVECT_ALL:
        return kernels_always_advect_apart(problem);
    case PROGRAM_FRAME:
    case PROGRAM_REMAP:
        return problem->moving;
    case PROGRAM_INTEGRATE:
    case PROGRAM_FOLLOW:
    case PROGRAM_RANKS:
        return 0;
    default:
        return 1;
    }
}

int program_has_samples(int program)
{
    return program == PROGRAM_INTEGRATE || program == PROGRAM_FOLLOW;
}

int program_is_shared(int program)
{
    return program == PROGRAM_RANKS || program == PROGRAM_ADVECT || program == PROGRAM_MARKS;
}
