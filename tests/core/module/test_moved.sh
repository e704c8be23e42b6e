#!/bin/sh
# test_moved.sh - a build folder that was moved: its programs find the library, plugins, backends and headers beside them.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment
unset LD_LIBRARY_PATH GBEES_BACKEND_PATH

# What programs need of a build folder, in a source folder that was moved, too.
here=$(pwd -P)/sources/b
mkdir -p "$here/core" "$here/plugins" "$here/backends"
cp -R "$top_src/include" sources
cp -R "$top_build/.libs" "$top_build/gbees-run" "$here"
cp "$top_build/core/gbees.pc" "$here/core"
cp -R "$top_build/plugins/.libs" "$here/plugins"
cp -R "$top_build/backends/.libs" "$here/backends"

# The program itself, and libtool's script, which prefers the library of the old folder as long as that is there.
for program in .libs/gbees-run gbees-run; do
    calls 0 "$here/$program" --list
    grep -F lorenz63 out | grep -qF "$here/plugins/.libs" || fail "the plugins are not those beside the program"
    grep -F cpu out | grep -qF "$here/backends/.libs" || fail "the backends are not those beside the program"
    lacks out "$(cd "$top_build" && pwd -P)/"
    calls 0 "$here/$program" --backend cpu --plugin linear --until 0.1 --audit off --quiet --no-output
done
ldd "$here/.libs/gbees-run" >out
has out "$here/.libs/libgbees.so"

# Headers: what the compiler says of those that were moved.
calls 0 "$here/.libs/gbees-plugin" new mine
calls 0 "$here/.libs/gbees-plugin" build mine.c
echo '#error "these were moved"' >>sources/include/gbees/model.h
calls 1 "$here/.libs/gbees-plugin" build mine.c
has err "these were moved"
exit "$bad"
