/* plan.c - see plan.h.
 *
 * Sorts: an order is a list of the coordinates, the slowest first; the cells of a row lie together where its axis is
 * the last. A sort by one coordinate that keeps equals in place makes it the slowest, and the others follow as they
 * were. So where the last axis k is preceded by k - 1, ..., 0, n - 1, ..., k + 1, slowest first, one sort makes k + 1
 * the last: orders for passes by rising axes. Those for falling axes are the mirror image.
 */
#include "plan.h"
#include "passes.h"
#include <string.h>

/* After each pass cells below this part of `least` are dropped: cells that passes add at the density's edge would
 * otherwise be most of all cells. In six dimensions a thousandth in its place keeps less than a tenth of the dropped
 * mass, and takes twice as long. */
static const double least_part = 0.1;

static const double to_averages = 1.0 / 24, to_centres = -1.0 / 24;

/* A plan that is being made. */
typedef struct planner {
    gbees_remap_plan *plan;
    int order[GBEES_MAX_DIM];   /* of the cells, so far */
    int centres[GBEES_MAX_DIM]; /* by coordinate: whether cells hold values at centres */
} planner;

/* ---- sorts ---- */

/* Notes in sorts[] the sorts that bring the cells from their order to another; returns their number. Those by the
 * slowest axes are needed, before the longest end of the wanted order whose axes follow each other in the present
 * one. */
static int sort_to(planner *p, const int *wanted, int *sorts)
{
    const int n = p->plan->n;
    int place[GBEES_MAX_DIM], k = n - 1;

    for (int j = 0; j < n; j++)
        place[p->order[j]] = j;
    while (k > 0 && place[wanted[k - 1]] < place[wanted[k]])
        k--;
    for (int j = 0; j < k; j++)
        sorts[j] = wanted[k - 1 - j];
    memcpy(p->order, wanted, (size_t)n * sizeof *wanted);
    return k;
}

/* Adds a pass along an axis; rising: that of the next pass is a larger one. */
static gbees_remap_pass *add_pass(planner *p, int axis, int rising)
{
    const int n = p->plan->n;
    gbees_remap_pass *pass = &p->plan->pass[p->plan->count++];
    int wanted[GBEES_MAX_DIM] = {0};

    *pass = (gbees_remap_pass){.axis = axis};
    for (int j = 0; j < n; j++)
        wanted[n - 1 - j] = rising ? (axis + j) % n : (axis + n - j) % n;
    pass->sort_count = sort_to(p, wanted, pass->sorts);
    return pass;
}

/* ---- passes ---- */

/* Whether, from pass number k on, a pass shifts rows by their coordinate along `axis` before one moves rows along
 * this axis. If so, P must be values at centres along the axis; else, and after the last pass, averages. */
static int is_read_next(const gbees_passes *passes, int k, int axis)
{
    for (; k < passes->count && passes->pass[k].axis != axis; k++)
        if (passes->pass[k].shear[axis] != 0)
            return 1;
    return 0;
}

/* Makes values at centres along the axes that the passes read before they move rows along them. */
static void add_first(planner *p, const gbees_passes *passes)
{
    for (int j = 0; j < passes->n; j++) {
        p->centres[j] = is_read_next(passes, 0, j);
        if (p->centres[j])
            add_pass(p, j, 1)->after = to_centres;
    }
}

/* Adds pass number k. */
static void add_map(planner *p, const gbees_passes *passes, int k)
{
    const gbees_pass *map = &passes->pass[k];
    const int axis = map->axis;
    gbees_remap_pass *pass = add_pass(p, axis, k + 1 < passes->count && passes->pass[k + 1].axis > axis);

    pass->moves = 1;
    pass->scale = map->scale;
    pass->shift = map->shift;
    memcpy(pass->shear, map->shear, sizeof pass->shear);
    pass->before = p->centres[axis] ? to_averages : 0;
    p->centres[axis] = is_read_next(passes, k + 1, axis);
    pass->after = p->centres[axis] ? to_centres : 0;
}

/* The least variance of a convolution. */
static const double least_convolved = 0.4;

/* Makes averages, and spreads them. */
static void add_last(planner *p, const gbees_passes *passes, const gbees_remap_options *options)
{
    const double *spread = options->spread;

    for (int j = 0; j < passes->n; j++) {
        const double variance = spread ? spread[passes->to[j]] : 0;

        if (!p->centres[j] && !(variance > 0))
            continue;
        gbees_remap_pass *pass = add_pass(p, j, 1);
        pass->before = p->centres[j] ? to_averages : 0;
        *(options->convolves && variance > least_convolved ? &pass->convolved : &pass->spread) = variance;
    }
}

/* Sets order[j] to the coordinate that is axis j of a list; axis[k]: that of coordinate k. */
static void set_order(int n, const int *axis, int *order)
{
    for (int k = 0; k < n; k++)
        order[axis[k]] = k;
}

int gbees_remap_plan_find(const gbees_moving_frame *from, const gbees_moving_frame *to,
                          const gbees_remap_options *options, gbees_remap_plan *plan, gbees_error *error)
{
    gbees_passes passes;
    planner p = {.plan = plan};
    int last[GBEES_MAX_DIM] = {0};
    const int status = gbees_passes_find(from, to, &passes, error);

    if (status)
        return status;
    *plan = (gbees_remap_plan){.n = passes.n, .least = options->least, .least_between = least_part * options->least};
    memcpy(plan->from, passes.from, sizeof plan->from);
    memcpy(plan->to, passes.to, sizeof plan->to);
    set_order(passes.n, passes.from, p.order);
    set_order(passes.n, passes.to, last);
    add_first(&p, &passes);
    for (int k = 0; k < passes.count; k++)
        add_map(&p, &passes, k);
    add_last(&p, &passes, options);
    plan->sort_count = sort_to(&p, last, plan->sorts);
    return GBEES_OK;
}
