#!/bin/sh
# test_robust.sh - what goes wrong on a real machine: a model that returns NaN, or not at all, no memory, a full disk, a
# limit on the size of files, a signal before there is anything to keep, a plugin of another ABI. Each ends with one line
# on standard error and the right exit status, and what was computed before is whole.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment
mkdir plugins
cp "$top_build"/tests/.libs/*.so plugins

# judge CODE TEXT: of the command that has just ended with $code and left its messages in the file err.
judge() {
    test "$code" -eq "$1" || fail "exit status $code, not $1"
    grep -qF -- "$2" err || fail "no '$2'"
    test "$(wc -l <err)" -eq 1 || fail "$(wc -l <err) lines, not 1"
    grep -q '^gbees-run: ' err || fail "it does not begin with the program's name"
}

# whole FOLDER STATE: its records can be read, nothing is half-written, and it says how it ended.
whole() {
    grep -q "\"state\": \"$2\"" "$1/run.json" || fail "$1 does not say '$2'"
    test -z "$(find "$1" -name '*.tmp')" || fail "temporary files are left in $1"
    if has_record "$1" 0 0; then
        "$programs/gbees-export" --format csv "$1" "$1.csv" || fail "the records of $1 can't be read"
    fi
}

gbees() {
    "$program" --backend cpu --threads 1 --plugin-path plugins --quiet "$@" 2>err </dev/null
    code=$?
}

what="a drift that is not finite"
gbees --plugin nan_drift --until 0.9 --set records=8 --output nan
judge 1 "the drift of nan_drift is not finite near x = "
whole nan failed
has_record nan 0 1 || fail "no record before the failure"

# The run ends as by kill -9: what it says of itself stays "running", and the next one may take its folder.
kept() { # FOLDER
    whole "$1" running
    has_record "$1" 0 3 || fail "no records before the drift stands still"
    "$programs/gbees-export" --verify "$1" >/dev/null || fail "the records are not as they were written"
}

what="a drift that does not return, and --max-time"
for seconds in 1 4 16; do # a busy machine takes longer to the drift that stands still
    rm -rf late
    gbees --plugin loops --audit off --max-time $seconds --output late
    has_record late 0 3 && break
done
judge 1 "stopped by --max-time within a step or a record that had not ended seconds later"
kept late

what="a drift that does not return, and two signals"
"$program" --backend cpu --threads 1 --plugin-path plugins --quiet --plugin loops --audit off --output loops 2>err </dev/null &
process=$!
wait_until has_record loops 0 4
sleep 1 # until the drift stands still
kill -s TERM $process
sleep 1
test ! -s err || fail "a first signal already ends it"
kill -0 $process || fail "it ended by one signal, with a drift that does not return"
sleep 2
kill -s TERM $process
wait $process
code=$?
judge 143 "ended by a second signal within a step (if steps do not end, look for a loop in the drift of the model 'loops')"
kept loops

what="a drift that is not finite at the start"
gbees --plugin nan_drift --set 'mean=[3, 0]' --output nan-at-once
judge 1 "the drift of nan_drift is not finite near x = "
test ! -e nan-at-once || fail "it made a folder for nothing"

what="a plugin of another ABI"
gbees --plugin bad_abi --output abi
abi=$(sed -n 's/.*GBEES_MODEL_ABI = \([0-9]*\).*/\1/p' "$top_src/include/gbees/model.h")
judge 2 "plugins/bad_abi.so: made for model ABI 1000, this gbees has ABI $abi: rebuild"
test ! -e abi || fail "it made a folder for nothing"

what="a plugin that is cut short"
head -c 8192 plugins/full.so >plugins/cut.so
gbees --plugin cut --output cut
judge 2 "plugins/cut.so: can't be loaded: a process tried to first, and it crashed (Bus error): the file is damaged"

for how in 'exit:it ended the process with status' 'crash:it crashed (Segmentation fault)'; do
    what="a plugin whose constructor does this: ${how%%:*}"
    GBEES_TEST_CONSTRUCTOR=${how%%:*}
    export GBEES_TEST_CONSTRUCTOR
    gbees --plugin constructor --output constructed
    unset GBEES_TEST_CONSTRUCTOR
    judge 2 "plugins/constructor.so: can't be loaded: a process tried to first, and ${how#*:}"
    test ! -e constructed || fail "it made a folder for nothing"
done

for z in 500 5000; do
    what="a measurement at z = $z"
    gbees --plugin lorenz63 --set factor=0.5 --set records=1 --until 0.1 --output "far-$z" \
        --set "measurements=[{time: 0.05, function: z, value: [$z], covariance: [1]}]"
    judge 1 "measurement 1 (z) at t = 0.05"
    grep -q 'log-likelihood is at most -[0-9]' err || fail "it does not say the log-likelihood"
    whole "far-$z" failed
    has_record "far-$z" 0 1 || fail "the record before the measurement is lost"
done

# A density that spreads over half of the space is soon larger than 300 MB; the program alone takes less than 100.
what="no memory"
if (ulimit -v 300000) 2>/dev/null; then
    (
        ulimit -v 300000
        gbees --plugin lorenz96 --set dimension=5 --set threshold=1e-200 --output memory
        exit "$code"
    )
    code=$?
    judge 1 "memory"
    test ! -e memory || whole memory failed
    test ! -e memory || grep -q '"stopped_by": "lack of memory"' memory/run.json || fail "run.json does not say why"
fi

what="a limit on the size of files"
(
    ulimit -f 200 # of 512 or 1024 bytes
    gbees --plugin lorenz63 --scenario published --until 1 --output size
    exit "$code"
)
code=$?
judge 1 "File too large"
whole size failed
has_record size 0 0 || fail "no record before the failure"

what="a full disk"
mkdir disk
if unshare -rm sh -c 'mount -t tmpfs -o size=300k none disk' 2>/dev/null; then
    unshare -rm sh -c '
        mount -t tmpfs -o size=300k none disk
        "$0" --backend cpu --threads 1 --plugin lorenz63 --scenario published --quiet --output disk/run 2>err </dev/null
        code=$?
        cp -r disk/run full
        exit "$code"' "$program"
    code=$?
    judge 1 "No space left on device"
    whole full failed
    has_record full 0 0 || fail "no record before the failure"

    what="a full disk when a run is stopped"
    unshare -rm sh -c '
        mount -t tmpfs -o size=100k none disk
        "$0" --backend cpu --threads 1 --plugin lorenz63 --set factor=6 --set output.densities=none --audit off \
            --max-time 0.001 --quiet --output disk/run 2>err </dev/null
        code=$?
        cp -r disk/run stopped
        exit "$code"' "$program"
    code=$?
    judge 1 "no checkpoint was written: can"
    judge 1 "No space left on device; there is none before it"
    whole stopped failed
else
    echo "test_robust: no right to mount a small disk: not all was tested"
fi

# Memory that is freed is overwritten at once: what is used afterwards, by us or by HDF5, crashes.
what="memory used after it was freed"
(
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=165
    export GLIBC_TUNABLES
    gbees --plugin lorenz63 --set factor=0.5 --set threshold=1e-3 --set records=1 --until 0.02 --output freed
    test "$code" -eq 0 || exit "$code"
    "$programs/gbees-export" --format csv freed freed-text >/dev/null 2>err
)
code=$?
test "$code" -eq 0 || fail "exit status $code, not 0"
whole freed complete

what="a signal while the scenario is being waited for"
if mkfifo pipe.yaml; then
    timeout -s TERM --preserve-status 1 "$program" --plugin lorenz63 --scenario pipe.yaml --output early 2>err
    code=$?
    test "$code" -eq 143 || fail "exit status $code, not 143"
    test ! -e early || fail "it made a folder for nothing"
fi

exit "$bad"
