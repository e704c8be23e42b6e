/* kernel.c - the kernels of one instruction set and precision (target.h), and their table; see kernel.h. */
#include "kernel.h"
#include "ctu.h"
#include "diffusion.h"
#include "inspect.h"
#include "moments.h"
#include "split_sweep.h"
#include "target.h"

#define TABLE PASTE(PASTE(PASTE(cpu_kernel_, GBEES_ISA), _f), GBEES_REAL_BITS)
const kernel TABLE = {
    .inspect = inspect,
    .find_flow = find_flow,
    .transverse = transverse,
    .find_limiter = find_limiter,
    .update = update,
    .update_limited = update_limited,
    .sweep = sweep,
    .diffuse = diffuse,
    .sum_rows = sum_rows,
    .mark_rows = mark_rows,
    .to_planes = regroup,
    .moments = moments,
};
