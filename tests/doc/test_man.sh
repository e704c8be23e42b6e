#!/bin/sh
# test_man.sh - each program's man page has an entry for each option of its --help, and no other; and for a choice the same
# words.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment
ARGP_HELP_FMT=rmargin=300
export ARGP_HELP_FMT

# The options of the text of --help, one a line: "-p --plugin", and behind a choice "auto|cpu|cuda" its words in lower case.
options_of_help()
{
    sed -nE 's/^ {2,6}(-., )?(--[a-z-]+)(=([^ ]+))?( .*|$)/\1 \2 \4/p' |
        while read -r option long words; do
            case $option in
            --*) words=$long long=$option option= ;;
            *) option="${option%,} " ;;
            esac
            echo "$option$long$(echo "$words" | choice_words)"
        done | sort
}

# " auto cpu cuda" of "auto|cpu|N|cuda"; nothing of a value that is no choice.
choice_words()
{
    tr '|' '\n' | sed -nE '/^[a-z]+$/p' | tr '\n' ' ' | sed 's/^\(.\)/ \1/; s/ $//'
}

# The same of the entries (.It) of a page in mdoc.
options_of_page()
{
    sed -n 's/^\.It Fl //p' | sed -E 's/\\&//; s/^([^-]) , -/-\1 --/; t; s/^-/--/' |
        awk '{
            entry = $1
            first = 2
            if ($1 !~ /^--/) { entry = entry " " $2; first = 3 }
            words = 0
            for (i = first; i <= NF; i++) {
                if ($i == "Cm") words = 1
                else if ($i == "Ar") words = 0
                else if (words && $i ~ /^[a-z]+$/ && $(i - 1) != "Ns" && $(i + 1) != "Ns") entry = entry " " $i
            }
            print entry
        }' | sort
}

for name in run plot export plugin; do
    page=$top_src/doc/gbees-$name.1
    "$programs/gbees-$name" --help >help || stop "gbees-$name --help failed"
    options_of_help <help >wanted
    options_of_page <"$page" >told
    test "$(wc -l <wanted)" -ge 5 || fail "gbees-$name --help was not understood"
    diff wanted told >out || fail "--help of gbees-$name (<) and doc/gbees-$name.1 (>) differ"
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" || fail "mandoc warns of doc/gbees-$name.1"
    fi
done
exit "$bad"
