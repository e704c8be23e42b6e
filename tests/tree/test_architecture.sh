#!/bin/sh
# test_architecture.sh - the manual's statements about the tree hold: every file named in backticks in doc/architecture.md
# and in the README of a folder exists, every term of the glossary is in the file that the glossary names, and every link
# from page to page leads to a file and to a heading in it.
# shellcheck disable=SC2016,SC2044 # backticks are text, no name has a blank
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"

# Each path in backticks of the page $1, one a line: what has a slash below a folder of the sources, or is a source's name.
named_paths()
{
    tr '\n' ' ' <"$1" | grep -oE '`[A-Za-z0-9_./-]+(\[ch\])?`' | tr -d '`' |
        grep -v NAME | grep -E '^((include|core|backends|plugins|tests|doc|m4)/.*|.*\.(c|h|cu|sh|py|md|mk|\[ch\]))$' | sort -u
}

# path_exists NAME FOLDER: at the top, or the end of a file's path below the page's top folder.
path_exists()
{
    case $1 in
    *'.[ch]') path_exists "${1%.*}.c" "$2" && path_exists "${1%.*}.h" "$2" && return 0 ;;
    esac
    test -e "$1" || test -e "$2/$1" || test -e "include/$1" && return 0
    test -n "$(find "${2%%/*}" -path "*/$1" -print | head -n 1)"
}

# The anchors of a page's headings, as GitHub makes them.
anchors()
{
    sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | LC_ALL=C sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

check_paths() # PAGE FOLDER
{
    for name in $(named_paths "$1"); do
        path_exists "$name" "$2" || { echo "$1: there is no $name" && bad=1; }
    done
}

check_links() # PAGE
{
    for link in $(tr '\n' ' ' <"$1" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | sort -u); do
        case $link in *://*) continue ;; esac
        page=${link%%#*} anchor=${link#"${link%%#*}"}
        page=${page:+${1%/*}/$page} && page=${page:-$1}
        if test ! -e "$page"; then
            echo "$1: the link $link leads nowhere" && bad=1
        elif test -n "$anchor" && ! anchors "$page" | grep -qx -- "${anchor#\#}"; then
            echo "$1: $page has no heading $anchor" && bad=1
        fi
    done
}

# A term must be in the file; a blank stands for an underscore, too.
check_glossary() # PAGE
{
    sed -n '/^## Glossary/,$p' "$1" | grep '^| ' | grep -vE '^\| (term|---)' >"$scratch/terms"
    while IFS= read -r row; do
        term=$(printf '%s\n' "$row" | sed 's/^| *//; s/ *[|(].*//; s/\\//g; s/`//g')
        pattern=$(printf '%s\n' "$term" | sed 's/[*.]/\\&/g; s/ /[ _]/g')
        file=$(printf '%s\n' "$row" | sed 's/ *| *$//; s/.*| *`\(.*\)`$/\1/')
        count=$((count + 1))
        grep -qi -- "$pattern" "$file" 2>/dev/null || { echo "$1: the term '$term' is not in $file" && bad=1; }
    done <"$scratch/terms"
}

# Prints what is wrong in the tree $1; false if something is.
check()
(
    cd "$1" || exit 2
    bad=0 count=0
    check_paths doc/architecture.md tests
    check_glossary doc/architecture.md
    for page in $(find core backends -name README.md); do
        check_paths "$page" "${page%/*}"
    done
    for page in ./*.md $(find doc core backends tests -name '*.md' | sort); do
        check_links "$page"
    done
    test "$count" -ge "$2" || { echo "only $count terms were found in the glossary" && bad=1; }
    exit "$bad"
)

enter_scratch
check "$top_src" 40 || exit 1

# The test itself: it must see what is wrong in a tree of two pages.
plant() # TEXT OF THE PAGE, WHAT MUST BE REPORTED
{
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/doc" "$scratch/tree/core" "$scratch/tree/backends" "$scratch/tree/tests"
    echo '# Title' >"$scratch/tree/README.md"
    echo 'a leg is here' >"$scratch/tree/core/leg.h"
    printf '%s\n' "$1" >"$scratch/tree/doc/architecture.md"
    if check "$scratch/tree" 0 >"$scratch/log"; then
        test -z "$2" || fail "not seen: $1"
    elif test -z "$2" || ! grep -qF "$2" "$scratch/log"; then
        fail "wrong text for '$1': $(cat "$scratch/log")"
    fi
}
plant 'See `core/leg.h` and [the page](../README.md#title).' ''
plant 'See `core/gone.h`.' 'there is no core/gone.h'
plant 'See `leg.[ch]`.' 'there is no leg.[ch]'
plant 'See [the page](gone.md).' 'leads nowhere'
plant 'See [the page](../README.md#other).' 'has no heading #other'
plant '## Glossary
| leg | a stretch | `core/leg.h` |' ''
plant '## Glossary
| record | a value | `core/leg.h` |' "the term 'record' is not in core/leg.h"
exit "$bad"
