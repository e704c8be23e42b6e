#!/bin/sh
# test_output.sh - gbees-run: what a scenario's key `output` has written to disk, and the options that are short for it.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# run CODE ARGUMENT...: a measurement at t = 0.1; records at 0, 0.05, 0.1, 0.1, 0.15 and 0.2
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" --backend cpu --threads 1 --plugin lorenz63 --scenario scene.yaml --audit off \
        --progress none "$@"
}

# wrote FOLDER RECORD...: exactly these have been written
wrote() {
    folder=$1
    shift
    records_of "$folder" | tr '\n' ' ' >wrote
    test "$(cat wrote)" = "${*:+$* }" || fail "in $folder are '$(cat wrote)', not '$*'"
    "$programs/gbees-export" --verify "$folder" >log 2>&1
    test $# -eq 0 || grep -q 'as they were written' log || fail "$folder: $(cat log)"
}

# values FILE DATASET [OPTION...]: prints a dataset's values without its attributes
values() {
    file=$1 set=$2
    shift 2
    h5dump -A 0 -y -w 1 -d "$set" "$@" "$file" | grep -E '^ *[-0-9.]' || fail "no $set in $file"
}

same() { # FILE OTHER DATASET
    values "$1" "$3" >first.txt
    values "$2" "$3" >second.txt
    cmp first.txt second.txt || fail "$3 of $1 and $2 differ"
}

# scene [OUTPUT]: the scenario, with this line
scene() {
    cat >scene.yaml <<END
factor: 1
threshold: 1.0e-5
end: 0.2
records: 2
measurements: [{time: 0.1, function: z, value: [9], covariance: [1]}]
${1:-}
END
}

# ---- densities: by the key, and by the option, which wins ----
scene
run 0 --output all
wrote all leg0/record0 leg0/record1 leg0/record2 leg1/record0 leg1/record1 leg1/record2
lacks all/scenario.yaml output
scene 'output: {densities: every 4}'
run 0 --output every
wrote every leg0/record0 leg1/record1
has every/scenario.yaml 'output: {densities: every 4}'
run 0 --output last --densities last
wrote last leg1/record2
has last/scenario.yaml 'output: {densities: last}'
run 0 --output again --scenario last/scenario.yaml
wrote again leg1/record2
scene 'output: {densities: [0.1, 0.12]}' # both records of an update, and the first one after the other time
run 0 --output times
wrote times leg0/record2 leg1/record0 leg1/record1
run 0 --output one --densities '[0.05]'
wrote one leg0/record1
run 0 --output early --until 0.11 # what is after an end from elsewhere is left out
wrote early leg0/record2 leg1/record0
has early/scenario.yaml 'output: {densities: [0.1]}'
run 0 --output none --densities none
wrote none
scene 'output: {files: records, densities: last}'
run 0 --output apart
wrote apart leg1_record2.h5
test -e apart/moments.h5 && test ! -e apart/run.h5 || fail "records are not files of their own"
for folder in every last times none; do
    for name in time mean covariance; do
        same all/run.h5 "$folder/run.h5" "/$name"
    done
done
same all/run.h5 times/run.h5 /leg1/record1/pdf/p

# ---- the moments of each step: another group, and the same records ----
scene 'output: {moments: every step}'
run 0 --output steps --json
steps=$(sed -n 's/.*"event":"summary".*"steps":\([0-9]*\).*/\1/p' out)
test -n "$steps" && test "$steps" -gt 20 || fail "there are $steps steps"
values steps/run.h5 /steps/step >list
test "$(wc -l <list)" -eq $((steps + 2)) || fail "not a row for each of $steps steps and 2 legs"
values steps/run.h5 /steps/mean -s "$((steps + 1)),0" -c 1,3 >first.txt
values steps/run.h5 /mean -s 5,0 -c 1,3 >second.txt
cmp first.txt second.txt || fail "the moments of the last step are not those of the last record"
for record in leg0/record2 leg1/record2; do
    for name in index p; do
        same all/run.h5 steps/run.h5 "/$record/pdf/$name"
    done
done
calls 0 "$programs/gbees-export" --verify steps
calls 1 h5ls all/run.h5/steps

# A run that is stopped goes on with its steps.
calls 1 "$program" --backend cpu --threads 1 --plugin lorenz63 --scenario scene.yaml --audit off --progress none \
    --set factor=3 --until 1 --output stopped --max-time 0.05
calls 0 "$program" --resume stopped --progress none
calls 0 "$program" --backend cpu --threads 1 --plugin lorenz63 --scenario scene.yaml --audit off --progress none \
    --set factor=3 --until 1 --output whole
for name in time step mean covariance mass; do
    same whole/run.h5 stopped/run.h5 "/steps/$name"
done

# ---- a grid that moves ----
run 0 --output moves --set frame=moving --set 'covariance=[1, 1, 1]'
values moves/run.h5 /steps/time >list
test "$(wc -l <list)" -gt 4 || fail "a grid that moves has no steps"

# ---- a table of a thousand rows: beside the densities it takes less than 1 MB, and --check tells what is written ----
awk 'BEGIN { print "time,z"; for (k = 1; k <= 1000; k++) printf "%.3f,%.16g\n", k / 1000, 9.5 - 8 * k / 1000 + sin(k) }' >table.csv
cat >table.yaml <<END
factor: 1
threshold: 1.0e-5
records: 1
measurements: {file: table.csv, covariance: [25]}
END
sum_of() { # FOLDER: bytes of its files
    cat "$1"/* | wc -c
}
forecast_of() { # ARGUMENT...: what --check tells
    calls 0 "$program" --plugin lorenz63 --scenario table.yaml --check --no-forecast --json "$@"
    sed -n 's/.*"output_bytes":\([0-9]*\).*/\1/p' out
}
is_near() { # FOLDER FORECAST
    size=$(sum_of "$1")
    test "$size" -lt $((3 * $2)) && test "$2" -lt $((3 * size)) || fail "$1 has $size bytes, and --check says $2"
}
table="--backend cpu --threads 1 --progress none --quiet --plugin lorenz63 --scenario table.yaml"
# shellcheck disable=SC2086 # several words
calls 0 "$program" $table --densities none --output none-of-table
test "$(sum_of none-of-table)" -le 1000000 || fail "the results of 1000 rows have $(sum_of none-of-table) bytes"
is_near none-of-table "$(forecast_of --densities none)"
# Processor time beside that of the run without files: the least of five each.
seconds() { # ARGUMENT...
    # shellcheck disable=SC2086
    /usr/bin/env "${GBEES_PYTHON:-python3}" -c 'import os, resource, shutil, subprocess, sys
best = 1e9
for _ in range(5):
    shutil.rmtree("timed", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
print(int(1000 * best))' "$program" $table "$@"
}
if is_long; then
    alone=$(seconds --no-output)
    with=$(seconds --densities none --output timed)
    test "$with" -le $((alone * 3 / 2)) || fail "1000 rows take $with ms with files, and $alone ms without"
fi
# shellcheck disable=SC2086
calls 0 "$program" $table --until 0.05 --output all-of-table
is_near all-of-table "$(forecast_of --until 0.05)"
has out '"records":101,"records_written":101'
line="--plugin linear --set dimension=1 --set mean=[0] --set covariance=[1] --set records=40 --set accuracy=0 --until 0.1"
# shellcheck disable=SC2086
calls 0 "$program" $line --backend cpu --threads 1 --audit off --progress none --quiet --output of-one-state
# shellcheck disable=SC2086
calls 0 "$program" $line --backend cpu --audit off --check --no-forecast --json
is_near of-one-state "$(sed -n 's/.*"output_bytes":\([0-9]*\).*/\1/p' out)"

# ---- bad input: one line, before anything is computed ----
refuse() { # TEXT ARGUMENT...
    text=$1
    shift
    run 2 "$@" --output refused
    has err "$text"
    lines err 1
    test ! -e refused || fail "it made the output folder"
}
scene 'output: {densities: [0.1, 0.3]}'
refuse "scene.yaml:6:27: output: densities: time 0.3 is later than the end, 0.2"
scene 'output: {densities: [0.15, 0.18]}'
refuse "scene.yaml:6:21: output: densities: no time is up to the end, 0.1" --until 0.1
scene 'output: {densities: some}'
refuse "scene.yaml:6:21: output: densities: expected 'all', 'last', 'none', 'every N'"
scene
refuse "--densities wants all, last, none, a whole number from 1 to 1000000 or a list of times, [T, ...], not 'few'" \
    --densities few
refuse "--set output: densities: expected a time, found 'x'" --densities '[x]'
refuse "--files wants run or records, not 'two'" --files two
refuse "--set output: moments: expected 'every record' or 'every step', found '5'" --set output.moments=5
calls 2 "$program" --resume stopped --densities last
has err "leave out --set, --param, --until, --accuracy, --densities and --files"
# ---- names that nobody has given: runs that begin at the same time take one each ----
scene
what="four runs at once"
for k in 1 2 3 4; do
    test "$k" -le 2 && options="--accuracy 0.9" || options=
    # shellcheck disable=SC2086 # options
    "$program" --backend cpu --threads 1 --plugin lorenz63 --scenario scene.yaml --progress none $options >"out$k" 2>"err$k" &
    runs="${runs:-} $!"
done
for pid in $runs; do
    wait "$pid" || fail "one ended with status $?: $(cat err?)"
done
for folder in results/lorenz63 results/lorenz63-2 results/lorenz63-3 results/lorenz63-4; do
    has_record "$folder" 0 0 || fail "there is no record in $folder: $(ls results)"
done
test "$(ls results | wc -l)" -eq 4 || fail "there are $(ls results)"
# --check makes none, and a run that does not begin leaves none.
run 0 --check --no-forecast
run 2 --set 'measurements=[{time: 0.1, function: z, value: [9]}]'
run 2 --truth none.csv
test "$(ls results | wc -l)" -eq 4 || fail "there are $(ls results)"
exit "$bad"
