#!/bin/sh
# test_cuda_ranks.sh - large grids of the CUDA backend among ranks, each with a GPU made of threads (shim): the records
# of 2 and 3 ranks are those without mpirun, bit for bit, also after a checkpoint; a GPU that fails ends all ranks; small
# grids and those that move are not shared.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
test -f "$top_build/tests/.libs/gbees_shim.so" || skip "gbees was configured without CUDA"
command -v h5diff >/dev/null || skip "there is no h5diff (Debian: apt-get install hdf5-tools)"
enter_scratch
clean_environment
prepare_mpirun
GBEES_BACKEND_PATH=$top_build/tests/.libs SHIM_LARGE=1 SHIM_BLOCKS=2 GBEES_CUDA_SPLIT_FROM=100
export GBEES_BACKEND_PATH SHIM_LARGE SHIM_BLOCKS GBEES_CUDA_SPLIT_FROM
common="--plugin-path $top_build/tests/.libs:$top_build/plugins/.libs --threads 1 --audit off --progress none --backend shim --files records"

# The records of the second folder are those of the first one.
same() { # FOLDER FOLDER
    for record in "$1"/leg*.h5; do
        h5diff "$record" "$2/${record##*/}" >difference 2>&1 || fail "${record##*/} of $2: $(head -n 5 difference)"
    done
}

# compare NAME ARGUMENT...: on $numbers of ranks, with the run of one process.
is_long && numbers="2 3" || numbers=3 # one of three has two neighbours, as any of more has
compare() {
    name=$1
    shift
    what="$name"
    # shellcheck disable=SC2086 # several words
    calls 0 "$program" $common "$@" --output "$name.1"
    for number in $numbers; do
        # shellcheck disable=SC2086
        calls 0 timeout 300 mpirun -n "$number" "$program" $common "$@" --json --output "$name.$number"
        grep '"event":"summary"' out >summary
        has summary "\"ranks\":$number"
        test "$(grep -o '"bytes_sent":' summary | wc -l)" -eq "$number" || fail "not one entry for each rank"
        same "$name.1" "$name.$number"
    done
}

lorenz="--plugin lorenz96 --scenario published --set accuracy=0 --set extent=1"
pruned="$lorenz --set records=2 --set prune_interval=3 --set courant=0.2 --until 0.028"
# shellcheck disable=SC2086
{
    # Prunes that choose new cuts; records between; a heap that gets too small for bricks and ghosts; p* from a budget;
    # Bayes' rule at a measurement.
    compare pruned $pruned
    ! is_long || compare crowded $lorenz --set records=1 --set prune_interval=1000 --set courant=0.5 --until 0.08
    ! is_long || compare budget $lorenz --set records=2 --set mass_budget=0.02 --set prune_interval=3 --until 0.04
    ! is_long || compare updated $lorenz --set records=1 --set prune_interval=3 --until 0.04 \
        --set "measurements=[{time: 0.02, function: x2, value: [4.05], covariance: [0.04]}]"
}

small="--set accuracy=0 --set records=2 --set prune_interval=3"
# shellcheck disable=SC2086
{
    # Transverse sums of ghosts; an odd number of passes, or of sweeps, leaves the density in the other rows.
    compare ctu $lorenz --set scheme=ctu --set precision=double --set records=2 --set prune_interval=3 --until 0.012
    ! is_long || compare bound $small --plugin pcr3bp --scenario published --set scheme=split5-mp --until 0.003
    ! is_long || compare noise $small --plugin linear --set dimension=4 --set scheme=split7 --set threshold=1e-5 --set parameters.noise=0.5 --until 0.2
    # Bricks that are one cell wide along two axes: three or four layers of ghosts there.
    compare narrow $small --plugin linear --set dimension=8 --set extent=1 --set width=0.5 --set threshold=2e-4 \
        --set records=1 --set courant=0.3 --set parameters.noise=0.5 --until 0.04
    # Full noise and a bound, with rates that depend on time, as the drift of the next one.
    compare full $small --plugin noise --set dimension=4 --set threshold=1e-5 --set bound=on --set parameters.own=0.5 \
        --set parameters.beside=0.2 --set parameters.rise=1 --set parameters.growth=1 --set parameters.shear=1 --until 0.1
    ! is_long || compare time $small --plugin advect --set dimension=4 --set precision=double --set threshold=1e-5 \
        --set parameters.beat=3 --set parameters.rotation=1 --set parameters.shear=1 --until 0.3
}

# Grids that change: rank 0 makes each, and the next step divides it; one of them is too small for that.
changed="$lorenz --set records=2 --set prune_interval=3 --until 0.018 --set"
times="regrid=[{time: 0.006, factor: [2, 1, 1, 1, 1, 1]}, {time: 0.012, factor: 1}]"
# shellcheck disable=SC2086
{
    compare changed $changed "$times"
    grep -q '"bytes_exchanged":[1-9]' summary || fail "the last grid was not shared"
    ! is_long || GBEES_CUDA_SPLIT_FROM=1500 compare small $changed "$times" --set scheme=ctu --set precision=double
}

# A checkpoint of one number of GPUs goes on on another.
go_on() { # FROM TO NAME ARGUMENT...: numbers of ranks, 1: without mpirun; a run that has been compared
    what="$3: a checkpoint of $1 goes on on $2"
    test "$1" -eq 1 && from= || from="timeout 300 mpirun -n $1"
    test "$2" -eq 1 && to= || to="timeout 300 mpirun -n $2"
    name=$3
    shift 3
    rm -rf stopped
    # shellcheck disable=SC2086
    calls 1 $from "$program" $common "$@" --output stopped --max-time 0.001
    has err "to go on: gbees-run --resume stopped"
    test ! -e stopped/leg0_record2.h5 || fail "it has reached its end before it could be stopped"
    # shellcheck disable=SC2086
    calls 0 $to "$program" --json --threads 1 --plugin-path "$top_build/tests/.libs" --resume stopped
    grep '"event":"summary"' out >summary
    test -z "$to" || grep -q '"bytes_exchanged":[1-9]' summary || fail "the grid was not shared"
    same "$name.1" stopped
}
# shellcheck disable=SC2086
{
    go_on 2 3 pruned $pruned
    ! is_long || go_on 1 2 pruned $pruned
    ! is_long || go_on 2 1 pruned $pruned
    ! is_long || go_on 2 3 changed $changed "$times"
}

# The GPU of rank 1 fails while the rows of ghosts are packed for the record's count of cells, and rank 0 waits for them.
is_long && launches="1 2" || launches=2
for launch in $launches; do
    arguments="$common $lorenz --set records=1 --set prune_interval=2 --set courant=0.3 --until 0.012 --no-output"
    # shellcheck disable=SC2086
    calls 1 timeout 120 mpirun -n 1 "$program" $arguments : \
        -n 1 env SHIM_FAILING_AFTER=gbees_statistics SHIM_FAILING_LAUNCH=$launch "$program" $arguments
    has err "rank 1: the GPU failed while sharing the grid among GPUs"
done

what="a grid that shrinks"
# After the measurements there are fewer bricks than half of that: rank 0 has them again.
exact="value: [4], covariance: [0.0004]"
# shellcheck disable=SC2086
GBEES_CUDA_SPLIT_FROM=1700 compare shrinking $lorenz --set records=2 --set prune_interval=2 --until 0.03 \
    --set "measurements=[{time: 0.02, function: x2, $exact}, {time: 0.02, function: x3, $exact},
    {time: 0.02, function: x4, $exact}, {time: 0.02, function: x5, $exact}]"
grep -q '"bytes_exchanged":[1-9]' summary || fail "the grid was not shared"

what="an update that fails"
# shellcheck disable=SC2086
for number in 1 3; do
    calls 1 timeout 300 mpirun -n "$number" "$program" $common $lorenz --set records=1 --until 0.01 --no-output \
        --set "measurements=[{time: 0.005, function: x2, value: [4000], covariance: [1.0e-8]}]"
    has err "the measurement at t = 0.005 is supported by no cell"
    grep '^gbees-run: measurement' err >"failed.$number"
done
cmp failed.1 failed.3 || fail "the ranks' error is another one"

what="a small grid, and one that moves"
# shellcheck disable=SC2086
calls 0 timeout 300 mpirun -n 2 "$program" $common --plugin lorenz63 --scenario published --set accuracy=0 --until 0.2 \
    --no-output
has out "ranks: 2, and rank 0 had the whole grid"
# shellcheck disable=SC2086
calls 0 timeout 300 mpirun -n 2 "$program" $common --plugin lorenz63 --set accuracy=0 --set frame=moving --until 0.3 \
    --no-output
has out "ranks: 2, and rank 0 had the whole grid"

# Where one GPU's memory is too small for the grid, that of three is not: bricks, records and marginals stay apart.
what="a grid that does not fit one GPU"
if is_long; then
    wide="--plugin linear --set accuracy=0 --set dimension=4 --set scheme=split7 --set extent=1 --set factor=6 --set threshold=1e-12
        --set records=1 --set prune_interval=4 --until 0.2"
    # shellcheck disable=SC2086
    calls 0 "$program" $common $wide --output wide.1
    # shellcheck disable=SC2086
    SHIM_MEMORY=16000000 calls 1 "$program" $common $wide --no-output
    has err "of the GPU's memory in all"
    # shellcheck disable=SC2086
    SHIM_MEMORY=16000000 GBEES_CUDA_SPLIT_FROM=3000 calls 0 timeout 300 mpirun -n 3 "$program" $common $wide --output wide.3
    same wide.1 wide.3
fi

# What ends one rank ends all.
ended() { # CODE
    test "$1" -ne 0 || fail "exit status 0"
    test "$1" -ne 124 || fail "the others went on until they were stopped"
}

# GBEES_TEST_KILLS: how often, in turn after the first record and some tenths of a second later.
is_long && kills=20 || kills=1
kills=${GBEES_TEST_KILLS:-$kills}
number=0
while test "$number" -lt "$kills"; do
    rank=$(((number + 1) % 3))
    what="kill $number, of rank $rank"
    rm -rf killed
    # shellcheck disable=SC2086
    timeout 120 mpirun -n 3 "$program" $common $pruned --output killed >out 2>err </dev/null &
    process=$!
    wait_until test -s killed/leg0_record0.h5
    sleep "0.$((number / 3 % 10))"
    number=$((number + 1))
    kill -9 "$(process_of "$rank")" || fail "the rank is not there"
    wait "$process"
    ended $?
    for record in killed/leg*.h5; do
        h5diff "$record" "pruned.1/${record#*/}" >difference 2>&1 || fail "${record#*/}: $(head -n 5 difference)"
    done
done

what="a rank whose GPU fails"
failing() { # SETTING TEXT: of the last rank
    # shellcheck disable=SC2086
    timeout 120 mpirun -n 2 "$program" $common $pruned --no-output : -n 1 env "$1" "$program" $common $pruned --no-output \
        >out 2>err </dev/null
    test $? -ne 0 || fail "$1: exit status 0"
    grep 'rank 2' err | grep -q "$2" || fail "$1: '$2' is not in: $(head -n 5 err)"
}
failing SHIM_FAILING_LAUNCH=120 ILLEGAL_ADDRESS
failing SHIM_MEMORY=11300000 memory

what="fewer GPUs than ranks"
# shellcheck disable=SC2086
{
    SHIM_GPUS=2 calls 2 timeout 300 mpirun -n 3 "$program" $common $pruned --no-output
    has err "this machine has 3 ranks and only 2 GPUs: start one rank for each GPU, or give --ranks-per-gpu 2"
    SHIM_GPUS=1 calls 0 timeout 300 mpirun -n 2 "$program" $common $lorenz --set records=1 --until 0.01 --no-output \
        --ranks-per-gpu 2
    calls 2 "$program" $common $lorenz --no-output --ranks-per-gpu none
    has err "--ranks-per-gpu wants a whole number"
}

exit "$bad"
