#!/bin/sh
# test_tables.sh - each scheme, likelihood, warning, format and option is one row of a table, and has a word in the manual
# and a test.
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
cd "$top_src" || exit 99

# rows TABLE FILE: the first two entries of each row of an X macro, "ID name".
rows() {
    sed -n "/^#define $1(ROW)/,/[^\\\\]\$/p" "$2" | sed -nE 's/^ *ROW\(([A-Z0-9_]+), "?([^",]*)"?,.*/\1 \2/p'
}

# known SUBJECT PAGE TEXT PATTERN: the page has the text, and a test the pattern.
known() {
    subject=$1 page=$2 text=$3 pattern=$4
    grep -qF -e "$text" "$page" || fail "$page does not have $subject ($text)"
    grep -rqE -e "$pattern" tests --include='test_*' --include='*_fixture.*' || fail "no test has $subject ($pattern)"
}

# counted NUMBER WHAT: at least so many rows have been found.
counted() { test "$found" -ge "$1" || fail "$found $2 were found"; }

found=0
rows GBEES_SCHEME_ROWS include/gbees/problem.h >"$scratch/rows"
while read -r id name; do
    found=$((found + 1))
    known "the scheme $name" doc/scenario.md "\`$name\`" "GBEES_SCHEME_$id\\>|scheme[=:] ?$name\\>"
done <"$scratch/rows"
counted 6 schemes

found=0
rows GBEES_LIKELIHOOD_ROWS include/gbees/problem.h >"$scratch/rows"
while read -r id name; do
    found=$((found + 1))
    known "the likelihood $name" doc/scenario.md "$name" "GBEES_LIKELIHOOD_$id\\>|likelihood: $name\\>"
done <"$scratch/rows"
counted 3 likelihoods

# Each warning has a row in the manual, which says when it holds in other words.
found=0
rows GBEES_WARNING_ROWS include/gbees/backend.h >"$scratch/rows"
while read -r id name; do
    found=$((found + 1))
    known "the warning $id" doc/results.md "## Warnings" "GBEES_WARNING_$id\\>"
done <"$scratch/rows"
counted 16 warnings
told=$(sed -n '/^## Warnings/,/^Of losses/p' doc/results.md | grep -c '^| [^-]')
test "$told" -eq $((found + 1)) || fail "doc/results.md has $told lines for $found warnings and a head"

# The programs tell their own tables.
found=0
for name in $("$programs/gbees-run" --help | sed -nE 's/^ *(-[a-z], )?--([a-z-]+).*/\2/p' | grep -vxE 'help|usage'); do
    found=$((found + 1))
    known "--$name" doc/gbees-run.md "--$name" "--$name\\>"
done
counted 30 options
found=0
for name in $("$programs/gbees-export" --help | sed -nE 's/.*--format=([a-z|]+).*/\1/p' | tr '|' ' '); do
    found=$((found + 1))
    known "the format $name" doc/results.md "--format $name" "--format $name\\>"
done
counted 3 formats
exit "$bad"
