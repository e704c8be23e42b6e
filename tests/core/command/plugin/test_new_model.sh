#!/bin/sh
# test_new_model.sh - a model of one's own, as the README says: copy the template, edit three lines, compile, install, run.
set -eu

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_SYSROOT_DIR || :
enter_scratch
clean_environment

new_model() # NAME: copy and edit
{
    sed -e "s/\.name = \"template\"/.name = \"$1\"/" \
        -e 's/dxdt\[1\] = .*/dxdt[1] = -p[0] * x[1] - p[1] * x[0];/' \
        -e 's/{"default", "mean: \[0, \.\.\.\]/{"default", "mean: [1.0, 0.5]/' "$template" > "$1.c"
    changed=$(diff "$template" "$1.c" | grep -c '^>' || :)
    test "$changed" = 3 || stop "the template has not three lines to edit: $changed changed"
}

run_model() # NAME
{
    mkdir -p "$HOME/.local/lib/gbees/plugins"
    mv "$1.so" "$HOME/.local/lib/gbees/plugins/"
    "$programs/gbees-run" --plugin "$1" --output "out-$1" > log 2>&1 || stop "gbees-run failed: $(cat log)"
    has_record "out-$1" 0 0 || stop "no record in $(ls "out-$1")"
    grep -q '"complete"' "out-$1/run.json" || stop "run.json: $(cat "out-$1/run.json")"
    "$programs/gbees-run" --list > log 2>&1 || stop "--list failed: $(cat log)"
    grep -q "$1" log || stop "--list does not know $1: $(cat log)"
}

# Before gbees is installed, as in the README.
PKG_CONFIG_PATH=$top_build/core
export PKG_CONFIG_PATH
template=$(pkg-config --variable=template gbees)
count=0
for compiler in "${CC:-cc}" clang; do # they may be the same
    command -v "${compiler%% *}" > /dev/null || continue
    count=$((count + 1))
    name=mine_$count
    new_model "$name"
    # shellcheck disable=SC2046 # options
    $compiler -shared $(pkg-config --cflags gbees-plugin) "$name.c" -o "$name.so" 2> log ||
        stop "$compiler: $(cat log)"
    run_model "$name"
done

# With the installed gbees.pc, headers and template; the sysroot stands for DESTDIR.
make -C "$top_build" -s DESTDIR="$scratch/root" install-pkgconfigDATA install-gbeesincludeHEADERS \
    install-dist_pkgdataDATA > log 2>&1 || stop "make install: $(cat log)"
PKG_CONFIG_SYSROOT_DIR=$scratch/root
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name gbees.pc)")
export PKG_CONFIG_SYSROOT_DIR
template=$(find "$scratch/root" -name template.c)
new_model mine_installed
# shellcheck disable=SC2046
${CC:-cc} -shared $(pkg-config --cflags gbees-plugin) mine_installed.c -o mine_installed.so || stop "${CC:-cc} failed"
run_model mine_installed
case $(pkg-config --variable=plugindir gbees) in
*/gbees/plugins) ;;
*) stop "gbees.pc has no plugindir" ;;
esac
