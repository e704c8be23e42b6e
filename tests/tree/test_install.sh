#!/bin/sh
# test_install.sh - the installed programs find the installed modules; `make installcheck' runs it.
# Usage: test_install.sh BINDIR PKGLIBDIR
set -eu
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
bindir=$1 pkglibdir=$2
enter_scratch
clean_environment
unset GBEES_BACKEND_PATH || :

find "$pkglibdir" -name '*.la' | grep . && stop "a .la file was installed"
"$bindir/gbees-run" --list > "$scratch/list" 2>&1 || stop "--list: $(cat "$scratch/list")"
grep -q lorenz63 "$scratch/list" || stop "--list has no lorenz63: $(cat "$scratch/list")"
"$bindir/gbees-run" --plugin lorenz63 --scenario published --until 0.1 --set 'measurements=[]' --output "$scratch/run" \
    > "$scratch/log" 2>&1 || stop "gbees-run: $(cat "$scratch/log")"
"$bindir/gbees-plot" "$scratch/run" > "$scratch/log" 2>&1 || stop "gbees-plot: $(cat "$scratch/log")"
find "$scratch/run" -name '*.png' | grep -q . || stop "gbees-plot drew nothing"
"$bindir/gbees-export" --format gbees "$scratch/run" "$scratch/text" > "$scratch/log" 2>&1 ||
    stop "gbees-export: $(cat "$scratch/log")"
"$bindir/gbees-plugin" new mine > "$scratch/log" 2>&1 || stop "gbees-plugin new: $(cat "$scratch/log")"
"$bindir/gbees-plugin" build mine.c > "$scratch/log" 2>&1 || stop "gbees-plugin build: $(cat "$scratch/log")"
"$bindir/gbees-plugin" check mine > "$scratch/log" 2>&1 || stop "gbees-plugin check: $(cat "$scratch/log")"
echo "installed programs work"
