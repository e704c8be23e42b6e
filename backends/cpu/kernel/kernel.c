/* kernel.c - the kernels of one instruction set and precision (target.h), and their table; see kernel.h. */
#include "kernel.h"
#include "ctu.h"
#include "diffusion.h"
#include "inspect.h"
#include "moments.h"
#include "split_sweep.h"
#include "target.h"

const kernel SYMBOL(cpu_kernel) = {
    .inspect = inspect,
    .find_flow = find_flow,
    .transverse = SYMBOL(cpu_transverse),
    .update = SYMBOL(cpu_update),
    .sweep = SYMBOL(cpu_sweep),
    .diffuse = diffuse,
    .sum_rows = sum_rows,
    .mark_rows = mark_rows,
    .to_planes = regroup,
    .moments = moments,
};
