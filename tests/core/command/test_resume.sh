#!/bin/sh
# test_resume.sh - gbees-run --resume: runs that are stopped or killed and gone on with have the results of runs that
# were not.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
program=$top_build/gbees-run
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

has_checkpoint() { # FOLDER
    test -e "$1/checkpoint-A.h5" || test -e "$1/checkpoint-B.h5"
}

# The checksums that a file holds of its datasets and attributes.
sums() { # FILE
    grep -aoE '[0-9a-f]{64}' "$1" | sort
}

# The second folder's records, and of the time series all but the seconds, and with them the sum of the sums, are the
# first one's. Of time series that a stop has left there are more sums.
same() { # FOLDER FOLDER
    grep '^# record' "$1/SHA256SUMS" >left
    grep '^# record' "$2/SHA256SUMS" >right
    test -s left && cmp -s left right || fail "$1 and $2 have other records"
    sums "$1/run.h5" | uniq >left
    sums "$2/run.h5" | uniq >right
    test "$(wc -l <left)" -gt 50 || fail "$1 has no checksums"
    test "$(comm -23 left right | wc -l)" -le 2 || fail "records or time series of $1 and $2 differ"
    calls 0 "$top_build/gbees-export" --verify "$2"
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
in_parts legs --plugin lorenz63
in_parts regrids --plugin lorenz63 --set regrid=auto
in_parts budget --plugin lorenz63 --set mass_budget=1e-3
in_parts ctu --plugin lorenz63 --set scheme=ctu-positive --until 0.5
in_parts paper --plugin lorenz63 --set mode=paper --until 0.5
in_parts moving --plugin vanderpol --set frame=moving
in_parts noise --plugin linear --param noise=.1
in_parts moving_noise --plugin unicycle --set frame=moving --set measurements=[]
in_parts driven --plugin duffing --deterministic
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
    in_parts shim --plugin lorenz63 --until 1.2 --set mass_budget=1e-3
    in_parts shim_moving --plugin lorenz63 --until 0.5 --set frame=moving
    SHIM_CLUSTER=1
    export SHIM_CLUSTER
    in_parts shim_cluster --plugin lorenz63 --scenario published --until 1.2
    unset SHIM_CLUSTER
    "$program" --quiet --plugin lorenz63 --set accuracy=0 --backend shim --output other --max-time 0.001 >out 2>err
    run 2 --resume other --backend cpu
    has err 'the state is not one of a CPU engine'
    unset GBEES_BACKEND_PATH
fi

# Killed at 20 random moments.
run 0 --plugin aizawa --set accuracy=0 --backend cpu --output whole
kills=0 resumed=0
awk 'BEGIN { srand(); for (i = 0; i < 200; i++) printf "%.3f\n", 0.05 + 0.4 * rand() }' >moments
while test "$kills" -lt 20; do
    rm -rf killed
    start --plugin aizawa --set accuracy=0 --backend cpu --output killed --checkpoint-every 0.0001
    while :; do
        if test "$kills" -lt 20; then # then the last one may end
            sleep "$(sed -n $((kills + 1))p moments)"
            kill -9 "$process" 2>/dev/null
        fi
        wait "$process" 2>/dev/null
        code=$?
        test "$code" -eq 137 || break
        kills=$((kills + 1))
        if has_checkpoint killed; then
            resumed=$((resumed + 1))
            start --resume killed --checkpoint-every 0.0001
        else
            rm -rf killed
            start --plugin aizawa --set accuracy=0 --backend cpu --output killed --checkpoint-every 0.0001
        fi
    done
    test "$code" -eq 0 || fail "a run that was resumed ended with status $code"
    same whole killed
done
test "$resumed" -ge 10 || fail "of $kills runs that were killed $resumed could be resumed only"

# SIGUSR1 leaves a checkpoint and lets the run go on; SIGTERM leaves one and ends it with a hint.
start --plugin lorenz96 --set accuracy=0 --until 1 --backend cpu --output long --checkpoint-every 0
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    grep -aqs record0 long/run.h5 && kill -USR1 "$process"
    has_checkpoint long && break
done
has_checkpoint long || fail "there is no checkpoint after SIGUSR1"
kill -0 "$process" 2>/dev/null || fail "the run did not go on after SIGUSR1"
kill -TERM "$process"
wait "$process"
code=$?
test "$code" -eq 143 || fail "exit status $code, not 143"
has err '; to go on: gbees-run --resume long'
grep -q '"state": "cancelled"' long/run.json || fail "the run is not cancelled"

# A damaged checkpoint: the one before it is used. Two: none is.
start --plugin aizawa --set accuracy=0 --backend cpu --output damaged --checkpoint-every 0.0001
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    test -e damaged/checkpoint-A.h5 && test -e damaged/checkpoint-B.h5 && break
    sleep 0.05
done
kill -9 "$process"
wait "$process" 2>/dev/null
cp -r damaged twice
newest=$(ls -t damaged/checkpoint-?.h5 | head -n 1)
size=$(wc -c <"$newest")
printf 'damage' | dd of="$newest" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run 0 --resume damaged
has err 'going on from the checkpoint before it'
same whole damaged
for file in twice/checkpoint-?.h5; do
    printf 'damage' | dd of="$file" bs=1 seek=$(($(wc -c <"$file") / 2)) conv=notrunc 2>/dev/null
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

# A grid that takes more memory than allowed stops the run; it goes on with more.
run 0 --plugin lorenz63 --set accuracy=0 --backend cpu --output roomy
run 1 --plugin lorenz63 --set accuracy=0 --backend cpu --output tight --max-memory 1e-5
has err 'KiB taken; to go on: gbees-run --resume tight'
run 1 --resume tight --max-memory 1e-5
run 0 --resume tight --max-memory 1
same roomy tight
# With a mass budget p* is raised first, at half of the memory; whether the run is stopped depends on when it is looked at.
"$program" --plugin lorenz63 --scenario published --set mass_budget=0.002 --backend cpu --audit off --no-output \
    --progress none --max-memory 0.0004 >out 2>err
has err 'memory does not allow the mass budget of 0.002 a unit of time: p* has been raised'

# Of runs for an accuracy the one that is interrupted can be gone on with.
run 0 --plugin aizawa --accuracy 0.4 --backend cpu --output certified.whole
start --plugin aizawa --accuracy 0.4 --backend cpu --output certified --checkpoint-every 0.0001
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    has_checkpoint certified.run1 && break
    sleep 0.05
done
kill -9 "$process"
wait "$process" 2>/dev/null
run 0 --resume certified.run1
grep -q '"state": "complete"' certified.run1/run.json || fail "the run for an accuracy is not complete"
same certified.whole certified.run1

# What can't go together.
run 2 --resume changed --set end=1
has err 'leave out --set'
run 2 --resume changed --output other
run 2 --force --plugin lorenz63
run 2 --plugin lorenz63 --checkpoint-every x
run 2 --resume nowhere
has err 'there is no checkpoint in nowhere'

exit "$bad"
