#!/bin/sh
# test_ranks.sh - gbees-run under mpirun: the records of several ranks are those of one, bit for bit; what ranks can't
# do is refused; a rank that dies ends the others.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

prepare_mpirun

# ranks CODE NUMBER ARGUMENT...
ranks() {
    wanted=$1 number=$2
    shift 2
    case " $* " in
    *" --resume "*) set -- --threads 1 --progress none "$@" ;; # the rest is the run's own
    *) set -- --threads 1 --progress none --audit off --files records "$@" ;;
    esac
    calls "$wanted" timeout 300 mpirun -n "$number" "$program" "$@"
}

# The records of two folders, dataset by dataset.
same() { # FOLDER FOLDER
    (cd "$1" && ls leg*.h5) >left
    (cd "$2" && ls leg*.h5) >right
    test -s left || fail "$1 has no records"
    cmp -s left right || fail "$1 and $2 have other records"
    while read -r record; do
        h5diff "$1/$record" "$2/$record" >difference 2>&1 || fail "$record of $1 and $2: $(head -n 5 difference)"
    done <left
}
command -v h5diff >/dev/null || skip "there is no h5diff (Debian: apt-get install hdf5-tools)"

# compare NAME ARGUMENT...: on 1 rank and on $numbers. There rank 0 has $at_once cells of a record in memory at a time.
compare() {
    name=$1
    shift
    for number in 1 $numbers; do
        test "$number" = 1 || test -z "${at_once:-}" || export GBEES_RECORD_CELLS="$at_once"
        ranks 0 "$number" --output "$name.$number" "$@"
        test "$number" = 1 || same "$name.1" "$name.$number"
    done
}

fixed="--set accuracy=0 --scenario published"
six="--plugin lorenz96 $fixed --set extent=1.6" # a twentieth of the cells
# shellcheck disable=SC2086 # several words
{
    # With a measurement, and prunes that choose new cuts.
    # One of three ranks has two neighbours, as any of more has.
    is_long && numbers="2 3 5" || numbers=3
    at_once=4000
    compare lorenz63 --plugin lorenz63 $fixed --until 1.2
    unset GBEES_RECORD_CELLS at_once
    compare lorenz96 $six --until 0.03 --set prune_interval=3
    # p* from a mass budget, order 7, a drift that depends on time.
    compare budget --plugin lorenz63 --set accuracy=0 --set mass_budget=0.02 --set scheme=split7 --until 0.4
    # A bound; process noise, in make check of a linear model; the paper's scheme.
    compare pcr3bp --plugin pcr3bp --set accuracy=0 --scenario published --until 0.01
    ! is_long || compare unicycle --plugin unicycle --set accuracy=0 --until 0.1
    compare ou --plugin linear --scenario ou --set accuracy=0 --until 0.5
    # Rings, which are not cut; walls.
    compare rings --plugin pendulum --set accuracy=0 --param torque=2 --set "covariance=[2, 1]" --set measurements=[] \
        --until 2
    compare walls --plugin linear --scenario ou --set accuracy=0 --until 0.5 \
        --set "states=[{state: x1, lower: 0}, {state: x2, lower: -3, upper: 1, at_upper: absorb}]"
    compare ctu --plugin lorenz63 $fixed --set scheme=ctu --until 0.2
    # A grid that moves.
    compare moving --plugin cr3bp --set accuracy=0 --set frame=moving --until 0.005
    # A grid that changes (one that is resumed does, too, below), a record as initial density, the runs of an accuracy.
    ! is_long || compare regrid --plugin lorenz63 --set accuracy=0 --until 1.2 \
        --set "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2, 1]}]"
    calls 0 "$program" --threads 1 --plugin lorenz63 $fixed --until 0.5 --output start --audit off --files records --quiet
    ! is_long || compare initial --plugin lorenz63 --set accuracy=0 --set "initial={file: $PWD/start/leg0_record4.h5}"
    compare accuracy --plugin lorenz63 --set accuracy=0.1 --audit 40000 --until 0.3
    # The last run's, which is the second
    grep -q '^run 2:' out || fail "accuracy: not two runs"
    # Sums that are the same without ranks: so is the density.
    compare deterministic $six --until 0.02 --deterministic
    calls 0 "$program" --threads 1 $six --until 0.02 --deterministic --output alone --audit off --files records --quiet
    for record in alone/leg*.h5; do
        h5diff "$record" "deterministic.3/${record#*/}" /pdf >difference 2>&1 ||
            fail "--deterministic: ${record#*/}: $(head -n 5 difference)"
    done
    ! is_long || compare duffing --plugin duffing --set accuracy=0 --until 1 --set precision=double
}

# What a run says of its ranks: of one, nothing.
# shellcheck disable=SC2086
{
    ranks 0 3 --plugin lorenz63 $fixed --until 0.2 --no-output --json
    test "$(grep -c '"event":"summary"' out)" -eq 1 || fail "not one summary"
    test "$(grep -c '"event":"start"' out)" -eq 1 || fail "not one start"
    grep '"event":"summary"' out >summary
    has summary '"ranks":3'
    has summary '"imbalance":'
    has summary '"bytes_exchanged":'
    has summary '"waited_s":'
    # One entry for each rank; together they have sent what is exchanged.
    sent=$(grep -o '"bytes_sent":[0-9]*' summary | awk -F: '{ sum += $2 } END { print NR, sum }')
    test "$sent" = "3 $(grep -o '"bytes_exchanged":[0-9]*' summary | cut -d: -f2)" || fail "ranks and bytes: $sent"
    calls 0 "$program" --threads 1 --plugin lorenz63 $fixed --until 0.2 --no-output --json --audit off
    lacks out '"ranks"'
    ranks 0 2 --ranks off --plugin lorenz63 $fixed --until 0.1 --no-output --json
    test "$(grep -c '"event":"summary"' out)" -eq 2 || fail "--ranks off: not two runs"
}

# What a check expects: of one process nothing.
ranks 0 4 --plugin lorenz63 --set accuracy=0 --check --json
test "$(grep -c '"event":"check"' out)" -eq 1 || fail "not one check"
has out '"ranks":4'
has out '"bytes_a_rank":'
has out '"efficiency":'
ranks 0 1 --plugin lorenz63 --set accuracy=0 --check
has out "ranks         1, each with some"
has out "expected efficiency 100 %"

# Refusals: one sentence, before computing.
refused() { # TEXT ARGUMENT...
    text=$1
    shift
    ranks 2 2 --no-output --plugin lorenz63 "$@"
    has err "$text"
    test "$(grep -c '^gbees-run: ' err)" -eq 1 || fail "not one sentence"
}
refused "can't share a density of the backend 'paper'" --set accuracy=0 --set mode=paper
refused "nosuchkey" --set nosuchkey=1

# A run that is stopped goes on from its checkpoint on any number of ranks: records are those of a run that was not.
# stopped FOLDER: whether a run was, and left a checkpoint.
stopped() {
    test -e "$1/checkpoint-A.h5" || test -e "$1/checkpoint-B.h5"
}
resume() { # NAME ARGUMENT...
    name=$1
    shift
    ranks 0 1 --quiet --output "$name.whole" "$@"
    timeout 300 mpirun -n 3 "$program" --threads 1 --quiet --audit off --files records --output "$name.parts" --max-time 0.001 "$@" >out 2>err
    number=1 times=0
    while stopped "$name.parts" && test "$times" -lt 8; do
        number=$((number % 3 + 1)) times=$((times + 1))
        timeout 300 mpirun -n "$number" "$program" --threads 1 --quiet --resume "$name.parts" --max-time 0.2 >out 2>err
    done
    test "$times" -gt 0 || fail "$name: the run was not stopped"
    stopped "$name.parts" && ranks 0 5 --quiet --resume "$name.parts"
    same "$name.whole" "$name.parts"
}
# shellcheck disable=SC2086
{
    resume measured --plugin lorenz63 $fixed --until 1.2
    ! is_long || resume noisy --plugin unicycle --set accuracy=0 --until 0.1
    resume regridded --plugin lorenz63 --set accuracy=0 --until 0.7 \
        --set "regrid=[{time: 0.25, factor: 2}, {time: 0.5, factor: [1, 2, 1]}]"
}

# A rank that dies ends the others, and the records that there are by then are whole: those of a run that
# nothing has ended. GBEES_TEST_KILLS: how often.
what="a rank that dies"
# Some 700 steps, or of make check-long many more.
is_long && doomed="--set factor=6" || doomed="--set factor=3 --until 1"
doomed="--plugin lorenz63 --set accuracy=0 --set records=20 $doomed"

# Whether the run is complete: then a kill came too late to be one.
has_ended() {
    grep -q '"state": "complete"' killed/run.json 2>/dev/null
}

# Sets victim to the process of a rank; false if there is none yet.
is_there() { # RANK
    victim=$(process_of "$1")
    test -n "$victim"
}

# kill_rank RANK TENTHS: kills it so many tenths of a second after it has begun; 1: the run had ended before.
kill_rank() {
    rm -rf killed
    # shellcheck disable=SC2086
    timeout 120 mpirun -n 3 "$program" --threads 1 --quiet --audit off --files records $doomed --output killed >out 2>err </dev/null &
    process=$!
    wait_until is_there "$1" || fail "no process of rank $1 was found"
    sleep "$(($2 / 10)).$(($2 % 10))"
    kill -9 "$victim" 2>/dev/null
    hit=$?
    began=$(date +%s%N)
    wait "$process"
    code=$?
    process=
    took=$((($(date +%s%N) - began) / 1000000))
    if test "$2" -gt 0 && has_ended && { test "$hit" -ne 0 || test "$code" -eq 0; }; then
        return 1
    fi
    test "$hit" -eq 0 || fail "rank $1 had ended"
    echo "rank $1 killed after $2 tenths of a second: the others ended after $took ms"
    test "$code" -ne 0 || fail "exit status 0"
    test "$code" -ne 124 || fail "the others went on until they were stopped"
    for record in killed/leg*record*.h5; do
        test -e "$record" || continue
        h5diff "$record" "whole/${record#killed/}" >difference 2>&1 || fail "$record: $(head -n 5 difference)"
    done
    return 0
}

# shellcheck disable=SC2086
calls 0 timeout 300 mpirun -n 3 "$program" --threads 1 --quiet --audit off --files records $doomed --output whole
is_long && kills=20 || kills=1
kills=${GBEES_TEST_KILLS:-$kills}
while test "$kills" -gt 0; do
    tenths=$((1 + kills * 7 % 20))
    until kill_rank $((kills % 3)) "$tenths"; do
        tenths=$((tenths / 2)) # the machine is faster than that
    done
    kills=$((kills - 1))
done

# From the last checkpoint before a rank died the run goes on, on fewer ranks.
what="a checkpoint of a run whose rank has died"
rm -rf killed
# shellcheck disable=SC2086
timeout 120 mpirun -n 3 "$program" --threads 1 --quiet --audit off --files records $doomed --output killed --checkpoint-every 0.005 \
    >out 2>err </dev/null &
process=$!
wait_until stopped killed
is_there 1 && kill -9 "$victim" 2>/dev/null
wait "$process"
if has_ended; then
    echo "the run had ended before its kill: not gone on with"
else
    ranks 0 2 --quiet --resume killed
    same whole killed
fi
exit "$bad"
