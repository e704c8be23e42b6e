#!/bin/sh
# test_lists.sh - every source file is in the list of its local.mk, so that it is built, tested and distributed.
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
exit "$bad"
