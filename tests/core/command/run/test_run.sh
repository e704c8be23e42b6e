#!/bin/sh
# test_run.sh - gbees-run as its users meet it: good runs, failures, signals, JSON.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

. "$top_src/tests/fixtures/run_fixture.sh"

# ---- information ----
run 0 --version
grep -q '^gbees-run [0-9]' out || fail "no version"
run 0 --help
has out "Examples:"
has out "Exit status:"
run 0 --list
has out lorenz63
has out lorenz96
has out pcr3bp
has out cpu
grep -qE '^ +uses (generic|neon|avx2|avx512)$' out || fail "no instruction set"
run 0 --list-keys
grep -qE '^  scheme +ctu\|.*\|upwind; default split5$' out || fail "--list-keys has no schemes"
grep -qE '^  bound +on\|off or \[low, high\]; default on' out || fail "--list-keys has no bound"
grep -qE '^  factor +a number > 0, or a list of them; default 1$' out || fail "--list-keys has no factor"
run 0 --list-keys --json
is_json_lines out
has out '{"event":"key","name":"frame","choices":["fixed","moving","lagrangian","auto"],"values":null,"default":"fixed"'
run 0 --list --json
is_json_lines out
grep -qE '"name":"cpu".*"uses":"(generic|neon|avx2|avx512)"' out || fail "no instruction set"
has out '"event":"plugin","name":"lorenz63"'
has out '"event":"backend","name":"cpu"'
run 0 --plugin lorenz63 --describe
has out "Prandtl number"
has out "threshold: 5.0e-6"
run 0 --plugin lorenz96 --describe --json
is_json_lines out
has out '"dimension":[4,8]'
mkdir broken
echo "no plugin" >broken/broken.so
run 0 --list --plugin-path broken
has out "broken/broken.so"
grep -q 'invalid ELF header\|too short' out || fail "not the true reason of a broken plugin"

# ---- a run ----
GBEES_CPU_ISA=avx refuse "GBEES_CPU_ISA=avx is no instruction set: there are generic, neon, avx2 and avx512" \
    --plugin lorenz63 --scenario published
# shellcheck disable=SC2086 # $coarse is several words
run 0 $coarse --until 0.05
lines err 0
has out "results/lorenz63"
has out "gained by clipping"
is_record results/lorenz63 0 0
is_record results/lorenz63 0 2
has_record results/lorenz63 0 3 && fail "a record too many"
has results/lorenz63/run.json '"state": "complete"'
no_left_overs results/lorenz63
run 0 $coarse --until 0.05
test -s results/lorenz63-2/run.json || fail "the second run is not in results/lorenz63-2"
run 0 --plugin lorenz63 --scenario results/lorenz63/scenario.yaml --output again
cmp -s results/lorenz63/scenario.yaml again/scenario.yaml || fail "a run's scenario does not repeat it"
run 0 $coarse --until 0.04 --set 'regrid=[{time: 0.02, factor: [2, 1, 0.5]}]' --output regridded
has regridded/scenario.yaml '  - {time: 0.02, factor: [2, 1, 0.5]}'
has out 'cells of 0.333333 0.333333 0.333333 (others from t = 0.02)'
run 0 $coarse --until 0.04 --set 'regrid=[{time: 0.02, factor: [2, 1, 0.5]}]' --no-output --json
has out '"width":[0.16666666666666666,0.33333333333333331,0.66666666666666663]'
run 0 $coarse --set 'regrid=[{time: 0.02, factor: [2, 1, 0.5]}]' --check
has out 'regrid        from t = 0.02: 0.166667 0.333333 0.666667'
run 0 $coarse --set 'regrid=[{time: 0.02, factor: [2, 1, 0.5]}]' --check --json
is_json_lines out
has out '"regrid":[{"t":0.02,"width":[0.16666666666666666,0.33333333333333331,0.66666666666666663]}]'
run 0 $coarse --set regrid=auto --check
has out 'regrid        before an update that would leave'
run 0 $coarse --until 0.02 --set regrid=auto --no-output
has out '(narrower where an update needs it)'
run 0 --plugin lorenz63 --scenario regridded/scenario.yaml --output regridded-again
cmp -s regridded/scenario.yaml regridded-again/scenario.yaml || fail "a scenario with another grid is not repeated"
refuse "--set regrid 1: factor: expected a power of two (0.5, 2, 4 ...), found 3" $coarse \
    --set 'regrid=[{time: 0.02, factor: 3}]'
mkdir empty
run 0 $coarse --until 0.02 --output empty/
is_record empty 0 2
run 0 $coarse --until 0.02 --output deep/er/still
is_record deep/er/still 0 2
run 0 $coarse --until 0.02 --no-output --quiet
lines out 0
lines err 0

# The model's own scenarios by name; a file of such a name by its path.
run 0 --plugin lorenz96 --describe
has out 'Scenario "budget" (--scenario budget)'
run 0 --plugin lorenz96 --scenario budget --check
has out "mass budget   0.015 a unit of time"
run 0 --plugin lorenz96 --scenario budget --set threshold=1e-7 --check
has out "threshold     1e-07"
run 0 --plugin lorenz96 --scenario default --check
has out "threshold     8e-09"
echo 'threshold: 1e-6' >budget
run 0 --plugin lorenz96 --scenario ./budget --check
has out "threshold     1e-06"
refuse "budgte" --plugin lorenz96 --scenario budgte

# A list of the model's own scenario that goes on by '...' may have more entries than there are dimensions.
run 0 --plugin linear --scenario ou --set dimension=1 --set end=0.1 --set accuracy=0 --no-output
has out "dimension 1, "
refuse "mean: expected 1 number (dimension 1), found 2 and '...'" --plugin linear --set dimension=1 --set 'mean=[1, 2, ...]'

# Losses that updates have made up for are not added up.
run 0 --plugin linear --set accuracy=0 --no-output
has out "between measurements at most (from t = "

# ---- the default scheme, and the paper's ----
run 0 $coarse --until 0.05 --no-output
has out "mass: 0 % gained by clipping"
run 0 $coarse --until 0.05 --no-output --set scheme=ctu
has out "gained by clipping"
lacks out "mass: 0 % gained by clipping"

# ---- certificates ----
run 0 $coarse --until 0.05 --no-output
has out "error "
has out "(lattices of "
has out "grid's error: --set frame=lagrangian"
run 0 $coarse --until 0.05 --no-output --audit 1000
has out "(1000 samples, "
run 0 $coarse --until 0.05 --no-output --audit 2000 --json
is_json_lines out
has out '"samples":2000,'
has out '"asked":null,"met":null,"axes":[{"mean":{"value":'
run 0 $coarse --until 0.05 --no-output --audit off --json
has out '"error":null'
run 0 $coarse --until 0.05 --no-output --audit off
lacks out "samples"
for wrong in 10 many -1 1e5 2000x; do
    refuse "--audit wants auto, off or a whole number from 1000 to 1000000000, not '$wrong'" --plugin lorenz63 \
        "--audit=$wrong"
done
run 0 $coarse --until 0.05 --output certified
grep -q error_reason certified/run.h5 || fail "the record has no certificate"
run 0 $coarse --until 0.05 --output uncertified --audit off
grep -q error_reason uncertified/run.h5 && fail "the record has a certificate"
run 0 --plugin lorenz63 --scenario published --until 0.3 --no-output
has err "the audit says that a mean or a standard deviation is off"
has err "a marginal's standard deviation is below 1.5 cells"
run 1 --plugin lorenz63 --scenario published --until 0.3 --strict --quiet --output strict
has err "with --strict a warning is a failure: "
lines err 1
is_record strict 0 4
has strict/run.json '"state": "complete"'
run 0 --plugin vanderpol --set accuracy=0 --until 0.5 --strict --quiet --no-output

# ---- warnings: on standard error once, in the report, in each line of JSON, and before computing ----
cut="the initial box cuts off 62.5 % of the Gaussian"
run 0 --plugin lorenz63 --set factor=3 --set extent=1 --until 0.02 --no-output --audit off
lines err 1
has err "gbees-run: warning: at t = 0: $cut"
grep -q "^warning: $cut" out || fail "no warning in the report"
run 0 --plugin lorenz63 --set factor=3 --set extent=1 --until 0.02 --no-output --audit off --json
test "$(grep '"event":"record"' out | grep -c "\"warnings\":\[\"$cut")" -eq 5 || fail "not five records with it"
tail -n 1 out | grep -q "\"warnings\":\[\"$cut" || fail "no warning in the summary"
run 0 --plugin lorenz63 --set factor=3 --set extent=1 --until 0.02 --no-output --audit off --quiet
lines err 0
run 0 --plugin lorenz63 --set factor=3 --set extent=1 --check
has out "warning: $cut"
has out "it can be run; nothing was computed"
run 0 --plugin lorenz63 --set factor=3 --set extent=1 --check --json
has out "\"warnings\":[\"$cut"
for model in lorenz63 lorenz96 pcr3bp; do
    run 0 --plugin "$model" --check
    lacks out "warning"
    lacks out "mass budget"
done
run 0 --plugin lorenz63 --set factor=1.5 --set threshold=0.001 --until 0.08 --set 'measurements=[]' --audit off --output lost
lines err 1
has err "losses since the start add up to"
has lost/run.json "losses since the start add up to"
# A budget that the bound spends, with p* next to nothing: one warning of it, beside that of cells that are too wide.
run 0 --plugin pcr3bp --scenario published --set factor=0.5 --set mass_budget=0.001 --until 0.03 --set 'measurements=[]' \
    --audit off --no-output
lines err 2
has err "the mass budget is not held: "
has err "as the bound lets mass out, too, 'bound: off'"

# ---- evidence ----
measured="--plugin linear --set dimension=1 --param diagonal=-1 --set factor=2 --until 1.1 --no-output"
at_one='measurements: [{time: 1, function: x1, covariance: [0.04], value'
echo "$at_one: [0.8]}]" >near.yaml
echo "$at_one: [3]}]" >far.yaml
run 0 $measured --scenario far.yaml --audit 10000
grep -qE '^measurement 1 at t = 1: x1 = 3, log evidence -[0-9.]+ \(its uncertainty is not known\)' out ||
    fail "evidence without samples has an error"
has err "a measurement lies where the density is cut off or hardly resolved"
run 1 $measured --scenario far.yaml --audit off --strict
has err "with --strict a warning is a failure: "
run 0 $measured --scenario near.yaml
grep -qE '^measurement 1 at t = 1: x1 = 0.8, log evidence -?[0-9.]+ \(lattices: -?[0-9.]+ (±|\+-) [0-9.e-]+\)' out ||
    fail "evidence has no error"
grep -qE '^log evidence of 1 measurement: -?[0-9.]+ \(lattices: ' out || fail "nor has that of all"
lacks err "hardly resolved"
run 0 $measured --scenario near.yaml --audit off
has out "log evidence of 1 measurement: "
has out "(its uncertainty is not known)"
run 0 $measured --scenario near.yaml --json
tail -n 1 out | grep -qE '"log_evidence":-?[0-9.]+,"log_evidence_sampled":-?[0-9.]+,"log_evidence_error":[0-9.e-]+,' ||
    fail "the summary has no evidence"
run 0 $measured --scenario near.yaml --json --audit off
has out '"log_evidence_sampled":null,"log_evidence_error":null'

# The last one wins.
run 0 $coarse --no-output --json --set end=7 --until 0.04
has out '"end":0.040000000000000001'
run 0 $coarse --no-output --json --until 7 --set end=0.02
has out '"end":0.02'
printf 'end: 0.02\nrecords: 3\n' >mine.yaml
run 0 --plugin lorenz63 --set factor=1.5 --set threshold=1e-4 --scenario mine.yaml --no-output --json
has out '"record":3'
lacks out '"record":4'
run 0 $coarse --param sigma=5 --until 0.02 --output sigma
grep -q '"sigma": 5' sigma/run.json || fail "--param sigma=5 had no effect"

# ---- JSON ----
run 0 $coarse --no-output --json --progress json --until 0.1 \
    --set 'measurements=[{time: 0.05, function: z, value: [10.5], covariance: [1]}]'
is_json_lines out
test "$(grep -c '"event":"record"' out)" -eq 6 || fail "not six records"
test "$(grep -c '"event":"update"' out)" -eq 1 || fail "not one update"
grep -q '"event":"progress"' out || fail "no progress"
head -n 1 out | grep -q '"event":"start"' || fail "the first event is not the start"
tail -n 1 out | grep -q '"event":"summary"' || fail "the last event is not the summary"
for key in leg record t step dt cells cells_above width mass_lost mean cov entropy wall_s since warnings; do
    grep '"event":"record"' out | grep -qv "\"$key\":" && fail "a record without $key"
done
for key in backend threads steps cell_updates raw_cell_updates max_cells wall_s propagate_s cells_per_s peak_bytes warnings; do
    tail -n 1 out | grep -q "\"$key\":" || fail "a summary without $key"
done
has out '"threads":1'
run 0 $coarse --no-output --progress json --until 0.02 --quiet
lines out 0
is_json_lines err
run 0 $coarse --no-output --progress bar --until 0.02 --quiet
has err '['
run 2 --plugin lorenz63 --scenario published --json --set thresold=1
is_json_lines out
has out '"event":"error"'
lines err 1

# ---- the choice of a backend ----
what="gbees-run --backend auto"
few="running on the CPU: the grid begins with so few cells that a GPU, where there is one, would take longer to start; --backend cuda takes one"
"$program" --plugin lorenz63 --threads 1 --no-output --until 0.02 --set factor=1 >out 2>err || fail "it failed"
has out 'backend cpu'
has err "gbees-run: $few"
lines err 1
"$program" --plugin lorenz63 --check --no-forecast --set factor=1 >out || fail "it failed"
has out "backend       cpu (${few#*: })"
# Of a larger grid it says why no GPU was used, if none was.
"$program" --plugin lorenz63 --threads 1 --no-output --until 0.002 --set factor=3 >out 2>err || fail "it failed"
! grep -qF "$few" err || fail "50653 cells are said to be few"
if grep -q '^backend cpu' out; then
    grep -q '^gbees-run: running on the CPU: ' err || fail "it does not say why no GPU was used"
    lines err 1
fi
# A user is told once.
mkdir "$HOME"
for k in 1 2; do
    "$program" --plugin linear --threads 1 --no-output --until 0.02 --set factor=1.5 >out 2>"told$k" || fail "it failed"
done
lines told1 1
lines told2 0
GBEES_CACHE=off "$program" --plugin linear --threads 1 --no-output --until 0.02 --set factor=1.5 >out 2>err
lines err 1
rm -r "$HOME"
refuse "did you mean 'cpu'?" --plugin lorenz63 --backend cpuu

# ---- columns ----
# Means that are 0 but for rounding, and states of small units: each column begins below its head.
printf 'mean: [0, 1.2345e-7]\ncovariance: [1, 1.0e-18]\nfactor: 2\nend: 1.0e-9\nrecords: 2\nmeasurements: []\n' >small.yaml
run 0 --plugin linear --set dimension=2 --scenario small.yaml --audit off --no-output
sed -n '/^leg record/,/^$/p' out | awk '
    NR == 1 { second = index($0, "x2"); next }
    NF { if (substr($0, second - 2, 2) != "  " || substr($0, second, 1) == " ") bad = 1
         if ($7 != 0 && ($7 < 1e-3 * $9 && $7 > -1e-3 * $9)) bad = 1 }
    END { exit bad || NR < 3 }' || fail "the columns of the table are broken"

# ---- the existing codes' measurement files ----
gaussian='x (LU)\ty\tz\n-11.5\t-10 9.5\n\nCovariance(x, y, z)\n1\t0 0\n0 1 0\n0 0 1\n\n'
mkdir old crlf cut
printf "${gaussian}T\n0.02\n" >old/measurement0.txt
printf 'z\n10.2\n\nCovariance(z)\n1\n\nT\n0.02\n' >old/measurement1.txt
for file in measurement0.txt measurement1.txt; do
    sed 's/$/\r/' "old/$file" >"crlf/$file"
done
for folder in old crlf; do
    run 0 --plugin lorenz63 --measurements "$folder" --set factor=1.5 --set threshold=1e-4 --set records=1 --json \
        --output "from-$folder"
    test "$(grep -c '"event":"record"' out)" -eq 4 || fail "not four records"
    test "$(grep -c '"event":"update"' out)" -eq 1 || fail "not one update"
    is_record "from-$folder" 1 1
done
head -n 6 old/measurement0.txt >cut/measurement0.txt
grep -q . cut/measurement0.txt
refuse "cut/measurement0.txt:6: the file ends" --plugin lorenz63 --measurements cut
refuse "none" --plugin lorenz63 --measurements none

# ---- a fixed step that is too long ----
run 1 --plugin lorenz63 --set time_step=0.05 --output long
has err "gbees-run: at t = 0 (leg 0, step 0): the time step of 0.05 at t = 0 has Courant number "
has err ", and the scheme takes at most 1: give a \`time_step\` of at most 0.0"
lines err 1
has long/run.json '"state": "failed"'
is_record long 0 0
has_record long 0 1 && fail "a record after the failure"
run 1 --plugin lorenz63 --set time_step=0.05 --no-output --json
has out '"event":"error","status":"numeric"'
run 0 $coarse --until 0.002 --no-output --set time_step=0.05 # two steps of 0.001: records cut them
run 0 $coarse --until 0.05 --no-output --audit off --backend paper --set mode=legacy --set time_step=0.05

# ---- a run that fails keeps its records ----
far='measurements=[{time: 0.02, function: z, value: [5000], covariance: [1]}]'
run 1 $coarse --until 0.05 --set "$far" --output far
has err "measurement 1 (z) at t = 0.02"
has err "log-likelihood"
lines err 1
has far/run.json '"state": "failed"'
for number in 0 1 2; do
    is_record far 0 "$number"
done
has_record far 1 0 && fail "a record after the failure"
no_left_overs far
run 1 $coarse --until 0.05 --set "$far" --no-output --json
is_json_lines out
has out '"event":"error","status":"measurement"'
tail -n 1 out | grep -q '"event":"summary"' || fail "the last event is not the summary"

# ---- signals ----
# A run of many seconds, stopped after its first record.
stop() { # SIGNAL CODE FOLDER
    what="gbees-run stopped by SIG$1"
    env --default-signal="$1" "$program" --backend cpu --threads 1 --plugin lorenz63 --set factor=8 --set threshold=1e-8 \
        --set records=200 --output "$3" >out 2>err &
    process=$!
    wait_until grep -aqs record0 "$3/run.h5" || fail "no record"
    kill -s "$1" "$process"
    wait "$process"
    code=$?
    process=
    test "$code" -eq "$2" || fail "exit status $code, not $2"
    has err "gbees-run: stopped at t = "
    has "$3/run.json" '"state": "cancelled"'
    is_record "$3" 0 0
    no_left_overs "$3"
}
stop INT 130 interrupted
stop TERM 143 terminated
stop HUP 129 hung-up

what="gbees-run into a pipe that nobody reads"
: >out
{
    gbees --plugin lorenz63 --set factor=1.5 --set records=50 --output piped 2>err
    echo "$?" >code
} | head -n 1 >out
test "$(cat code)" -eq 141 || fail "exit status $(cat code), not 141"
has piped/run.json '"state": "cancelled"'
has piped/run.json '"stopped_by": "SIGPIPE"'
if test -c /dev/full; then
    what="gbees-run onto a full disk"
    gbees --plugin lorenz63 --scenario published --no-output --until 0.01 >/dev/full 2>err
    code=$?
    test "$code" -eq 1 || fail "exit status $code, not 1"
    has err "can't be written"
fi

# What is left after such losses is no density: the run fails, its records are kept.
run 1 --plugin pcr3bp --scenario published --set threshold=1e-4 --output meaningless --audit off
has err 'of the mass is left since the last update: the result is meaningless'
has err "give a smaller 'threshold'"
is_record meaningless 0 0
run 1 --plugin lorenz63 --set threshold=4e-3 --until 0.75 --set 'measurements=[]' --no-output --audit off
has err 'meaningless'

exit "$bad"
