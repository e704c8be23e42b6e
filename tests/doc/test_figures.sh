#!/bin/sh
# test_figures.sh - figures that pages of the manual quote from runs are what these runs print; the tutorial's are checked by
# test_tutorial.sh. A failure prints the lines that the page should have. Times are left out: they depend on the machine.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment
LC_ALL=C.UTF-8
export LC_ALL

# run ARGUMENT...: on the CPU, as a GPU's results differ by rounding.
run() {
    calls 0 "$programs/gbees-run" --plugin lorenz63 --backend cpu --progress none --no-output "$@"
}

without_times() {
    sed -E 's/updates in [0-9.e+-]+ s/updates in some time/; s/take about [0-9.e+-]+ s/take some time/'
}

# quoted PAGE FILE: each line of the file is one of the page, which may be indented.
quoted() {
    sed 's/^ *//' "$top_src/doc/$1" | without_times >page
    test -s "$2" || fail "there are no figures for $1"
    while IFS= read -r line; do
        grep -qxF -- "$line" page || fail "doc/$1 should have the line: $line"
    done <"$2"
}

# after_update NAME: "| NAME | 3.04 ± 9.42 | ... |" of the record after the measurement.
after_update() {
    sed -n '/^measurement 1/{n;p;}' out | sed -E 's/^ *([^ ]+ +){6}//; s/  +/ | /g' | sed "s/.*/| $1 | & |/"
}

# The table of --compare, without samples and seconds, and what follows from it.
run --compare mc,ekf,ukf,enkf,pf
awk '$1 ~ /^(grid|mc|ekf|ukf|enkf|pf)$/ { print "| " $1 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 " | " $9 " |" }' out >table
quoted gbees-run.md table
has out "accuracy 0.05 of the moments: met"
lacks out "No answer"
after_update 'gbees, accuracy 0.05' >rows
run --backend paper --scenario published --set mode=paper --audit off
after_update 'gbees in paper mode, as the published code computes' >>rows
quoted coming-from.md rows
test "$(grep -c '^| gbees' "$top_src/doc/coming-from.md")" -eq $(($(wc -l <rows) + 1)) || # and a table's head
    fail "coming-from.md has other rows of gbees"

run --scenario published
grep '^error' out >lines
quoted accuracy.md lines
run --accuracy 0.2
grep -E '^(run [0-9]|accuracy )' out | without_times >lines
quoted accuracy.md lines

# The picture of work and error is that of its table, in which no error of points is above what was asked for.
table=$top_src/doc/frames.csv
test "$(sed -E 's/^("[^"]*"|[^,]*),([^,]*),.*/\1,\2/' "$table" | grep -c ',points')" -ge 15 || fail "frames.csv lacks points"
grep 'points (lagrangian),accuracy ' "$table" | sed 's/.*,accuracy //' |
    awk -F, '$3 > $1 { exit 1 }' || fail "frames.csv has an error above its accuracy"
if python=$(find_python matplotlib); then
    calls 0 "$python" "$top_src/tests/accuracy/frames" draw "$table" frames.png
    test -s frames.png || fail "there is no picture"
    calls 2 "$python" "$top_src/tests/accuracy/frames" measure "$top_build" new.csv nothing
    has err "no such problem"
fi
exit "$bad"
