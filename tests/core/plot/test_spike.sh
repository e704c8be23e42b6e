#!/bin/sh
# test_spike.sh - Lorenz '63 at t = 1: the spike of the marginal at x = 0 is the grid's, and becomes less with narrower
# cells (doc/models.md). Samples are level there.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment

# surplus NAME FACTORS: writes the part of the mass by which the columns near x = 0 exceed those beside them.
surplus() {
    "$programs/gbees-run" --plugin lorenz63 --backend cpu --progress none --audit off --output "$1" --until 1 \
        --set accuracy=0 --set "factor=$2" --set extent=3.35 --set mass_budget_total=0.005 --set scheme=split7-mp \
        --set measurements=[] --set records=1 >log 2>&1 || { cat log && exit 1; }
    "$programs/gbees-export" --format csv "$1" "$1-csv" >log 2>&1 || { cat log && exit 1; }
    awk -F, 'NR > 1 {
        if ($1 * $1 < 0.15 * 0.15) near[$1] += $NF
        else if ($1 * $1 < 1) { beside += $NF; if (!($1 in seen)) { seen[$1]; columns++ } }
    } END {
        for (x in near) if (near[x] > beside / columns) sum += near[x] - beside / columns
        print sum
    }' "$1-csv/leg0_record1.csv"
}

coarse=$(surplus coarse '[7.94, 3.5, 1.79]') && fine=$(surplus fine '[15.9, 7, 3.6]') || exit 1
echo "surplus near x = 0: $coarse, with cells of half the width $fine"
awk "BEGIN { exit !($coarse > 0.001 && $fine > 0 && $fine < 0.6 * $coarse) }" ||
    fail "the spike does not become less as it should: $coarse, $fine"
exit "$bad"
