#!/bin/sh
# test_scenarios.sh - every model as a newcomer meets it: its card, and the beginning of each of its scenarios, with
# records that can be read; the default one with --strict. The scenarios other than the default one are asked for by
# name, as doc/models.md says.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment

# thousandth END: the time by which a thousandth of a scenario that ends there is over; most of them start at 0.
thousandth() {
    start=$(sed -n 's/^ *start: *//p' card | head -n 1)
    awk "BEGIN { printf \"%.6g\", ${start:-0} + ($1 - ${start:-0}) / 1000 }"
}

# beginning MODEL SCENARIO: the first thousandth of it, on wide cells where there are many.
beginning() {
    # Its own end, or that of the first scenario, which says what the others don't.
    end=$(sed -n "/^Scenario \"$2\"/,/^\$/s/^ *end: *//p" card)
    test -n "$end" || end=$(sed -n 's/^ *end: *//p' card | head -n 1)
    test -n "$end" || {
        fail "$1: the card shows no end"
        return
    }
    coarse=
    case $1-$2 in
    conjunction-* | cr3bp-impact | orbit-* | orbit_elements-*)
        coarse='--set factor=0.5 --set points=0.4 --set tail=5 --densities all'
        ;;
    cr3bp-* | lorenz96-* | pcr3bp-*) coarse='--set factor=0.5 --set threshold=1e-4' ;;
    esac
    # shellcheck disable=SC2086 # $coarse is several words
    "$programs/gbees-run" --backend cpu --threads 1 --progress none --quiet --plugin "$1" --scenario "$2" $coarse \
        --until "$(thousandth "$end")" --set records=1 --set accuracy=0 --output "$1-$2" 2>err ||
        fail "$1, $2: exit status $?"
    "$programs/gbees-export" --format csv "$1-$2" "$1-$2-text" >out 2>err || fail "$1, $2: no export"
    test "$(wc -l <"$1-$2-text/leg0_record1.csv")" -gt 10 || fail "$1, $2: hardly a cell in its last record"
}

# strictly MODEL: the beginning of its default scenario, to the accuracy that it asks for, without a warning.
strictly() {
    end=$(sed -n 's/^ *end: *//p' card | head -n 1)
    "$programs/gbees-run" --backend cpu --threads 1 --progress none --quiet --plugin "$1" --strict --no-output \
        --until "$(thousandth "$end")" --set records=1 2>err ||
        fail "$1: exit status $? with --strict: $(head -n 1 err)"
}

for name in $(sed -n "s,^plugin_LTLIBRARIES += %D%/\(.*\)\.la,\1,p" "$top_src/plugins/local.mk"); do
    "$programs/gbees-run" --plugin "$name" --describe >card 2>err || fail "$name --describe"
    for word in reference States 'Scenario "' "Run it:  gbees-run --plugin $name"; do
        grep -qF "$word" card || fail "$name --describe does not say '$word'"
    done
    grep -q "^## \`$name\`" "$top_src/doc/models.md" || fail "doc/models.md has no section on $name"
    strictly "$name"
    # shellcheck disable=SC2013 # no name has a blank
    for scenario in $(sed -n 's/^Scenario "\([^"]*\)".*/\1/p' card); do
        beginning "$name" "$scenario"
    done
done
exit "$bad"
