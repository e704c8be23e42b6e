#!/bin/sh
# test_lagrangian.sh - gbees-run with `frame: lagrangian`: what it prints, and what --json and folders have; keys that it
# refuses; trajectories that leave every bound; runs that are stopped, and go on to the same records.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/results_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# gbees CODE ARGUMENT...: a run on this processor.
gbees() {
    code=$1
    shift
    calls "$code" "$program" --backend cpu --threads 1 --progress none "$@"
}

# few CODE ARGUMENT...: Lorenz '63 with few points.
few() {
    code=$1
    shift
    gbees "$code" --plugin lorenz63 --set frame=lagrangian --set accuracy=0 --set points=0.8 --set tail=8 "$@"
}

# ---- what it says ----

what="a run without densities"
few 0 --no-output
has out "points that go with the flow"
has out " refinements, "
lines err 0
few 0 --no-output --set smooth=yes
has out "smoothed: given all measurements"

what="a truth, for which no cells are made"
few 0 --simulate=1 --output drawn
few 0 --no-output --measurements drawn/measurements.csv --truth drawn/truth.csv --until 2
has out "truth: "
lacks out "mean ranks"
few 0 --output ranks --measurements drawn/measurements.csv --truth drawn/truth.csv --until 2
has out "mean ranks"

what="--json"
few 0 --no-output --json --set smooth=yes
for field in points refinements drift_evaluations; do
    grep '"event":"summary"' out | grep -qE "\"$field\":[1-9][0-9]*[,}]" || fail "the summary has no $field above 0"
done
test "$(grep -c '"event":"record"' out)" -eq 10 || fail "there are not 10 records"
test "$(grep -c '"event":"smoothed"' out)" -eq 10 || fail "there are not 10 smoothed records"
# mean EVENT LINE: the mean of the first or last (head or tail) event of a kind.
mean() {
    grep "\"event\":\"$1\"" out | "$2" -n 1 | sed 's/.*"mean":\[\([^]]*\)\].*/\1/'
}
test "$(mean record head)" != "$(mean smoothed head)" || fail "the first record is not smoothed"
echo "$(mean record tail),$(mean smoothed tail)" |
    awk -F, '{ for (j = 1; j <= 3; j++) { d = $j - $(j + 3); if (d * d > 1e-16) exit 1 } }' ||
    fail "nothing comes after the last record, and its mean is $(mean smoothed tail), not $(mean record tail)"
few 0 --no-output --json
test "$(grep -c '"event":"smoothed"' out)" -eq 0 || fail "there are smoothed records that nobody asked for"

# ---- folders ----

what="a folder with densities"
few 0 --quiet --set smooth=yes --set records=2 --output dense
calls 0 "$programs/gbees-export" --verify dense
if python=$(find_python h5py); then
    calls 0 "$python" - <<'END'
import h5py
with h5py.File("dense/run.h5") as file:
    smoothed = file["moments/smoothed"]
    assert list(smoothed["record"]) == list(file["record"]) == [0, 1, 2, 0, 1, 2], list(smoothed["record"])
    assert smoothed["mean"].shape == (6, 3) and abs(smoothed["mean"][0] - file["mean"][0]).max() > 0.1
    assert (abs(smoothed["mean"][-1] - file["mean"][-1]) < 1e-8).all()
    for leg, number in zip(file["leg"], file["record"]):
        total = file[f"leg{leg}/record{number}/pdf/p"][()].astype(float).sum()
        assert abs(total - 1) < 1e-5, (leg, number, total)
END
else
    echo "test_lagrangian: no python3 has h5py: files were not read"
fi

# ---- a posterior in two parts, with nothing between them ----

square=$top_build/tests/.libs/square.so
test -f "$square" || (cd "$top_build" && make -s tests/square.la >/dev/null) || skip "tests/square.la is not built"
# exact: the mean, by quadrature, from a prior of mean 1.2 and variance 0.25, and x^2 = 1 with variance 0.01.
exact() {
    awk 'BEGIN {
        for (k = 0; k <= 80000; k++) {
            x = -4 + k / 1e4
            w = exp(-2 * (x - 1.2) ^ 2 - 50 * (1 - x * x) ^ 2)
            sum += w
            first += w * x
        }
        printf "%.12f", first / sum
    }'
}
what="a part of 7e-5 of the density, which stands apart"
gbees 0 --plugin "$square" --no-output --set frame=lagrangian --set accuracy=0.001 --json
echo "$(mean record tail),$(exact)" | awk -F, '{ d = $1 - $2; exit !(d * d < 1e-12) }' ||
    fail "the mean is $(mean record tail), not $(exact)"
what="the same from a record"
gbees 0 --plugin "$square" --quiet --set accuracy=0 --set frame=lagrangian --set factor=20 --output parts
gbees 0 --plugin "$square" --no-output --set frame=lagrangian --set accuracy=0.001 --set measurements=[] --json \
    --set 'initial={file: parts}' --until 2
echo "$(mean record tail),$(exact)" | awk -F, '{ d = $1 - $2; exit !(d * d < 1e-8) }' ||
    fail "the mean from a record is $(mean record tail), not $(exact)"

# ---- what it refuses ----

what="keys of grids"
for key in scheme=ctu mode=paper time_step=0.1 courant=0.5 rotate=yes regrid=auto bound=on; do
    few 2 --no-output --set "$key"
    has err "--set ${key%=*}: 'frame: lagrangian' has no grid with '${key%=*}'"
    lines err 1
done
what="keys of points without points"
for key in points=1 tail=5 tolerance=1e-8 smooth=yes; do
    gbees 2 --plugin lorenz63 --no-output --set "$key"
    has err "add 'frame: lagrangian'"
    lines err 1
done
what="process noise"
gbees 2 --plugin linear --no-output --set frame=lagrangian --set parameters.noise=0.1
has err "frame: linear has process noise"
lines err 1

# ---- dx/dt = x^2, which leaves every bound at t = 1 / x ----

cat >blowup.c <<'END'
#define GBEES_DIM 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = x[0] * x[0];
}
#else
static const gbees_quantity states[] = {{"x", "-", "the state"}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0.5]\ncovariance: [0.04]\nfactor: 4\nend: 2\nrecords: 2\nframe: lagrangian\n"}};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "blowup",
    .title = "dx/dt = x^2",
    .dim_default = 1,
    .states = states,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};
#endif
END
what="building blowup.c"
CFLAGS="-O0 -DGBEES_NO_CLONES"
export CFLAGS
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
calls 0 "$programs/gbees-plugin" build blowup.c --no-install
unset CFLAGS

# At t = 2 what began above 1 / 2, half of it, is gone.
what="points that leave every bound"
gbees 0 --plugin ./blowup.so --no-output --set accuracy=0 --set points=8 --json
grep '"event":"record"' out | tail -n 1 | sed 's/.*"mass":\([0-9.e-]*\),.*/\1/' |
    awk '{ exit !($1 > 0.45 && $1 < 0.55) }' || fail "the mass that is left is not half"
has err "trajectories have left every bound in finite time, or come where the drift is not a number: the first before t = 1, "
has err "% of the probability now"
what="an accuracy that can't be had"
gbees 0 --plugin ./blowup.so --no-output --set accuracy=0.05 --set end=1.5 --max-time 100
has err "trajectories have left every bound in finite time"
has err "the accuracy that was asked for, 0.05, is not certified"
what="nothing left"
gbees 1 --plugin ./blowup.so --no-output --quiet --set mean=[5] --until 4
has err "nothing is left of the density: all trajectories have left every bound"
lines err 1

# ---- what stops it ----

what="a run that is not stopped"
long='--json --set smooth=yes --set records=40 --densities none'
# shellcheck disable=SC2086 # the options are words
few 0 $long --output whole
sums whole/run.h5 >whole.sums

# stopped CODE FOLDER: the run has a checkpoint, from which it goes on to the same records.
stopped() {
    test "$code" -eq "$1" || fail "exit status $code, not $1"
    has err "; to go on: gbees-run --resume $2"
    has_checkpoint "$2" || fail "there is no checkpoint"
    calls 0 "$program" --quiet --progress none --resume "$2"
    has "$2/run.json" '"state": "complete"'
    sums "$2/run.h5" >resumed.sums
    test -s whole.sums && cmp -s whole.sums resumed.sums || fail "$2 and whole have other records"
}

what="--max-time"
# shellcheck disable=SC2086
few 1 $long --max-time 0.001 --output late
stopped 1 late
what="--max-time, in the update"
# shellcheck disable=SC2086
few 1 $long --set records=1 --set points=4 --max-time 0.2 --output update
has err "; to go on: gbees-run --resume update"
has_checkpoint update || fail "there is no checkpoint"

if env --default-signal=TERM true 2>/dev/null; then
    what="SIGTERM"
    # shellcheck disable=SC2086
    for _ in 1 2 3 4 5; do # a busy machine may come too late
        rm -rf killed
        env --default-signal=TERM "$program" --backend cpu --threads 1 --progress none --plugin lorenz63 \
            --set frame=lagrangian --set accuracy=0 --set points=0.8 --set tail=8 $long --output killed >out 2>err </dev/null &
        process=$!
        wait_until grep -q '"record":3,' out
        kill -TERM "$process" 2>/dev/null
        wait "$process"
        code=$?
        has_checkpoint killed && break
    done
    stopped 143 killed
else
    echo "test_lagrangian: env can't reset signals: they were not tested"
fi

exit "$bad"
