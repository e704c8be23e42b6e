/* remap.c - takes the density to the cells of another frame on the GPU: launches the passes of device/remap.h by the
 * solver's plan. What is not possible there (memory, cells too far apart) is left to the processor. */
#include "base/array.h"
#include "engine.h"
#include "launch.h"
#include "load.h"
#include <float.h>
#include <gbees/remap.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)REMAP_REACH == (int)GBEES_REMAP_REACH, "device code has no public header for it");

enum {
    CHUNK_CELLS = 1024,     /* of a list's chunk, at least, unless it has fewer */
    RANGE_MOST = 1 << 18,   /* cells along an axis, as core/frame/sparse.c has it */
    COUNT_MOST = 1 << 30,   /* cells of a list */
    SCRATCH_MOST = 1 << 30, /* bytes */
    KEPT_BYTES = 256 << 20, /* of memory that stays for the next remap, at most */
    DIGIT_BITS = 8
};

static const char doing[] = "taking cells to another frame";

/* What the passes find, and their counts, in the GPU's memory. */
typedef struct counts {
    gbees_remap_found found;
    uint32_t kept, total[REMAP_DIGITS], rows; /* kept: of a pass with one class */
    uint32_t place[REMAP_DIGITS * REMAP_CHUNKS];
} counts;

/* A remap that is going on. */
typedef struct remapper {
    gbees_engine *e;
    const gbees_remap_plan *plan;
    gbees_remapping r;                               /* what the kernel takes */
    int list;                                        /* which of e->remap.list has the cells */
    int gave_up;                                     /* 1: the processor has to do it */
    uint32_t count;                                  /* cells */
    int32_t low[GBEES_MAX_DIM], high[GBEES_MAX_DIM]; /* all indices along a coordinate lie between them */
} remapper;

/* ---- memory ---- */

/* Makes an array hold at least `size` bytes; gives up if there is no memory. */
static void reserve(remapper *m, device_array *array, double size)
{
    gbees_error ignored;
    device_memory *memory = &m->e->memory;

    if (m->gave_up || size <= (double)array->size)
        return;
    m->gave_up =
        size > (double)memory->total || device_array_grow(memory, array, (size_t)size, memory->total, &ignored) != 0;
}

static size_t cell_bytes(const remapper *m)
{
    return sizeof(double) + (size_t)m->plan->n * sizeof(int32_t);
}

/* Makes one of the lists hold `count` cells. */
static void reserve_list(remapper *m, int which, uint32_t count)
{
    device_array *list = &m->e->remap.list[which];
    const double size = (double)cell_bytes(m) * (count + 64.0);

    if (size > (double)list->size)
        reserve(m, list, 1.25 * size);
}

/* The arrays of one of the lists: all of p, then of each coordinate. */
static gbees_cell_arrays arrays_of(const remapper *m, int which)
{
    const device_array *list = &m->e->remap.list[which];
    const size_t capacity = list->size / cell_bytes(m) / 2 * 2;
    gbees_cell_arrays arrays = {.p = list->at};

    for (int k = 0; k < m->plan->n; k++)
        arrays.at[k] = list->at + capacity * (sizeof(double) + (size_t)k * sizeof(int32_t));
    return arrays;
}

/* Sets the arrays from which, and to which, the next passes go. */
static void set_lists(remapper *m)
{
    m->r.from = arrays_of(m, m->list);
    m->r.to = arrays_of(m, 1 - m->list);
}

void engine_remap_free(gbees_engine *e)
{
    device_array *all[] = {&e->remap.list[0], &e->remap.list[1], &e->remap.counts, &e->remap.rows, &e->remap.scratch};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        device_array_free(&e->memory, all[k]);
}

/* ---- launches ---- */

/* Divides `count` items into chunks. */
static void set_items(remapper *m, uint32_t count)
{
    const uint32_t chunks = count / CHUNK_CELLS + 1;

    m->r.count = count;
    m->r.chunks = chunks < REMAP_CHUNKS ? chunks : REMAP_CHUNKS;
}

static int launch(remapper *m, int pass, gbees_error *error)
{
    void *arguments[] = {&m->r, &pass};

    return engine_start(m->e, KERNEL_REMAP, arguments, error);
}

/* Launches a pass that counts, and makes places of its counts; the sum of each class goes to r.total. */
static int launch_count(remapper *m, int pass, uint32_t classes, size_t total, gbees_error *error)
{
    m->r.classes = classes;
    m->r.total = m->e->remap.counts.at + total;
    int status = launch(m, pass, error);
    return status ? status : launch(m, REMAP_SCAN, error);
}

static int clear_found(remapper *m, gbees_error *error)
{
    return cuda_check(m->e->api,
                      m->e->api->cuMemsetD8Async(m->e->remap.counts.at, 0, sizeof(gbees_remap_found), m->e->stream),
                      doing, error);
}

/* What the passes have found, and the sum of the last counts. */
typedef struct findings {
    gbees_remap_found found;
    uint32_t kept;
} findings;

static int fetch_found(remapper *m, findings *to, gbees_error *error)
{
    const size_t size = offsetof(findings, kept) + sizeof to->kept;
    const int status = device_fetch(&m->e->memory, to, m->e->remap.counts.at, size, doing, error);

    if (!status && (to->found.failed || to->kept > COUNT_MOST))
        m->gave_up = 1;
    return status;
}

/* ---- steps of a remap ---- */

/* Notes the range of the indices along a coordinate, which `found` has under `axis`. */
static void note_range(remapper *m, int coordinate, const gbees_remap_found *found, int axis)
{
    m->low[coordinate] = found->low[axis] ? (int32_t)(REMAP_REACH - (int64_t)found->low[axis]) : 0;
    m->high[coordinate] = found->high[axis] ? (int32_t)((int64_t)found->high[axis] - REMAP_REACH) : 0;
}

/* Lists the density's cells with P of at least fraction p*. Coordinate k is axis plan->from[k]. */
static int take_cells(remapper *m, double fraction, gbees_error *error)
{
    gbees_engine *e = m->e;
    const double mass = e->state->run.ledger.mass;
    findings got;

    set_items(m, e->state->count);
    m->r.density = e->rows[e->state->current].at;
    m->r.key = e->key.at;
    m->r.mass = mass;
    m->r.threshold = fmax(fraction * e->budget.threshold * mass, e->real_size == sizeof(float) ? FLT_MIN : DBL_MIN);
    int status = clear_found(m, error);
    if (!status)
        status = launch_count(m, REMAP_COUNT_CELLS, 1, offsetof(counts, kept), error);
    if (!status)
        status = fetch_found(m, &got, error);
    if (!status)
        reserve_list(m, m->list, got.kept);
    if (status || m->gave_up)
        return status;
    const gbees_cell_arrays arrays = arrays_of(m, m->list);
    m->r.to.p = arrays.p;
    for (int k = 0; k < m->plan->n; k++)
        m->r.to.at[m->plan->from[k]] = arrays.at[k];
    m->count = got.kept;
    status = launch(m, REMAP_TAKE_CELLS, error);
    if (!status)
        status = fetch_found(m, &got, error);
    for (int k = 0; k < m->plan->n; k++)
        note_range(m, k, &got.found, m->plan->from[k]);
    return status;
}

/* Sorts by the index along a coordinate; equals stay in place. */
static int sort_by(remapper *m, int axis, gbees_error *error)
{
    const int64_t range = (int64_t)m->high[axis] - m->low[axis];
    int status = 0;

    m->gave_up = m->gave_up || range >= RANGE_MOST;
    reserve_list(m, 1 - m->list, m->count);
    m->r.axis = axis;
    m->r.first = m->low[axis];
    set_items(m, m->count);
    for (int shift = 0; range >> shift > 0 && !status && !m->gave_up; shift += DIGIT_BITS) {
        set_lists(m);
        m->r.digit_shift = shift;
        status = launch_count(m, REMAP_COUNT_DIGITS, REMAP_DIGITS, offsetof(counts, total), error);
        if (!status)
            status = launch(m, REMAP_SCAN_TOTALS, error);
        if (!status)
            status = launch(m, REMAP_MOVE_CELLS, error);
        m->list = 1 - m->list;
    }
    return status;
}

static int sort_all(remapper *m, const int *sorts, int count, gbees_error *error)
{
    int status = 0;

    for (int k = 0; k < count && !status && !m->gave_up; k++)
        status = sort_by(m, sorts[k], error);
    return status;
}

/* Takes memory for rows: for each of some lanes two of the largest length that a row may have. */
static void reserve_rows(remapper *m, const gbees_remap_pass *pass)
{
    const int n_margins = 32; /* cells that maps and diffusion may add beside what is computed here */
    const double range = (double)m->high[pass->axis] - m->low[pass->axis] + 1 + n_margins;
    const double scale = pass->moves ? fabs(pass->scale) : 1;
    const double length = fmax(1, scale) * range + n_margins + 8 * ceil(fmax(pass->spread, 0));
    const unsigned threads = (unsigned)m->e->most_blocks[KERNEL_REMAP] * m->e->warps[KERNEL_REMAP] * ENGINE_WARP_SIZE;
    const double most = fmin(SCRATCH_MOST, (double)m->e->memory.total / 8), bytes = 2 * length * sizeof(double);
    const double lanes = fmin(fmin(threads, m->count + 1.0), floor(most / bytes));

    m->gave_up = m->gave_up || lanes < 1;
    reserve(m, &m->e->remap.scratch, lanes * bytes);
    reserve(m, &m->e->remap.rows, 2.5 * sizeof(uint32_t) * (m->count + 1.0));
    m->r.lanes = (uint32_t)fmax(lanes, 0);
    m->r.length = (uint32_t)length;
    m->r.scratch = m->e->remap.scratch.at;
    m->r.row = m->e->remap.rows.at;
    m->r.kept = m->r.row + (m->count + (uint64_t)1) * sizeof(uint32_t);
    m->r.rows = m->e->remap.counts.at + offsetof(counts, rows);
}

/* Sets what the kernel takes of a pass. */
static void set_pass(remapper *m, const gbees_remap_pass *pass)
{
    gbees_remapping *r = &m->r;

    r->axis = pass->axis;
    r->moves = pass->moves;
    r->scale = pass->scale;
    r->shift = pass->shift;
    memcpy(r->shear, pass->shear, sizeof pass->shear);
    r->before = pass->before;
    r->after = pass->after;
    r->spread = pass->spread;
    r->least = m->plan->least_between;
}

/* Applies a pass to all rows. */
static int pass_rows(remapper *m, const gbees_remap_pass *pass, gbees_error *error)
{
    findings got;
    int status = sort_all(m, pass->sorts, pass->sort_count, error);

    if (status || m->gave_up)
        return status;
    reserve_rows(m, pass);
    if (m->gave_up)
        return 0;
    set_items(m, m->count);
    set_lists(m);
    set_pass(m, pass);
    status = launch_count(m, REMAP_COUNT_ROWS, 1, offsetof(counts, rows), error);
    if (!status)
        status = launch(m, REMAP_FIND_ROWS, error);
    if (!status)
        status = clear_found(m, error);
    if (!status)
        status = launch(m, REMAP_MEASURE_ROWS, error);
    if (!status)
        status = launch_count(m, REMAP_COUNT_KEPT, 1, offsetof(counts, kept), error);
    if (!status)
        status = launch(m, REMAP_PLACE_KEPT, error);
    if (!status)
        status = fetch_found(m, &got, error);
    if (!status)
        reserve_list(m, 1 - m->list, got.kept);
    if (status || m->gave_up)
        return status;
    set_lists(m);
    status = launch(m, REMAP_WRITE_ROWS, error);
    m->list = 1 - m->list;
    m->count = got.kept;
    note_range(m, pass->axis, &got.found, pass->axis);
    return status;
}

/* Drops the cells with P below plan->least. */
static int drop_small(remapper *m, gbees_error *error)
{
    findings got;

    set_items(m, m->count);
    m->r.threshold = m->plan->least;
    reserve_list(m, 1 - m->list, m->count);
    if (m->gave_up)
        return 0;
    set_lists(m);
    int status = launch_count(m, REMAP_COUNT_LARGE, 1, offsetof(counts, kept), error);
    if (!status)
        status = launch(m, REMAP_TAKE_LARGE, error);
    if (!status)
        status = fetch_found(m, &got, error);
    m->list = 1 - m->list;
    m->count = status ? 0 : got.kept;
    return status;
}

/* Fetches the list; axis plan->to[k] of it is coordinate k. */
static int fetch_list(remapper *m, gbees_initial_cells *to, gbees_error *error)
{
    const cuda_api *api = m->e->api;
    const gbees_cell_arrays arrays = arrays_of(m, m->list);
    const size_t count = m->count;
    int whole = (to->p = gbees_array_create(count, sizeof *to->p)) != NULL;
    CUresult result = CUDA_SUCCESS;

    for (int k = 0; k < m->plan->n; k++)
        whole = (to->index[k] = gbees_array_create(count, sizeof *to->index[k])) != NULL && whole;
    if (!whole)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %zu cells of another frame", count);
    if (count > 0)
        result = api->cuMemcpyDtoHAsync(to->p, arrays.p, count * sizeof *to->p, m->e->stream);
    for (int k = 0; k < m->plan->n && count > 0 && !result; k++)
        result =
            api->cuMemcpyDtoHAsync(to->index[m->plan->to[k]], arrays.at[k], count * sizeof(int32_t), m->e->stream);
    if (!result)
        result = api->cuStreamSynchronize(m->e->stream);
    to->count = count;
    return cuda_check(api, result, doing, error);
}

/* Sorts the density's cells, which come in any order, lexicographically, but for the coordinates that are sorted by
 * next, in whose sorts their order would be lost. */
static int sort_cells(remapper *m, gbees_error *error)
{
    const gbees_remap_plan *plan = m->plan;
    const int *next = plan->count > 0 ? plan->pass[0].sorts : plan->sorts;
    const int next_count = plan->count > 0 ? plan->pass[0].sort_count : plan->sort_count;
    int coordinate[GBEES_MAX_DIM] = {0}, is_next[GBEES_MAX_DIM] = {0}, status = 0;

    for (int k = 0; k < plan->n; k++)
        coordinate[plan->from[k]] = k;
    for (int k = 0; k < next_count; k++)
        is_next[next[k]] = 1;
    for (int j = plan->n - 1; j >= 0 && !status && !m->gave_up; j--)
        if (!is_next[coordinate[j]])
            status = sort_by(m, coordinate[j], error);
    return status;
}

/* Takes the density through all passes; m->gave_up tells whether that was possible. */
static int take_all(remapper *m, double fraction, gbees_error *error)
{
    const gbees_remap_plan *plan = m->plan;
    int status = take_cells(m, fraction, error);

    if (!status && !m->gave_up)
        status = sort_cells(m, error);
    for (int k = 0; k < plan->count && !status && !m->gave_up; k++)
        status = pass_rows(m, &plan->pass[k], error);
    if (!status && !m->gave_up)
        status = sort_all(m, plan->sorts, plan->sort_count, error);
    return status || m->gave_up ? status : drop_small(m, error);
}

int cuda_engine_remap(gbees_engine *e, const gbees_remap_plan *plan, double fraction, gbees_initial_cells *cells,
                      int *done, gbees_error *error)
{
    remapper m = {.e = e, .plan = plan};
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), doing, error);

    *done = 0;
    if (!status)
        status = engine_take_program(e, PROGRAM_REMAP, 0, error);
    if (status || !e->kernel[KERNEL_REMAP])
        return status;
    reserve(&m, &e->remap.counts, sizeof(counts));
    m.r.place = e->remap.counts.at + offsetof(counts, place);
    m.r.found = e->remap.counts.at;
    if (!m.gave_up)
        status = take_all(&m, fraction, error);
    if (!status && !m.gave_up) {
        status = fetch_list(&m, cells, error);
        *done = !status;
    }
    if (e->remap.list[0].size + e->remap.list[1].size + e->remap.scratch.size > KEPT_BYTES)
        engine_remap_free(e);
    return status;
}
