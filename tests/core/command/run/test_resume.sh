#!/bin/sh
# test_resume.sh - gbees-run --resume: runs that are stopped or killed and gone on with have the results of runs that
# were not.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/results_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# run CODE ARGUMENT...: the exit status must be CODE; its output is left in the files out and err.
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" --progress none "$@"
}

# Begins a run, or goes on with one, in the background, quietly.
start() {
    "$program" --quiet "$@" >out 2>err </dev/null &
    process=$!
}

# Whole, and stopped after each few steps by --max-time.
in_parts() { # NAME ARGUMENT...
    name=$1
    shift
    run 0 "$@" --set accuracy=0 --backend "$backend" --output "$name.whole"
    "$program" --quiet "$@" --set accuracy=0 --backend "$backend" --output "$name.parts" --max-time 0.001 >out 2>err
    code=$?
    parts=1
    while test "$code" -eq 1 && has_checkpoint "$name.parts" && test "$parts" -lt 500; do
        parts=$((parts + 1))
        "$program" --quiet --resume "$name.parts" --max-time 0.001 --threads $((1 + parts % 2)) >out 2>err
        code=$?
    done
    test "$code" -eq 0 || fail "$name: the last part ended with status $code"
    test "$parts" -gt 4 || fail "$name: there were $parts parts only"
    same "$name.whole" "$name.parts"
}

backend=cpu
in_parts legs --plugin lorenz63 --until 1.2
in_parts regrids --plugin lorenz63 --set regrid=auto --until 1.5
! is_long || in_parts budget --plugin lorenz63 --set mass_budget=1e-3
! is_long || in_parts ctu --plugin lorenz63 --set scheme=ctu --until 1
backend=auto
in_parts paper --plugin lorenz63 --set mode=paper --until 0.5
backend=cpu
in_parts moving --plugin vanderpol --set frame=moving
! is_long || in_parts noise --plugin linear --param noise=.1
! is_long || in_parts moving_noise --plugin unicycle --set frame=moving --set measurements=[]
jumps='instants=[{time: 0.4, value: [1, 0, 0], covariance: [0.1, 0.1, 0.1]}, {time: 0.5, value: [0, 0, 1]}]'
in_parts jumps --plugin lorenz63 --until 0.8 --set "$jumps" \
    --set "measurements=[{time: 0.5, function: z, value: [-2], covariance: [1]}]"
in_parts moving_jumps --plugin lorenz63 --until 0.8 --set frame=moving --set "$jumps"
in_parts driven --plugin duffing --deterministic
"$program" --quiet --plugin lorenz63 --set accuracy=0 --backend cpu --compare ekf --output beside --max-time 0.001 >out 2>err
run 0 --resume beside --progress none
has err 'the filters of --compare need all records of a run that was not stopped: they are left out'
grep -q '^method' out && fail "a part of the records is compared with filters"
grep -q '"resumed": \[' legs.parts/run.json || fail "run.json does not list the resumptions"
grep -q '"command": "gbees-run --quiet --plugin lorenz63 ' legs.parts/run.json ||
    fail "run.json does not have the command that the run began with"
run 2 --resume legs.whole
has err 'there is no checkpoint in legs.whole'

# The CUDA engine on a GPU made of threads.
if test -f "$top_build/tests/.libs/gbees_shim.so"; then
    GBEES_BACKEND_PATH=$top_build/tests/.libs
    export GBEES_BACKEND_PATH
    backend=shim
    in_parts shim --plugin lorenz63 --until 0.5 --set mass_budget=1e-3 \
        --set "measurements=[{time: 0.25, function: z, value: [-2], covariance: [1]}]"
    in_parts shim_moving --plugin lorenz63 --until 0.5 --set frame=moving
    SHIM_CLUSTER=1
    export SHIM_CLUSTER
    ! is_long || in_parts shim_cluster --plugin lorenz63 --scenario published --until 1.2
    unset SHIM_CLUSTER
    # From the CPU to it and back: with --deterministic the densities are those of either alone.
    crossing() { # NAME ARGUMENT...
        name=$1
        shift
        run 0 "$@" --set accuracy=0 --deterministic --backend cpu --output "$name.whole"
        "$program" --quiet "$@" --set accuracy=0 --deterministic --backend cpu --output "$name.parts" --max-time 0.001 \
            >out 2>err
        crossings=0
        while has_checkpoint "$name.parts" && test "$crossings" -lt 100; do
            crossings=$((crossings + 1))
            case $((crossings % 2)) in 1) on=shim ;; *) on=cpu ;; esac
            "$program" --quiet --resume "$name.parts" --backend $on --max-time 0.001 >out 2>err
            code=$?
        done
        test "$code" -eq 0 || fail "$name: the last part ended with status $code: $(cat err)"
        test "$crossings" -gt 3 || fail "$name: it went to another backend $crossings times only"
        for part in whole parts; do
            calls 0 "$programs/gbees-export" --format csv "$name.$part" "$name.$part.csv"
        done
        rm "$name.whole.csv/records.csv" "$name.parts.csv/records.csv" # the ledger: its sums are rounded in another order
        diff -r "$name.whole.csv" "$name.parts.csv" >difference ||
            fail "$name: other densities after $crossings changes of the backend: $(head -n 3 difference)"
    }
    ! is_long || crossing crossed --plugin lorenz63 --scenario published --until 0.4 --set measurements=[]
    crossing crossed_budget --plugin lorenz63 --until 0.4 --set mass_budget=1e-3
    # Targets that absorb, one of which moves: what they have taken, too.
    taking="--plugin $top_build/tests/.libs/exits.so --densities all --set precision=mixed --set factor=2 --set end=0.5
        --set extent=6 --set time_step=0.0005 --set records=4 --param fx=0.5 --param rise=0.2"
    # shellcheck disable=SC2086 # words
    in_parts taken $taking
    # shellcheck disable=SC2086
    crossing crossed_taken $taking
    for part in whole parts; do
        calls 0 h5dump -y -m %.17g -d /targets/probability "crossed_taken.$part/run.h5"
        sed -n '/^   DATA {/,/}/p' out >"$part.taken"
    done
    grep -q '0\.21[0-9]*,$' whole.taken && cmp whole.taken parts.taken || fail "other targets: $(cat parts.taken)"
    "$program" --quiet --plugin lorenz63 --until 0.5 --set accuracy=0 --set frame=moving --deterministic \
        --backend shim --output framed --max-time 0.001 >out 2>err
    run 2 --resume framed --backend cpu
    has err "a run on a grid that moves can't go on on another kind of backend"
    "$program" --quiet --plugin lorenz63 --set accuracy=0 --backend shim --output other --max-time 0.001 >out 2>err
    run 2 --resume other --backend cpu
    has err "was on the backend 'shim' without --deterministic: on 'cpu' it would go on with other bits"
    unset GBEES_BACKEND_PATH
fi

# Killed at random moments.
run 0 --plugin aizawa --set accuracy=0 --backend cpu --output whole
# Moments are random: where too many of a few were before the first checkpoint, others are tried.
kills() { # N OPTIONS
    for _ in 1 2 3 4; do
        calls 0 "$top_src/tests/resume-kills" "$top_build" "$1" --run "$2"
        tail -n 1 out
        has out ", 0 wrong"
        resumed=$(sed -n 's/.* \([0-9]*\) times resumed.*/\1/p' out)
        test "${resumed:-0}" -ge $(($1 / 2)) && return
    done
    fail "of $1 runs that were killed ${resumed:-0} were resumed only"
}
more=1
is_long && more=10
kills $((3 * more)) "--plugin aizawa --set accuracy=0"

# SIGUSR1 leaves a checkpoint and lets the run go on; SIGTERM leaves one and ends it with a hint.
start --plugin lorenz96 --set accuracy=0 --set extent=2 --until 1 --backend cpu --output long --checkpoint-every 0
wait_until grep -aqs record0 long/run.h5
kill -USR1 "$process"
wait_until has_checkpoint long || fail "there is no checkpoint after SIGUSR1"
kill -0 "$process" 2>/dev/null || fail "the run did not go on after SIGUSR1"
kill -TERM "$process"
wait "$process"
code=$?
test "$code" -eq 143 || fail "exit status $code, not 143"
has err '; to go on: gbees-run --resume long'
grep -q '"state": "cancelled"' long/run.json || fail "the run is not cancelled"

# A damaged checkpoint: the one before it is used. Two: none is. Half of the file is damaged, as a file of HDF5 has places
# that nothing reads.
damage() { # FILE
    quarter=$(($(wc -c <"$1") / 4))
    head -c $((2 * quarter)) /dev/zero | tr '\0' d | dd of="$1" bs=$quarter seek=1 conv=notrunc 2>/dev/null
}
start --plugin aizawa --set accuracy=0 --backend cpu --output damaged --checkpoint-every 0.0001
wait_until test -e damaged/checkpoint-A.h5
wait_until test -e damaged/checkpoint-B.h5
kill -9 "$process"
wait "$process" 2>/dev/null
cp -r damaged twice
newest=$(ls -t damaged/checkpoint-?.h5 | head -n 1)
damage "$newest"
run 0 --resume damaged
has err 'going on from the checkpoint before it'
same whole damaged
for file in twice/checkpoint-?.h5; do
    damage "$file"
done
run 2 --resume twice
has err 'there is no other checkpoint'

# Another plugin, another scenario: refused, unless it is forced.
"$program" --quiet --plugin lorenz63 --set accuracy=0 --backend cpu --output changed --max-time 0.001 >out 2>err
plugin=$top_build/plugins/.libs/lorenz63.so
if test -e "$plugin"; then
    sed 's/const real sigma = p/const real sigma= p /' "$plugin" >lorenz63.so # a text of the same length
    run 2 --resume changed --plugin ./lorenz63.so
    has err "the plugin's source text is another one"
    has err '; --force goes on all the same'
fi
sed -i 's/^records: .*/records: 5/' changed/scenario.yaml
run 2 --resume changed
has err 'the scenario is another one'
run 0 --resume changed --force
grep -q '"forced": true' changed/run.json || fail "run.json does not say that the resumption was forced"

# A plugin that is replaced while a run uses it: the run goes on with the one that it began with.
if test -e "$plugin"; then
    cp "$plugin" used.so
    run 0 --plugin ./used.so --set accuracy=0 --backend cpu --output own
    start --plugin ./used.so --set accuracy=0 --backend cpu --output replaced
    wait_until grep -aqs record0 replaced/run.h5
    cp "$top_build/plugins/.libs/lorenz96.so" new.so
    mv new.so used.so
    wait "$process"
    code=$?
    test "$code" -eq 0 || fail "a run whose plugin was replaced ended with status $code: $(cat err)"
    same own replaced
fi

# A grid that takes more memory than allowed stops the run; it goes on with more.
run 1 --plugin lorenz63 --until 1.2 --set accuracy=0 --backend cpu --output tight --max-memory 1e-5
has err 'KiB taken; to go on: gbees-run --resume tight'
run 1 --resume tight --max-memory 1e-5
run 0 --resume tight --max-memory 1
same legs.whole tight
# With a mass budget p* is raised first, at half of the memory; whether the run is stopped depends on when it is looked at.
"$program" --plugin lorenz63 --scenario published --set mass_budget=0.002 --backend cpu --audit off --no-output \
    --progress none --max-memory 0.0004 >out 2>err
has err 'memory does not allow the mass budget of 0.002 a unit of time: p* has been raised'
# A scenario may let a threshold be raised, too.
"$program" --plugin lorenz63 --scenario published --set at_memory_limit=raise_threshold --backend cpu --audit off \
    --no-output --progress none --max-memory 0.0002 >out 2>err
has err 'memory does not allow the threshold 5e-06: it has been raised (now '
for mode in "mode=paper" "frame=moving"; do
    run 2 --plugin lorenz63 --scenario published --set at_memory_limit=raise_threshold --set "$mode" --no-output
    has err "the threshold can't be raised: give 'stop'"
done

# What can't go together.
run 2 --resume changed --set end=1
has err 'leave out --set'
run 2 --resume changed --output other
run 2 --force --plugin lorenz63
run 2 --plugin lorenz63 --checkpoint-every x
run 2 --resume nowhere
has err 'there is no checkpoint in nowhere'

exit "$bad"
