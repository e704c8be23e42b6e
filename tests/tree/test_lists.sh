#!/bin/sh
# test_lists.sh - every source file is in the list of its local.mk, so that it is built, tested and distributed; each
# script finds its fixture; the version and the papers are the same wherever they are named; workflows run .ci/run.
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
cd "$top_src" || exit 99

for folder in include core backends plugins tests doc; do
    # shellcheck disable=SC2044 # no name has a blank
    for file in $(find "$folder" -path tests/data -prune -o \
        '(' -name '*.[ch]' -o -name '*.cu' -o -name 'test_*.sh' -o -name '*.md' -o -name '*.1' ')' -print); do
        name=${file#"$folder"/}
        # A test is listed without its ending, a plugin as a module.
        stem=${name%.c}
        grep -qE "%D%/(${stem}|${name})(\.la)?( |\$)" "$folder/local.mk" && continue
        fail "$file is not in $folder/local.mk"
    done
done
# A script that is run by itself finds its fixture from its own folder.
# shellcheck disable=SC2044 # no name has a blank
for script in $(find tests -name 'test_*.sh'); do
    up=$(sed -n 's/.*dirname "$0")\/\([./]*\)}\/tests\/fixtures.*/\1/p' "$script")
    test -z "$up" || test -e "${script%/*}/$up/tests/fixtures/shell_fixture.sh" ||
        fail "$script: $up is not the top folder"
done
version=$(sed -n 's/^AC_INIT(\[gbees\], \[\(.*\)\])$/\1/p' configure.ac)
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff is not of version $version"
sed -n '/^## /{s/^## //; s/,.*//p; q;}' CHANGELOG.md | grep -qxF "$version" || fail "CHANGELOG.md does not begin with $version"
# Of a release: its tag.
if command -v git >/dev/null; then
    for tag in $(git tag --points-at HEAD 'v*' 2>/dev/null); do
        test "$tag" = "v$version" || fail "the tag is $tag, and the version $version"
    done
fi
# What runs elsewhere is what runs here.
for workflow in .github/workflows/*; do
    test ! -e "$workflow" || test "$(sed -n 's/^ *\(- \)*run: *//p' "$workflow")" = "bash .ci/run" ||
        fail "$workflow does not run .ci/run alone"
done
test "$(grep -c ' doi: ' CITATION.cff)" = 2 || fail "CITATION.cff does not have two papers"
for doi in $(sed -n 's/.* doi: //p' CITATION.cff); do
    sed '/^!\[/q' README.md | grep -qF "https://doi.org/$doi" || fail "README.md does not begin with the paper $doi"
done
exit "$bad"
