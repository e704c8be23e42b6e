#!/bin/sh
# test_stops.sh - what stops a run: run.json names it, and the run goes on from a checkpoint to the same records. Signals,
# limits, and a disk that is full until there is space again. With another parameter it goes on only by force.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/results_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment
run_of='--quiet --progress none --backend cpu --plugin lorenz63 --set accuracy=0 --set factor=1.2'

# stopped CODE FOLDER STATE: how the run whose messages are in err has ended.
stopped() {
    test "$code" -eq "$1" || fail "exit status $code, not $1"
    has err "; to go on: gbees-run --resume $2"
    lines err 1
    has_checkpoint "$2" || fail "there is no checkpoint"
    has "$2/run.json" "\"state\": \"$3\""
}

# goes_on FOLDER: to the end, with the records of the run that was not stopped.
goes_on() {
    calls 0 "$program" --quiet --progress none --resume "$1"
    has "$1/run.json" '"state": "complete"'
    lacks "$1/run.json" stopped_by
    same whole "$1"
}

# shellcheck disable=SC2086 # the options are words
calls 0 "$program" $run_of --output whole
lacks whole/run.json stopped_by

# ---- signals: a background job of the shell ignores SIGINT, and under nohup SIGHUP is ignored ----

by_signal() { # NAME CODE
    what="a run stopped by SIG$1"
    # shellcheck disable=SC2086
    env --default-signal="$1" "$program" $run_of --checkpoint-every 0 --output "by-$1" >out 2>err </dev/null &
    process=$!
    wait_until grep -aqs record0 "by-$1/run.h5"
    kill -"$1" "$process"
    wait "$process"
    code=$?
    stopped "$2" "by-$1" cancelled
    has "by-$1/run.json" "\"stopped_by\": \"SIG$1\""
    goes_on "by-$1"
}

if env --default-signal=INT true 2>/dev/null; then
    by_signal INT 130
    by_signal HUP 129
    by_signal TERM 143
else
    echo "test_stops: env can't reset signals: they were not tested"
fi

# ---- limits ----

for limit in '--max-time 0.001' '--max-memory 1e-5'; do
    option=${limit% *}
    # shellcheck disable=SC2086
    calls 1 "$program" $run_of $limit --output "by$option"
    stopped 1 "by$option" cancelled
    has "by$option/run.json" "\"stopped_by\": \"$option\""
done
goes_on by--max-time

# ---- full disks: the run goes on from its last checkpoint, once there is space ----

what="a limit on the size of files"
# shellcheck disable=SC2086
(ulimit -f 700 && exec "$program" $run_of --checkpoint-every 0.0001 --output size) >out 2>err </dev/null
code=$?
stopped 1 size failed
has err "File too large"
goes_on size

what="a full disk"
mkdir disk
if unshare -rm mount -t tmpfs none disk 2>/dev/null; then
    # shellcheck disable=SC2016 # variables of the inner shell
    unshare -rm sh -c '
        mount -t tmpfs -o size=900k none disk
        "$@" --output disk/run >out 2>err </dev/null
        code=$?
        cp -r disk/run full
        mount -o remount,size=50m disk || exit 99
        "$1" --quiet --progress none --resume disk/run >out.on 2>err.on </dev/null
        echo "$?" >code.on
        cp -r disk/run disk-with-space
        exit "$code"' sh "$program" $run_of --checkpoint-every 0.0001
    code=$?
    sed -i 's|disk/run|full|g' err
    stopped 1 full failed
    has err "No space left on device"
    test "$(cat code.on)" -eq 0 || fail "it does not go on: $(cat err.on)"
    same whole disk-with-space
else
    echo "test_stops: no right to mount a small disk: not all was tested"
fi

# ---- the time of day ----

what="a clock that is set back again and again"
preload=$top_build/tests/.libs/clock_back.so
! grep -q -e '^CFLAGS = .*-fsanitize' "$top_build/Makefile" || preload=
# shellcheck disable=SC2086
calls 1 env LD_PRELOAD="$preload" "$program" $run_of --checkpoint-every 0.0001 --max-time 0.02 --output back
stopped 1 back cancelled
calls 0 env LD_PRELOAD="$preload" "$program" --quiet --progress none --resume back
same whole back
begun=$(sed -n 's/.*"started": "\([^"]*\)".*/\1/p' back/run.json)
ended=$(sed -n 's/.*"ended": "\([^"]*\)".*/\1/p' back/run.json)
test -z "$preload" || test "$(printf '%s\n' "$begun" "$ended" | sort | head -n 1)" = "$ended" ||
    fail "the clock was not set back: $begun to $ended"

# ---- an accuracy: the first run, too, and the samples that certify it ----

calls 1 timeout 300 "$program" --quiet --progress none --backend cpu --plugin linear --scenario ou --set dimension=4 \
    --accuracy 0.001 --max-time 1 --no-output
has err "by --max-time"

# ---- another parameter ----

# shellcheck disable=SC2086
calls 1 "$program" $run_of --param r=27 --max-time 0.02 --output changed
sed -i 's/r: 27/r: 26/' changed/scenario.yaml
calls 2 "$program" --resume changed
has err "the model's parameters are others; --force goes on all the same"
lines err 1
calls 2 "$program" --resume changed --param r=26
has err 'leave out --set, --param'
calls 0 "$program" --quiet --progress none --resume changed --force
has changed/run.json '"forced": true'
has changed/run.json '"r": 26.0'

exit "$bad"
