#!/bin/sh
# test_examples.sh - compiles the programs of doc/examples against the build tree, with the options of gbees.pc, runs them,
# and looks for the output that doc/examples/README.md quotes. Where there is CMake, a project of it finds gbees, too.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
examples=$top_src/doc/examples
enter_scratch
clean_environment
GBEES_PLUGIN_PATH=$top_build/plugins/.libs GBEES_BACKEND_PATH=$top_build/backends/.libs
export GBEES_PLUGIN_PATH GBEES_BACKEND_PATH

# quoted FILE: its lines are in the README, and the README has no others that begin likewise.
quoted() {
    sed 's/^/    /' "$1" >lines
    grep -F '    t = ' "$examples/README.md" | grep -F "$2" >expected
    cmp -s lines expected || {
        what="README.md of the examples" && cp "$1" out
        fail "the output of $1 is not what it quotes"
    }
}

# gbees.pc as it would be installed in prefix.
mkdir -p prefix/lib/pkgconfig
ln -s "$top_src/include" prefix/include
cp "$top_build"/.libs/libgbees.so* prefix/lib
sed -e "s|^prefix=.*|prefix=$scratch/prefix|" -e 's|^libdir=.*|libdir=${prefix}/lib|' \
    -e 's|^includedir=.*|includedir=${prefix}/include|' "$top_build/core/gbees.pc" >prefix/lib/pkgconfig/gbees.pc
PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig LD_LIBRARY_PATH=$scratch/prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
what="gbees.pc"
cp "$top_build/core/gbees-plugin.pc" prefix/lib/pkgconfig
# Options without the blanks around them.
options() { # PACKAGE OPTION WANTED
    # shellcheck disable=SC2046 # a list of words
    set -- "$1" "$2" "$3" "$(echo $(pkg-config "$2" "$1"))"
    test "$4" = "$3" || fail "$2 $1: $4"
}
options gbees --cflags "-I$scratch/prefix/include"
options gbees --libs "-L$scratch/prefix/lib -lgbees"
options gbees-plugin --cflags "-I. -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -I$scratch/prefix/include"
options gbees-plugin --libs ""

for name in propagate arriving; do
    # shellcheck disable=SC2086 # lists of options
    calls 0 ${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $(pkg-config --cflags gbees) \
        "$examples/$name.c" -o "$name" $(pkg-config --libs gbees)
done

if command -v cmake >/dev/null; then
    mkdir project
    cp "$examples/propagate.c" project
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GBEES REQUIRED IMPORTED_TARGET gbees)
add_executable(propagate propagate.c)
target_link_libraries(propagate PkgConfig::GBEES)
END
    calls 0 env CC="${CC:-cc}" CFLAGS= cmake -S project -B project
    calls 0 env MAKEFLAGS= cmake --build project
    calls 0 project/propagate lorenz63
    has out 'mean of'
else
    echo "test_examples: there is no cmake: its project was not built"
fi

calls 0 ./propagate lorenz63
cp out propagated
quoted propagated 'mean of'
calls 1 ./propagate no_such_model
has err "propagate: no model named 'no_such_model'"

what=arriving
printf '0.5 -12\n1.0 -8\n' | ./arriving filtered >out 2>err || fail "exit status $?"
cp out arrived
quoted arrived 'log evidence'
# The last record holds the density after the second measurement.
calls 0 "$programs/gbees-run" --plugin lorenz63 --set 'initial={file: filtered}' --until 1.1 --no-output --json
has out '"start":1.0,'
what='arriving, points'
printf '0.5 -12\n1.0 -8\n' | ./arriving points 'frame: lagrangian' >out 2>err || fail "exit status $?"
has out 't = 1: log evidence -4.3'
# Nothing is overwritten.
what='arriving, again'
printf '0.5 -12\n' | ./arriving filtered >out 2>err && fail "an old folder was taken"
has err "arriving: "
exit "$bad"
