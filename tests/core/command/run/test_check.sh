#!/bin/sh
# test_check.sh - what gbees-run refuses before it computes, in one line, and what --check tells.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

. "$top_src/tests/fixtures/run_fixture.sh"

# ---- bad input ----
refuse "did you mean 'lorenz63'?" --plugin lorenz36x
refuse "lorenz63.so" --plugin ./lorenz63.so
refuse "--plugin NAME"
refuse "what is 'lorenz96' for?" --plugin lorenz63 lorenz96
refuse "did you mean 'threshold'?" --plugin lorenz63 --set thresold=1e-5
refuse "threshold: expected a number" --plugin lorenz63 --set threshold=small
refuse "expected 3 numbers" --plugin lorenz63 --set 'mean=[1, 2]'
refuse "not positive definite" --plugin lorenz63 --set 'covariance=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]'
refuse "has no parameter 'gamma'" --plugin lorenz63 --param gamma=1
refuse "KEY=VALUE" --plugin lorenz63 --set threshold
refuse "NAME=VALUE" --plugin lorenz63 --param r
refuse "--until wants a number" --plugin lorenz63 --until noon
refuse "--threads wants a whole number" --plugin lorenz63 --threads many
refuse "--progress wants auto, bar, json or none" --plugin lorenz63 --progress dots
refuse "has no function 'w'" --plugin lorenz63 \
    --set 'measurements=[{time: 1, function: w, value: [1], covariance: [1]}]'
refuse "--measurement-function goes with" --plugin lorenz63 --measurement-function z
refuse "unrecognized option '--nonsense' (gbees-run --help" --plugin lorenz63 --nonsense
refuse "unrecognized option '--outptu': did you mean '--output'?" --plugin lorenz63 --outptu=x
refuse "exclude each other" --list --check --plugin lorenz63
refuse "did you mean 'lorenz63'?" --plugin LORENZ63
run 2 --plugin lorenz63 --scenario published --json --thrads 3
is_json_lines out
has out "did you mean '--threads'?"
run 0 --vers
run 2 --plugin
has err "gbees-run: option '--plugin' requires an argument"
run 2 --plugin lorenz63 --scenario published --output x --no-output
has err "exclude each other"

# In a file: with the file's name, the line and the column.
refuse "none.yaml" --plugin lorenz63 --scenario none.yaml
printf 'end: 1\n\nthresold: 1e-5\n' >key.yaml
refuse "key.yaml:3:1: unknown key 'thresold'" --plugin lorenz63 --scenario key.yaml
printf 'end: 1\nrecords: many\n' >type.yaml
refuse "type.yaml:2:10: records: " --plugin lorenz63 --scenario type.yaml
printf 'mean: [1, 2]\n' >length.yaml
refuse "length.yaml:1:7: mean: expected 3 numbers" --plugin lorenz63 --scenario length.yaml
printf 'end: 1\ncovariance: [1, -1, 1]\n' >covariance.yaml
refuse "covariance.yaml:2:13: covariance: " --plugin lorenz63 --scenario covariance.yaml
printf 'end: 1\nextent: [3, 3, 0.1]\n' >extent.yaml
refuse "extent.yaml:2:9: extent: the initial box has a single cell along axis 3" --plugin lorenz63 --scenario extent.yaml
printf 'end: [1\n' >syntax.yaml
refuse "syntax.yaml:" --plugin lorenz63 --scenario syntax.yaml
printf 'model: lorenz96\n' >model.yaml
refuse "model.yaml:1:8: model: the scenario is for 'lorenz96'" --plugin lorenz63 --scenario model.yaml

# ---- folders for the results ----
mkdir full
touch full/file
run 2 --plugin lorenz63 --scenario published --output full
has err "full is not empty"
run 2 --plugin lorenz63 --output full --check
has err "full is not empty"
run 2 --plugin lorenz63 --scenario published --output full/file
has err "full/file is a file"
run 2 --plugin lorenz63 --scenario published --output full/file/below
has err "can't be made"
if test "$(id -u)" -ne 0; then
    mkdir locked
    chmod 555 locked
    run 2 --plugin lorenz63 --scenario published --output locked/below
    has err "can't be written"
    chmod 755 locked
fi
if test -d /proc/1; then # root can't write there either
    run 2 --plugin lorenz63 --scenario published --output /proc/gbees/below
    has err "/proc"
fi

# ---- check: computes nothing, makes nothing ----
run 0 --plugin lorenz96 --check --output checked
has out "dimension     6"
has out "memory"
has out "nothing was computed"
test ! -e checked || fail "--check made the output folder"
run 0 --plugin lorenz63 --check
test ! -e results || fail "--check made a folder"
run 0 --plugin lorenz63 --check --no-forecast
! grep -q forecast out || fail "a forecast that was to be left out"
has out "memory"
run 0 --plugin lorenz63 --check --no-forecast --json
has out '"forecast_bytes":null'
# A stiff drift is told before the run: its steps are short on any cells.
run 0 --plugin vanderpol --set parameters.mu=50 --check --json
has out '"forecast_bytes":null'
steps=$(number forecast_steps)
awk "BEGIN { exit !($steps > 1e5) }" || fail "a stiff drift takes $steps steps"
refuse "--no-forecast goes with --check" --plugin lorenz63 --no-forecast
run 0 --plugin lorenz63 --check --json
is_json_lines out
lines out 1
has out '"event":"check"'

# The results name the file that the model is in.
run 0 --plugin lorenz63 --backend cpu --until 0.1 --audit off --set accuracy=0 --output named
grep -q '"plugin": "/.*/lorenz63.so"' named/run.json || fail "the results do not name the model's file"

# The forecast of memory is within 1.5 times of what is taken: on a slow machine, on wider cells.
for model in linear lorenz63 vanderpol; do
    for cells in accuracy=0 factor=1 factor=0.5; do
        run 0 --plugin "$model" --backend cpu --set "$cells" --check --json
        forecast=$(number forecast_bytes)
        test "$forecast" = null || break
    done
    run 0 --plugin "$model" --backend cpu --set "$cells" --audit off --no-output --json
    taken=$(number peak_bytes)
    awk "BEGIN { exit !($forecast < 1.5 * $taken && $taken < 1.5 * $forecast) }" ||
        fail "$model: $forecast bytes are forecast, and $taken are taken"
done
run 0 --plugin lorenz63 --backend cpu --until 1e9 --check
has out "forecast      not known: runs take long on wider cells, too"
"$program" --plugin lorenz63 --scenario published --until 1e9 --audit off --no-output --backend cpu >out 2>err &
process=$!
wait_until grep -q "on this run will take some .* \(days\|years\): end it earlier" err || fail "a run to t = 1e9 does not say how long it takes"
kill -TERM "$process"
wait "$process"
process=
run 2 --plugin lorenz63 --check --set 'covariance=[1, 0, 1]'
has err "positive"

exit "$bad"
