/* remap.h - takes the density to the cells of another frame: a list of cells, sorts that count, passes over rows (as
 * core/frame/remap.c has them).  A warp takes a chunk of a list; a lane takes a row, in memory of its own, whose
 * entries stand beside those of the other lanes.  The order of a list depends on its cells alone, and rows are
 * computed one by one: results have the processor's bits, whatever the number of blocks. */
#ifndef GBEES_CUDA_REMAP_H
#define GBEES_CUDA_REMAP_H

#include "device/remapping.h"
#include "device/statistics.h"

#if GBEES_MOVING

#if !GBEES_REAL_IS_DOUBLE /* the formulas of split.h in double, which other kernels have in float alone */
#pragma push_macro("GBEES_REAL")
#pragma push_macro("GBEES_REAL_FN")
#undef GBEES_REAL
#undef GBEES_REAL_FN
#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/split.h"
#pragma pop_macro("GBEES_REAL")
#pragma pop_macro("GBEES_REAL_FN")
#endif
#include "numerics/row.h"

/* ---- chunks ---- */

/* The first of `count` items that belongs to a chunk. */
GBEES_NUM uint32_t chunk_first(const gbees_remapping *r, uint32_t count, uint32_t chunk)
{
    return (uint32_t)((uint64_t)count * chunk / r->chunks);
}

/* Bits of the lanes below this one. */
GBEES_NUM uint32_t lanes_below(void)
{
    return (1u << warp_lane()) - 1;
}

/* Replaces each of some values by `before` and the sum of those before it. Returns that of all. By a warp. */
GBEES_NUM uint32_t scan_values(uint32_t *values, uint32_t count, uint32_t before)
{
    for (uint32_t first = 0; first < count; first += WARP_SIZE) {
        const uint32_t at = first + (uint32_t)warp_lane(), own = at < count ? values[at] : 0;
        uint32_t sum = own;

        for (uint32_t distance = 1; distance < WARP_SIZE; distance *= 2) {
            const uint32_t other = warp_shuffle(sum, (uint32_t)warp_lane() - distance);

            sum += distance <= (uint32_t)warp_lane() ? other : 0;
        }
        if (at < count)
            values[at] = before + sum - own;
        before += warp_shuffle(sum, WARP_SIZE - 1);
    }
    return before;
}

/* Scans the counts of each class, by chunk. */
GBEES_NUM void scan_pass(const gbees_remapping *r)
{
    for (uint32_t class_ = warp_index(); class_ < r->classes; class_ += warp_count()) {
        const uint32_t sum = scan_values(r->place + class_ * r->chunks, r->chunks, 0);

        if (warp_lane() == 0)
            r->total[class_] = sum;
    }
}

GBEES_NUM void scan_totals_pass(const gbees_remapping *r)
{
    if (warp_index() == 0)
        (void)scan_values(r->total, r->classes, 0);
}

/* ---- lists ---- */

/* The range of some indices along a coordinate: REMAP_REACH less the least, REMAP_REACH plus the largest; zeros:
 * there are none. */
typedef struct index_range {
    uint32_t low, high;
} index_range;

/* Extends a range by the indices from `low` to `high`. */
GBEES_NUM void extend_range(index_range *range, int32_t low, int32_t high)
{
    const uint32_t below = (uint32_t)(REMAP_REACH - low), above = (uint32_t)(REMAP_REACH + high);

    range->low = below > range->low ? below : range->low;
    range->high = above > range->high ? above : range->high;
}

/* Notes the ranges along a coordinate that the lanes have found: once for a warp, as all warps write to one address.
 * By a warp. */
GBEES_NUM void note_range(const gbees_remapping *r, int axis, const index_range *range)
{
    const uint32_t low = warp_max_32(range->low), high = warp_max_32(range->high);

    if (warp_lane() != 0 || !low)
        return;
    atomic_max_64(&r->found->low[axis], low);
    atomic_max_64(&r->found->high[axis], high);
}

/* Lists the cells with P >= r->threshold of all bricks; at[k] is along axis k of the grid. */
GBEES_NUM void cells_pass(const gbees_remapping *r, int writes)
{
    const number enough = least_above(r->threshold), *p = (const number *)r->density;
    index_range range[DIM];

    for (int k = 0; k < DIM; k++)
        range[k].low = range[k].high = 0;
    for (uint32_t chunk = warp_index(); chunk < r->chunks; chunk += warp_count()) {
        const uint32_t end = chunk_first(r, r->count, chunk + 1);
        uint32_t place = writes ? r->place[chunk] : 0;

        for (uint32_t brick = chunk_first(r, r->count, chunk); brick < end; brick++) {
            const size_t slot = (size_t)brick + 1;
            const uint64_t cells = cells_from(p + slot * CELLS, enough);

            for (int cell = warp_lane(); writes && cell < CELLS; cell += WARP_SIZE) {
                const uint32_t to = place + (uint32_t)count_bits(cells & (((uint64_t)1 << cell) - 1));

                if (!(cells >> cell & 1))
                    continue;
                for (int k = 0; k < DIM; k++)
                    r->to.at[k][to] = r->key[slot * DIM + (size_t)k] * axis_edge(k) + cell_local(cell, k);
                r->to.p[to] = (double)p[slot * CELLS + (size_t)cell] / r->mass;
            }
            for (int k = 0; writes && cells && k < DIM; k++) {
                const int32_t low = r->key[slot * DIM + (size_t)k] * axis_edge(k);

                extend_range(&range[k], low, low + axis_edge(k) - 1);
            }
            place += (uint32_t)count_bits(cells);
        }
        if (!writes && warp_lane() == 0)
            r->place[chunk] = place;
    }
    for (int k = 0; k < DIM; k++)
        note_range(r, k, &range[k]);
}

GBEES_NUM void copy_cell(const gbees_remapping *r, uint32_t from, uint32_t to)
{
    for (int k = 0; k < DIM; k++)
        r->to.at[k][to] = r->from.at[k][from];
    r->to.p[to] = r->from.p[from];
}

/* Lists the cells with P >= r->threshold of a list, in their order. */
GBEES_NUM void large_pass(const gbees_remapping *r, int writes)
{
    for (uint32_t chunk = warp_index(); chunk < r->chunks; chunk += warp_count()) {
        const uint32_t end = chunk_first(r, r->count, chunk + 1);
        uint32_t place = writes ? r->place[chunk] : 0;

        for (uint32_t first = chunk_first(r, r->count, chunk); first < end; first += WARP_SIZE) {
            const uint32_t cell = first + (uint32_t)warp_lane();
            const int is_large = cell < end && r->from.p[cell] >= r->threshold;
            const uint32_t large = warp_ballot(is_large);

            if (writes && is_large)
                copy_cell(r, cell, place + (uint32_t)count_bits(large & lanes_below()));
            place += (uint32_t)count_bits(large);
        }
        if (!writes && warp_lane() == 0)
            r->place[chunk] = place;
    }
}

/* ---- sorts ---- */

/* The digit of a cell that is sorted by. */
GBEES_NUM uint32_t digit_of(const gbees_remapping *r, uint32_t cell)
{
    return (uint32_t)(r->from.at[r->axis][cell] - r->first) >> r->digit_shift & (REMAP_DIGITS - 1);
}

/* Sorts by a digit: a class for each. place: [REMAP_DIGITS], a warp's own. */
GBEES_NUM void digits_pass(const gbees_remapping *r, uint32_t *place, int writes)
{
    for (uint32_t chunk = warp_index(); chunk < r->chunks; chunk += warp_count()) {
        const uint32_t end = chunk_first(r, r->count, chunk + 1);

        for (int d = warp_lane(); d < REMAP_DIGITS; d += WARP_SIZE)
            place[d] = writes ? r->total[d] + r->place[(uint32_t)d * r->chunks + chunk] : 0;
        warp_sync();
        for (uint32_t first = chunk_first(r, r->count, chunk); first < end; first += WARP_SIZE) {
            const uint32_t cell = first + (uint32_t)warp_lane();
            const uint32_t digit = cell < end ? digit_of(r, cell) : REMAP_DIGITS; /* that of no cell */
            const uint32_t alike = warp_match(digit);
            const uint32_t before = (uint32_t)count_bits(alike & lanes_below());
            const uint32_t to = cell < end ? place[digit] + before : 0;

            warp_sync();
            if (cell < end && before == 0)
                place[digit] += (uint32_t)count_bits(alike);
            warp_sync();
            if (writes && cell < end)
                copy_cell(r, cell, to);
        }
        for (int d = warp_lane(); !writes && d < REMAP_DIGITS; d += WARP_SIZE)
            r->place[(uint32_t)d * r->chunks + chunk] = place[d];
        warp_sync();
    }
}

/* ---- rows ---- */

/* Whether a cell is the first of its row. */
GBEES_NUM int begins_row(const gbees_remapping *r, uint32_t cell)
{
    int begins = cell == 0;

    for (int k = 0; k < DIM && !begins; k++)
        begins = k != r->axis && r->from.at[k][cell] != r->from.at[k][cell - 1];
    return begins;
}

GBEES_NUM void find_rows_pass(const gbees_remapping *r, int writes)
{
    for (uint32_t chunk = warp_index(); chunk < r->chunks; chunk += warp_count()) {
        const uint32_t end = chunk_first(r, r->count, chunk + 1);
        uint32_t place = writes ? r->place[chunk] : 0;

        for (uint32_t first = chunk_first(r, r->count, chunk); first < end; first += WARP_SIZE) {
            const uint32_t cell = first + (uint32_t)warp_lane();
            const int begins = cell < end && begins_row(r, cell);
            const uint32_t all = warp_ballot(begins);

            if (writes && begins)
                r->row[place + (uint32_t)count_bits(all & lanes_below())] = cell;
            place += (uint32_t)count_bits(all);
        }
        if (!writes && warp_lane() == 0)
            r->place[chunk] = place;
    }
}

/* Sums what rows keep, and makes places of it. */
GBEES_NUM void kept_pass(const gbees_remapping *r, int writes)
{
    const uint32_t rows = *r->rows;

    for (uint32_t chunk = warp_index(); chunk < r->chunks; chunk += warp_count()) {
        const uint32_t from = chunk_first(r, rows, chunk), end = chunk_first(r, rows, chunk + 1);
        int64_t sum = 0;

        if (writes) {
            (void)scan_values(r->kept + from, end - from, r->place[chunk]);
            continue;
        }
        for (uint32_t row = from + (uint32_t)warp_lane(); row < end; row += WARP_SIZE)
            sum += r->kept[row];
        sum = warp_add(sum);
        if (warp_lane() == 0)
            r->place[chunk] = (uint32_t)sum;
    }
}

/* A row that a lane has in its memory. */
typedef struct remap_row {
    double *p, *other; /* [range.length], r->lanes apart; other: what the next change is written to */
    gbees_row_range range;
} remap_row;

/* Makes the row's other memory that of a range, all 0; returns 1 if it is too long. */
GBEES_NUM int clear_other(const gbees_remapping *r, const remap_row *row, gbees_row_range range)
{
    if (range.length > r->length)
        return 1;
    for (uint64_t k = 0; k < range.length; k++)
        row->other[k * r->lanes] = 0;
    return 0;
}

/* Makes the other memory, which has that range, the row's. */
GBEES_NUM void turn_over(remap_row *row, gbees_row_range range)
{
    double *const p = row->p;

    row->p = row->other;
    row->other = p;
    row->range = range;
}

/* Reads the cells first .. end - 1, which are one row; where the scale is negative, in reverse. */
GBEES_NUM int read_row(const gbees_remapping *r, uint32_t first, uint32_t end, remap_row *row)
{
    const int32_t *at = r->from.at[r->axis];
    const int reversed = r->moves && r->scale < 0;
    const gbees_row_range range = reversed ? gbees_row_around(-(int64_t)at[end - 1], -(int64_t)at[first])
                                           : gbees_row_around(at[first], at[end - 1]);

    if (clear_other(r, row, range))
        return 1;
    for (uint32_t cell = first; cell < end; cell++) {
        const int64_t index = reversed ? -(int64_t)at[cell] : (int64_t)at[cell];

        row->other[(uint64_t)(index - range.first) * r->lanes] = r->from.p[cell];
    }
    turn_over(row, range);
    return 0;
}

/* Maps the row whose first cell is `first`. */
GBEES_NUM int map_row(const gbees_remapping *r, uint32_t first, remap_row *row)
{
    const double scale = fabs(r->scale), last = (double)row->range.first + (double)row->range.length;
    double shift = r->shift;

    for (int j = 0; j < DIM; j++)
        shift += r->shear[j] * r->from.at[j][first]; /* 0 along the row */
    if (!(fabs(scale * (double)row->range.first + shift) < REMAP_REACH && fabs(scale * last + shift) < REMAP_REACH))
        return 1;
    const gbees_row_range range = gbees_row_mapped(row->range, scale, shift);
    if (clear_other(r, row, range))
        return 1;
    gbees_row_map_along(row->p, row->range, scale, shift, r->lanes, range, row->other);
    turn_over(row, range);
    return 0;
}

GBEES_NUM int spread_row(const gbees_remapping *r, remap_row *row)
{
    const int steps = gbees_row_steps(r->spread);
    const gbees_row_range range = gbees_row_widened(row->range, steps);

    if (clear_other(r, row, range))
        return 1;
    for (uint64_t k = 0; k < row->range.length; k++)
        row->other[(k + (uint64_t)(row->range.first - range.first)) * r->lanes] = row->p[k * r->lanes];
    turn_over(row, range);
    for (int k = 0; k < steps; k++)
        gbees_row_spread_along(row->p, r->lanes, range.length, r->spread / steps);
    return 0;
}

/* Applies the pass to the cells first .. end - 1, which are one row. Returns 1 if it can't. */
GBEES_NUM int take_row(const gbees_remapping *r, uint32_t first, uint32_t end, remap_row *row)
{
    if (read_row(r, first, end, row))
        return 1;
    if (r->before != 0)
        gbees_row_exchange_along(row->p, r->lanes, row->range.length, r->before);
    if (r->moves && map_row(r, first, row))
        return 1;
    if (r->spread > 0 && spread_row(r, row))
        return 1;
    if (r->after != 0)
        gbees_row_exchange_along(row->p, r->lanes, row->range.length, r->after);
    return 0;
}

/* Counts the cells of a row that are kept, and extends a range by them. */
GBEES_NUM uint32_t count_row(const gbees_remapping *r, const remap_row *row, index_range *range)
{
    uint32_t kept = 0;

    for (uint64_t k = 0; k < row->range.length; k++) {
        const double p = row->p[k * r->lanes];
        const int32_t index = (int32_t)(row->range.first + (int64_t)k);

        if (!(p > 0 && p >= r->least))
            continue;
        extend_range(range, index, index);
        kept++;
    }
    return kept;
}

/* Writes the cells of a row that are kept, from `place` on. first: a cell of it before. */
GBEES_NUM void write_row(const gbees_remapping *r, uint32_t first, const remap_row *row, uint32_t place)
{
    for (uint64_t k = 0; k < row->range.length; k++) {
        const double p = row->p[k * r->lanes];

        if (!(p > 0 && p >= r->least))
            continue;
        for (int j = 0; j < DIM; j++)
            r->to.at[j][place] = j == r->axis ? (int32_t)(row->range.first + (int64_t)k) : r->from.at[j][first];
        r->to.p[place++] = p;
    }
}

GBEES_NUM void rows_pass(const gbees_remapping *r, int writes)
{
    const uint32_t lane = warp_index() * WARP_SIZE + (uint32_t)warp_lane(), rows = *r->rows;
    const uint32_t threads = warp_count() * WARP_SIZE, stride = threads < r->lanes ? threads : r->lanes;
    index_range range = {0, 0};

    for (uint32_t k = lane; lane < r->lanes && k < rows; k += stride) {
        const uint32_t first = r->row[k], end = k + 1 < rows ? r->row[k + 1] : r->count;
        remap_row row;

        row.p = r->scratch + lane;
        row.other = row.p + (size_t)r->length * r->lanes;
        if (take_row(r, first, end, &row)) {
            r->kept[k] = writes ? r->kept[k] : 0;
            atomic_max_64(&r->found->failed, 1);
            continue;
        }
        if (writes)
            write_row(r, first, &row, r->kept[k]);
        else
            r->kept[k] = count_row(r, &row, &range);
    }
    note_range(r, r->axis, &range);
}

/* One of the passes (REMAP_...). digits: [REMAP_DIGITS], a warp's own, in the block's memory. No barrier. */
GBEES_NUM void remap_pass(const gbees_remapping *r, int pass, uint32_t *digits)
{
    const int writes = pass & 1; /* of the passes in pairs */

    switch (pass) {
    case REMAP_COUNT_CELLS:
    case REMAP_TAKE_CELLS:
        cells_pass(r, writes);
        break;
    case REMAP_COUNT_DIGITS:
    case REMAP_MOVE_CELLS:
        digits_pass(r, digits, writes);
        break;
    case REMAP_COUNT_ROWS:
    case REMAP_FIND_ROWS:
        find_rows_pass(r, writes);
        break;
    case REMAP_MEASURE_ROWS:
    case REMAP_WRITE_ROWS:
        rows_pass(r, writes);
        break;
    case REMAP_COUNT_KEPT:
    case REMAP_PLACE_KEPT:
        kept_pass(r, writes);
        break;
    case REMAP_COUNT_LARGE:
    case REMAP_TAKE_LARGE:
        large_pass(r, writes);
        break;
    case REMAP_SCAN:
        scan_pass(r);
        break;
    default:
        scan_totals_pass(r);
    }
}

#endif

#endif
