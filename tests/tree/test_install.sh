#!/bin/sh
# test_install.sh - the installed programs find the installed modules; `make installcheck' runs it.
# Usage: test_install.sh BINDIR PKGLIBDIR
set -eu
bindir=$1 pkglibdir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch
export HOME
unset GBEES_PLUGIN_PATH GBEES_BACKEND_PATH || :

fail()
{
    echo "test_install: $*" >&2
    exit 1
}

find "$pkglibdir" -name '*.la' | grep . && fail "a .la file was installed"
"$bindir/gbees-run" --list > "$scratch/list" 2>&1 || fail "--list: $(cat "$scratch/list")"
grep -q lorenz63 "$scratch/list" || fail "--list has no lorenz63: $(cat "$scratch/list")"
"$bindir/gbees-run" --plugin lorenz63 --scenario published --until 0.1 --set 'measurements=[]' --output "$scratch/run" \
    > "$scratch/log" 2>&1 || fail "gbees-run: $(cat "$scratch/log")"
"$bindir/gbees-plot" "$scratch/run" > "$scratch/log" 2>&1 || fail "gbees-plot: $(cat "$scratch/log")"
find "$scratch/run" -name '*.png' | grep -q . || fail "gbees-plot drew nothing"
"$bindir/gbees-export" --format gbees "$scratch/run" "$scratch/text" > "$scratch/log" 2>&1 ||
    fail "gbees-export: $(cat "$scratch/log")"
cd "$scratch"
"$bindir/gbees-plugin" new mine > "$scratch/log" 2>&1 || fail "gbees-plugin new: $(cat "$scratch/log")"
"$bindir/gbees-plugin" build mine.c > "$scratch/log" 2>&1 || fail "gbees-plugin build: $(cat "$scratch/log")"
"$bindir/gbees-plugin" check mine > "$scratch/log" 2>&1 || fail "gbees-plugin check: $(cat "$scratch/log")"
echo "installed programs work"
