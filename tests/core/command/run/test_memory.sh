#!/bin/sh
# test_memory.sh - runs in which one allocation fails, or all from one on: each ends in order or with a sentence, not by a
# signal, and never hangs. What crashes then is HDF5, which is not written for it: that is a sentence, too. tests/failures
# tries more places, and other failures.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
shim=$top_build/tests/.libs/failing_malloc.so
enter_scratch
clean_environment
tried=0 complete=0 clean=0 ended=0

test -f "$shim" || fail "no $shim"
if ldd "$top_build/.libs/libgbees.so" 2> /dev/null | grep -q -e libasan -e libtsan; then
    skip "a sanitizer has its own allocations"
fi
if ldd "$top_build/backends/.libs/gbees_cpu.so" 2> /dev/null | grep -q libomp; then
    skip "LLVM's OpenMP reports a failed allocation of its own by allocating, without end"
fi

if grep -q __gcov_dump "$top_build/.libs/libgbees.so"; then
    skip "a program whose lines are counted allocates memory when it ends, for the counts"
fi

# Runs the program itself: libtool's script would have its allocations counted, too.
short_run() { # VARIABLE=VALUE...
    rm -rf results
    timeout -k 10 60 env LD_LIBRARY_PATH="$top_build/.libs" "$@" "$top_build/.libs/gbees-run" --plugin linear \
        --backend cpu --threads 2 --until 0.1 --set extent=1.5 --audit off --output results --quiet > out 2> err
} 2> /dev/null

# WHAT STATUS: counts a run that has ended, and fails on one that says nothing, or says nothing true.
judge()
{
    tried=$((tried + 1))
    if test "$2" = 124 || test "$2" = 137; then
        fail "$1: it hangs"
    elif test "$2" = 0; then
        complete=$((complete + 1))
        grep -q '"state": "complete"' results/run.json || fail "$1: status 0, and the run is not complete"
    elif ! grep -q . err; then
        fail "$1: status $2 without a word"
    elif test "$2" -ge 128; then
        fail "$1: status $2: $(head -n 1 err)"
    elif grep -q -e 'ended the program' -e 'HDF5 crashed' err; then
        ended=$((ended + 1))
    else
        clean=$((clean + 1))
    fi
}

# The shim goes to gbees-run alone.
short_run GBEES_TEST_FAIL_COUNT="$scratch/count" LD_PRELOAD="$shim"
judge "all allocations" $?
count=$(cat count)
test "${count:-0}" -gt 1000 || fail "the allocations are not counted: ${count:-none}"

points=24
for k in $(seq $points); do
    at=$((1 + (count - 1) * k * k / points / points)) # most of them early: late ones are all HDF5's
    short_run GBEES_TEST_FAIL_AT=$at LD_PRELOAD="$shim"
    judge "allocation $at" $?
    short_run GBEES_TEST_FAIL_AT=$at GBEES_TEST_FAIL_ON=1 LD_PRELOAD="$shim"
    judge "allocations from $at on" $?
done
echo "$tried tried: $complete complete, $clean with an error, $ended ended within HDF5 with a sentence"
test "$clean" -gt 10 || fail "too few allocations have failed"
exit $bad
