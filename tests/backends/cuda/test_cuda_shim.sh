#!/bin/sh
# test_cuda_shim.sh - gbees-run and the CUDA engine on a GPU made of threads: a whole run is the CPU's, and what goes
# wrong in the middle - no memory, a launch that fails, a drift that is not a number - ends with one line on standard
# error, exit status 1, and whole records of what came before.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
test -f "$top_build/tests/.libs/gbees_shim.so" || skip "gbees was configured without CUDA"
enter_scratch
clean_environment
GBEES_BACKEND_PATH=$top_build/tests/.libs
export GBEES_BACKEND_PATH

gbees() {
    "$program" --plugin-path "$top_build/tests/.libs" --threads 1 --quiet "$@" >out 2>err </dev/null
    code=$?
}

export_to() { # FOLDER: its records as text
    "$programs/gbees-export" --format csv "$1" "$1.csv" >/dev/null 2>&1 || fail "the records of $1 can't be read"
}

# judge FOLDER TEXT [verify]: it failed, with this text, and left at least one whole record. verify: a record is large, and
# no text of it is compared.
judge() {
    test "$code" -eq 1 || fail "exit status $code, not 1"
    grep -qF -- "$2" err || fail "no '$2'"
    test "$(grep -cv warning: err)" -eq 1 || fail "$(grep -cv warning: err) lines, not 1"
    grep -q '"state": "failed"' "$1/run.json" || fail "$1 does not say 'failed'"
    test -z "$(find "$1" -name '*.tmp')" || fail "temporary files are left in $1"
    has_record "$1" 0 0 || fail "no record before the failure"
    case ${3:-} in
    verify) "$programs/gbees-export" --verify "$1" >/dev/null 2>&1 || fail "the records of $1 are damaged" ;;
    *) export_to "$1" ;;
    esac
}

# same FOLDER ALL: each record of FOLDER is the one of ALL.
same() {
    for file in "$1".csv/leg*; do
        cmp -s "$file" "$2.csv/${file##*/}" || fail "$file is not that of $2"
    done
}

what="a whole run, twice"
gbees --plugin lorenz63 --scenario published --backend shim --until 1.2 --set records=2 --output whole
test "$code" -eq 0 || fail "exit status $code"
export_to whole
if is_long; then
    gbees --plugin lorenz63 --scenario published --backend shim --until 1.2 --set records=2 --output again
    export_to again
    same again whole
fi
test "$(find whole.csv -name '*record*' | wc -l)" -ge 6 || fail "records are missing"

what="a launch that fails"
SHIM_FAILING_LAUNCH=15
export SHIM_FAILING_LAUNCH
gbees --plugin lorenz63 --scenario published --backend shim --until 1.2 --set records=2 --output broken
unset SHIM_FAILING_LAUNCH
judge broken "the GPU failed while "
grep -q 'CUDA_ERROR_ILLEGAL_ADDRESS' err || fail "the driver's error is not named"
same broken whole

# Records are written while steps go on: what can't be written ends the run all the same.
what="a limit on the size of files"
(
    ulimit -f 200 # of 512 or 1024 bytes: more than the first record takes
    gbees --plugin lorenz63 --scenario published --backend shim --until 1 --set records=20 --output size
    exit "$code"
)
code=$?
judge size "File too large"

what="a signal"
"$program" --threads 1 --quiet --plugin lorenz63 --scenario published --backend shim --until 50 --set records=200 --output signal \
    >out 2>err </dev/null &
process=$!
wait_until grep -aqs record2 signal/run.h5
kill -TERM "$process"
wait "$process"
code=$?
process=
test "$code" -eq 143 || fail "exit status $code, not 143"
grep -q '"state": "cancelled"' signal/run.json || fail "it does not say 'cancelled'"
test -z "$(find signal -name '*.tmp')" || fail "temporary files are left"
export_to signal
count=$(records_of signal | grep -c '^leg0/')
has_record signal 0 "$((count - 1))" || fail "records are missing among $count"

# More memory is mapped behind an array, as GPUs do; copies of arrays, which take more of it, are of make check-long.
what="no memory"
is_long && ways="0 1" || ways=1
for mapped in $ways; do
    SHIM_VIRTUAL=$mapped SHIM_MEMORY=14500000
    export SHIM_VIRTUAL SHIM_MEMORY
    gbees --plugin lorenz96 --scenario published --backend shim --set extent=2 --set records=1 --until 0.006 --output "small-$mapped"
    unset SHIM_VIRTUAL SHIM_MEMORY
    judge "small-$mapped" " bricks needs " verify
    grep -q " GB of the GPU's memory in all, and .* GB of its 0.0145 GB can be had: " err ||
        fail "it does not say how much is needed, and how much there is"
done

# Moved by the kernel of the steps, by one for all sweeps (in six dimensions), or by one that does nothing but one: records between batches, prunes, room to be made.
what="large grids"
for large in 100000000 1; do
    SHIM_LARGE=$large
    export SHIM_LARGE
    gbees --plugin lorenz96 --scenario published --backend shim --set extent=1 --set records=2 --set prune_interval=3 --set courant=0.2 --until 0.02 \
        --output "large-$large"
    test "$code" -eq 0 || fail "exit status $code"
    if is_long; then
        gbees --plugin linear --backend shim --set dimension=8 --set scheme=ctu --set extent=0.5 --set precision=double \
            --set records=2 --until 0.03 --output "large-ctu-$large"
        test "$code" -eq 0 || fail "exit status $code of ctu"
        export_to "large-ctu-$large"
    fi
    gbees --plugin pcr3bp --backend shim --set frame=fixed --set scheme=split5-mp --set records=2 --set prune_interval=3 --until 0.01 \
        --output "large-four-$large"
    test "$code" -eq 0 || fail "exit status $code in four dimensions"
    gbees --plugin pcr3bp --backend shim --set frame=fixed --set scheme=split7-mp --set records=1 --until 0.01 \
        --output "large-seven-$large"
    test "$code" -eq 0 || fail "exit status $code of split7"
    unset SHIM_LARGE
    export_to "large-four-$large"
    export_to "large-seven-$large"
    export_to "large-$large"
done
same large-1 large-100000000
same large-four-1 large-four-100000000
same large-seven-1 large-seven-100000000
! is_long || same large-ctu-1 large-ctu-100000000

# In pages of a GPU, of which each of some twenty arrays has one at least; the threads' GPU has none.
what="the forecast of --check"
gbees --plugin lorenz63 --backend shim --set accuracy=0 --check --json
forecast=$(number forecast_bytes)
gbees --plugin lorenz63 --backend shim --set accuracy=0 --until 0.3 --audit off --no-output --json
taken=$(number peak_bytes)
awk "BEGIN { exit !($forecast % 2097152 == 0 && $forecast > $taken && $forecast < 4 * $taken) }" ||
    fail "$forecast bytes are forecast on a GPU, and $taken are taken"

what="--max-memory"
gbees --plugin lorenz96 --scenario published --backend shim --set extent=1.6 --set records=1 --set courant=0.2 --until 0.018 \
    --max-memory 0.012 --output limited
test "$code" -eq 1 || fail "exit status $code, not 1"
grep -q 'stopped at t = 0\.01.* by --max-memory, with .* taken; to go on: gbees-run --resume limited' err ||
    fail "not stopped when the grid grew: $(cat err)"
gbees --resume limited --max-memory 1
test "$code" -eq 0 || fail "exit status $code of the run that goes on"

# both NAME OPTION...: a run on the threads' GPU and one on the CPU have the same records, bit for bit.
both() {
    name=$1 gpu=$2
    shift 2
    for backend in "$gpu" cpu; do
        gbees --plugin "${model:-lorenz63}" --backend "$backend" --set accuracy=0 "$@" --output "$name-$backend"
        test "$code" -eq 0 || fail "exit status $code on $backend"
        export_to "$name-$backend"
    done
    same "$name-$gpu" "$name-cpu"
}

what="--deterministic, in double"
both exact shim --deterministic --set scheme=ctu --set precision=double --until 0.6
what="--deterministic, in mixed precision"
both mixed shim --deterministic --until 0.6
what="a mass budget"
both budget shim --set mass_budget=0.02 --until 1.1

if is_long; then
    what="a threshold that memory raises"
    SHIM_VIRTUAL=1 SHIM_MEMORY=15500000
    export SHIM_VIRTUAL SHIM_MEMORY
    for choice in stop raise_threshold; do
        "$program" --plugin-path "$top_build/tests/.libs" --threads 1 --plugin lorenz96 --scenario published --backend shim \
            --set "at_memory_limit=$choice" --set extent=1.3 --set records=1 --set prune_interval=2 --set courant=0.3 \
            --until 0.04 --no-output --audit off >out 2>err </dev/null
        echo $? >"$choice.code"
    done
    unset SHIM_VIRTUAL SHIM_MEMORY
    test "$(cat stop.code)" -eq 1 || fail "memory suffices without it"
    test "$(cat raise_threshold.code)" -eq 0 || fail "it was not enough"
    grep -qF 'memory does not allow the threshold 8e-09: it has been raised (now ' err || fail "no warning"
fi

what="--deterministic, a small grid on a cluster"
SHIM_CLUSTER=1
export SHIM_CLUSTER
both cluster shim --deterministic --until 0.6
for backend in shim cpu; do
    gbees --plugin lorenz63 --backend "$backend" --deterministic --set time_step=0.002 --output "too-long-$backend"
    judge "too-long-$backend" "the time step of 0.002 at t = 0.87 has Courant number 1.01, and "
    has_record "too-long-$backend" 0 3 || fail "records before it are missing"
done
same too-long-shim too-long-cpu
what="--deterministic, a grid that outgrows a cluster"
both outgrown shim --deterministic --set factor=4 --until 0.2
unset SHIM_CLUSTER

what="a large grid that waits for its kernels"
SHIM_LATE=300 SHIM_LARGE=1
export SHIM_LARGE SHIM_LATE
gbees --plugin lorenz96 --scenario published --backend shim --set extent=1 --set records=2 --set prune_interval=3 --set courant=0.2 --until 0.02 \
    --output late-large
test "$code" -eq 0 || fail "exit status $code"
export_to late-large
same late-large large-1
what="kernels that come late, and can't be made"
SHIM_LATE=-100
gbees --plugin lorenz96 --scenario published --backend shim --set extent=1 --set records=2 --until 0.02 --output late
judge late "mine.c:7: what the compiler says of it"
unset SHIM_LARGE SHIM_LATE

what="a run that goes on from a record of the CPU's"
gbees --plugin lorenz63 --scenario published --backend cpu --until 0.5 --set records=1 --output begun
both goes_on shim --set "initial={file: begun}" --until 0.9
model=noise
what="--deterministic, with diffusion, in double"
both stirred shim --deterministic --set dimension=3 --set scheme=ctu --set precision=double \
    --param own=0.5 --param beside=0.2 --param rise=1 --param square=0.1
what="--deterministic, with diffusion, in mixed precision"
both shaken shim --deterministic --param own=0.5 --param beside=-0.2 --param rise=1 --param growth=-1
model=linear
what="--deterministic, bricks of one cell along an axis: a face two bricks below is that brick's own"
! is_long || both thin shim --deterministic --set dimension=8 --set width=0.1371 --set extent=0.45 --set threshold=2e-6 \
    --set measurements=[] --set records=1 --until 0.06
unset model

what="targets that have taken all"
exits="--plugin exits --set accuracy=0 --param fx=1 --param Q=0 --audit off"
for backend in shim cpu; do
    # shellcheck disable=SC2086 # words
    gbees $exits --backend "$backend" --until 4 --set records=2 --no-output --json
    test "$code" -eq 0 || fail "exit status $code on $backend"
    grep '"event":"record"' out | sed 's/.*"targets"://' >"all-$backend"
done
cmp -s all-shim all-cpu && grep -q '"mass_entered":0\.99999' all-shim || fail "$(cat all-shim all-cpu)"

what="a drift that is not a number"
gbees --plugin nan_drift --backend shim --set records=8 --output nan
judge nan "the drift of nan_drift is not finite near x = "
grep -q ' at t = ' err || fail "it does not say when"

exit "$bad"
