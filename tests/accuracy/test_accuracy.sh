#!/bin/sh
# test_accuracy.sh - the tables of doc/models.md on the smallest models with few samples: which lines there are, that
# samples are weighted by measurements as the grid is, and refusals.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
grep -q 'accuracy/accuracy' "$top_build/Makefile" || skip "gbees was configured without what measures accuracy"
make -s -C "$top_build" tests/accuracy/accuracy tests/accuracy/chart >/dev/null || exit 99
enter_scratch
clean_environment
unset MODELS ETAS SETS SCHEME SCHEMES PROBLEMS UNTIL FINE LONG LIMIT GBEES_RUN ACCURACY CHART
models=$top_src/tests/accuracy/models accuracy=$top_build/tests/accuracy/accuracy
SAMPLES=20000 THREADS=1
export SAMPLES THREADS

# line FILE NUMBER CONDITION-IN-AWK: of its columns; m, s and k are the means', sigmas' and Kolmogorov's columns' axes,
# which the tables of models have behind a column of their own.
line() {
    awk -F'\t' "NR == $2 { a = NF - 5; split(\$a, m, \",\"); split(\$(a + 1), s, \",\"); split(\$(a + 2), k, \",\"); good = $3 }
        END { exit !good }" "$1" || fail "line $2 of $1 is not: $3"
}

# A linear model with its measurement: the truth of a wrong weight, or of none, would be a standard deviation away.
calls 0 env MODELS=linear "$models" "$top_build" one
test "$(wc -l <one/legs.tsv)" -eq 6 || fail "not three lines for each eta"
line one/legs.tsv 4 '$1 == "linear" && $2 == 0.5 && $5 == 3 && $6 == "prior" && $7 == 0.5 && $8 == 2.5e-9'
line one/legs.tsv 5 '$5 == 3 && $6 == "posterior" && $19 < 10000 && $19 > 2000'
line one/legs.tsv 6 '$5 == 6 && $6 == "prior"'
line one/legs.tsv 4 'm[1]^2 < 4e-4 && m[2]^2 < 4e-4 && (s[1] - 1)^2 < 1e-4 && (s[2] - 1)^2 < 1e-4 && k[1] < .02 && k[2] < .02'
line one/legs.tsv 5 'm[1]^2 < 3e-3 && m[2]^2 < 3e-3 && (s[1] - 1)^2 < 2e-3 && (s[2] - 1)^2 < 2e-3 && k[1] < .04 && k[2] < .04'
line one/legs.tsv 4 '$18 > .998 && $20 > .9999'
has one/report.md '| `linear` | 3 | posterior | 0.5 | 0.5 | 2.5e-09 | '
has one/report.md '- `linear`: 0.0'

# A scenario by its name, other widths by axis, and a key for all.
calls 0 env MODELS=poe2bp:published ETAS="1 0.5" SETS="end=0.02 threshold=1e-8" "$models" "$top_build" two
test "$(wc -l <two/legs.tsv)" -eq 2 || fail "not one line for each eta"
line two/legs.tsv 1 '$1 == "poe2bp:published" && $7 == 0.25 && $8 == 1e-8'
line two/legs.tsv 2 '$2 == 0.5 && $7 == 0.125 && $8 == 2.5e-9 && $19 == 20000'
grep -qx 'factor: \[8, 5\]' two/poe2bp-published-eta0.5/scenario.yaml || fail "its factor is not [8, 5]"

# The truth from a table: moments, and nothing else.
calls 0 "$programs/gbees-run" --quiet --backend cpu --threads 1 --plugin lorenz63 --set factor=0.5 --set records=1 \
    --until 0.25 --output three
calls 0 "$accuracy" --truth "$top_src/tests/data/golden/montecarlo.txt" --legs table three
has out "$(printf -- '\t-,-,-\t-\t2000000\t')"
calls 1 "$accuracy" --truth "$top_src/tests/data/golden/montecarlo.txt" --legs table one/linear-eta1
has err "does not have all 2 axes of linear at t = 3"

# Samples in place of a run: nearer to the truth than cells as wide as a standard deviation.
calls 0 "$accuracy" --samples 100000 --threads 1 --sampling 20000 --row "Monte Carlo" three
mv out samples.tsv
calls 0 "$accuracy" --samples 100000 --threads 1 --row grid three
cat samples.tsv out >rows.tsv
awk -F'\t' 'NR == 1 { good = $1 == "Monte Carlo" && $4 == "-" && $8 == 20000 && $7 == $6 * $8 && $9 > 0; m = $11; s = $12 }
    NR == 2 { good = good && $1 == "grid" && m < 0.05 && m < $11 && s < $12 } END { exit !good }' rows.tsv ||
    fail "samples: $(cat rows.tsv)"
calls 0 "$accuracy" --truth "$top_src/tests/data/golden/montecarlo.txt" --full --sampling 20000 --row table three
awk -F'\t' '{ good = $11 < 0.03 && $12 < 0.03 && $13 == "-" } END { exit !good }' out || fail "samples beside a table"

# The table of schemes and its picture: a panel for each error, with a line for the scheme and one for samples.
calls 0 env PROBLEMS=lorenz63 SCHEMES=ctu SAMPLES=200000 SAMPLING="1000 10000" "$top_src/tests/accuracy/run" "$top_build" six
lines six/rows.tsv 5
has six/report.md '| lorenz63 | 1 | 10000 samples | - |'
awk -F'\t' '$1 == "panel" { panels++ } $1 == "ctu" || $1 == "Monte Carlo" { points++ } END { exit panels != 2 || points != 10 }' \
    six/curves.tsv || fail "curves: $(cat six/curves.tsv)"
test -s six/workerror.png || fail "no picture"

# A model of which too much is asked on cells that wide.
calls 1 env MODELS=duffing ETAS=1 SETS=factor=1 "$models" "$top_build" four
has four/report.md "at most 0.02: MISSED"

# What a scenario may ask beside a Gaussian on the model's axes: a turned grid and an outlier, a run that goes on from
# its record, a turned mixture and a likelihood of the model's own.
gbees() {
    calls 0 "$programs/gbees-run" --quiet --backend cpu --threads 1 --set records=1 "$@"
}
gbees --plugin linear --until 2 --set rotate=yes --set 'covariance=[[0.25, 0.18], [0.18, 0.2]]' --set factor=3 --set \
    'measurements=[{time: 1, function: x1, value: [1.5], covariance: [0.05], likelihood: student-t, degrees_of_freedom: 3}]' \
    --output turned
calls 0 "$accuracy" --samples 20000 --threads 1 --legs turned turned
mv out turned.tsv
line turned.tsv 1 'm[1]^2 < 4e-4 && m[2]^2 < 4e-4 && (s[1] - 1)^2 < 2e-4 && (s[2] - 1)^2 < 2e-4 && k[1] < .02 && k[2] < .02'
line turned.tsv 2 '$18 < 5000 && m[1]^2 < 5e-3 && m[2]^2 < 5e-3 && (s[1] - 1)^2 < 3e-3 && k[1] < .05 && k[2] < .05'
line turned.tsv 1 '$17 > .995'
gbees --plugin linear --until 2 --set 'initial={file: turned, record: 1}' --set measurements=[] --output onward
calls 0 "$accuracy" --samples 20000 --threads 1 --kernel 0 onward
has out '20000 samples of the initial record'
calls 0 "$accuracy" --samples 20000 --threads 1 --legs onward onward
mv out onward.tsv
line onward.tsv 1 '$4 == 2 && m[1]^2 < 4e-4 && m[2]^2 < 4e-4 && (s[1] - 1)^2 < 2e-4 && (s[2] - 1)^2 < 2e-4 && $17 > .995'
# A grid that moves, whose records have cells of any edges; and a run on the grid of its record, which is at rest.
gbees --plugin linear --until 2 --set frame=moving --set factor=2 --set extent=4 --set measurements=[] --output moving
calls 0 "$accuracy" --samples 20000 --threads 1 --legs moving moving
mv out moving.tsv
line moving.tsv 1 'm[1]^2 < 4e-4 && m[2]^2 < 4e-4 && (s[1] - 1)^2 < 2e-4 && (s[2] - 1)^2 < 2e-4 && k[1] < .02 && k[2] < .02'
gbees --plugin linear --until 3 --set 'initial={file: moving, record: 1}' --set measurements=[] --output rested
calls 0 "$accuracy" --samples 20000 --threads 1 --legs rested rested
mv out rested.tsv
line rested.tsv 1 'm[1]^2 < 4e-4 && m[2]^2 < 4e-4 && (s[1] - 1)^2 < 2e-4 && (s[2] - 1)^2 < 2e-4'
gbees --plugin pendulum --until 2.5 --set rotate=yes --set width=0.04 --set \
    'initial=[{weight: 2, mean: [2.9, 0.3], covariance: [[0.04, 0.01], [0.01, 0.03]]}, {mean: [3.4, 0], covariance: [0.02, 0.04]}]' \
    --set 'measurements=[{time: 2, function: side, value: [1], likelihood: model}]' --output mixed
calls 0 "$accuracy" --samples 20000 --threads 1 --kernel 0 mixed
has out '20000 samples of the mixture cut at the initial boxes'
calls 0 "$accuracy" --samples 20000 --threads 1 --legs mixed mixed
mv out mixed.tsv
line mixed.tsv 2 '$18 < 15000 && m[1]^2 < 1e-3 && m[2]^2 < 1e-3 && (s[1] - 1)^2 < 4e-4 && (s[2] - 1)^2 < 4e-4 && k[1] < .02 && k[2] < .02'

calls 2 "$models" "$top_build" one
has err "models: one has a table: remove it, or name another folder"
calls 2 "$models" "$scratch" five
has err "is not there: run 'make gbees-run tests/accuracy/accuracy' in $scratch first"
# What a moving frame costs and gives: steps, updates and errors of two cases, each with what was asked of it.
calls 0 "$top_src/tests/accuracy/frame" --samples 200000 --threads 1 "$top_build" 'lorenz63 .5' poe2bp
test "$(grep -c '| moving |' out)" -eq 2 || fail "not a line a case"
has out 'updates 200000: met; e_m 0.006: met; density 0.001: met'
has out 'kolmogorov 0.003: met'
calls 2 "$top_src/tests/accuracy/frame" "$top_build" nothing
has err 'no such case'
# Certificates of a run, by ten seeds: hardly any bound is below the true error, none below half of it.
make -s -C "$top_build" tests/accuracy/certificates >/dev/null || exit 99
calls 0 "$top_build/tests/accuracy/certificates" duffing 10 10000 400000
test "$(wc -l <out)" -eq 6 || fail "not a line a figure"
awk -F'\t' 'NF == 6 && ($3 < 100 || $4 > 0.05 * $3 || $5 > 0) { bad = 1 } END { exit bad }' out ||
    fail "bounds are below the true error"
calls 2 "$top_build/tests/accuracy/certificates"
exit "$bad"
