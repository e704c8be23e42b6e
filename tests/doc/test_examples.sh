#!/bin/sh
# test_examples.sh - compiles the programs of doc/examples against the build tree, runs them, and looks for the output that
# doc/examples/README.md quotes.
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

for name in propagate arriving; do
    # shellcheck disable=SC2086 # lists of options
    calls 0 ${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$top_src/include" \
        "$examples/$name.c" -o "$name" "$top_build/.libs/libgbees.so" -Wl,-rpath,"$top_build/.libs"
done

calls 0 ./propagate lorenz63
cp out propagated
quoted propagated 'mean of'
calls 1 ./propagate no_such_model
has err "propagate: no model named 'no_such_model'"

what=arriving
printf '0.5 -12\n1.0 -8\n' | ./arriving filtered >out 2>err || fail "exit status $?"
cp out arrived
quoted arrived 'log evidence'
# A record of the second run holds the density after the second measurement.
calls 0 "$programs/gbees-run" --plugin lorenz63 --set 'initial={file: filtered/2}' --until 1.1 --no-output --json
has out '"start":1.0,'
# Nothing is overwritten.
what='arriving, again'
printf '0.5 -12\n' | ./arriving filtered >out 2>err && fail "an old folder was taken"
has err "arriving: "
exit "$bad"
