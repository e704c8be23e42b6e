#!/bin/sh
# test_tutorial.sh - runs all commands of doc/tutorial.md, and looks for the output that the page quotes.
#
# Blocks of the page: `sh` is run; `text` has lines of the output of the block before it; a block with a file's name behind
# its language is written to that file.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
page=$top_src/doc/tutorial.md
enter_scratch

# A user without plugins and settings of his own; no GPU, whose results differ by rounding.
clean_environment
LC_ALL=C.UTF-8 GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_CUDA_LIBRARY_PATH
unset GBEES_BACKEND_PATH MAKEFLAGS MFLAGS MAKELEVEL || :
ln -s "$top_build" build

# Each block becomes NUMBER.LANGUAGE, or the file that it names.
awk '
    /^```[a-z]/ { count++; file = $2 != "" ? $2 : sprintf("%02d.%s", count, substr($1, 4)); inside = 1; printf "" > file; next }
    /^```/      { inside = 0; close(file); next }
    inside      { print > file }
' "$page" || exit 99

# The python3 on the path may be another than the one that has h5py.
python=$(find_python "h5py, numpy") || :

run=0 compared=0
: >output
for block in [0-9][0-9].*; do
    case $block in
    *.sh)
        run=$((run + 1)) skipped=0
        if grep -q '^python3' "$block"; then
            test -n "$python" || { echo "test_tutorial: no h5py: the result is not read" && skipped=1 && continue; }
            sed -i "s|^python3|$python|" "$block"
        fi
        sh -e "$block" >output 2>&1 </dev/null || {
            echo "test_tutorial: exit status $? of:" && cat "$block" output
            bad=1
        }
        # An example is a good one: what meets its accuracy has no warning.
        if grep -q '^accuracy .* met$' output && grep -q 'warning:' output; then
            echo "test_tutorial: an accuracy is met, with a warning:" && cat "$block" output
            bad=1
        fi
        ;;
    *.text)
        test "$skipped" = 0 || continue
        while IFS= read -r line; do
            compared=$((compared + 1))
            grep -qxF -- "$line" output || {
                echo "test_tutorial: the page quotes '$line', which is not in the output:" && cat output
                bad=1
            }
        done <"$block"
        ;;
    esac
done
if test "$run" -lt 8 || test "$compared" -lt 30; then
    echo "test_tutorial: only $run blocks of commands and $compared lines of output were found in $page"
    bad=1
fi
exit "$bad"
