#!/bin/sh
# test_layers.sh - a layer includes only what lies below it.  The rules, one a line:
#
#     FILES | a file there may include only these (patterns of `case`) ...
#
# <> stands for the C standard and system headers; "x.h" without a folder is the file's own folder, and a private
# header is named by its path below core/.  A file obeys the first rule that matches it.
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"

rules='
include/gbees/*       | <gbees/*> STANDARD GBEES_SOURCE_FILE
core/numerics/*       | numerics/* <stdint.h> <stddef.h> <math.h> <stdbool.h> <limits.h> <float.h>
core/base/version.c   | <gbees/gbees.h>
core/base/*           | base/* <gbees/error.h> <gbees/problem.h> SYSTEM
core/module/*         | module/* base/* <gbees/*> SYSTEM
core/record/*         | record/* base/* <gbees/*> SYSTEM
core/results/folder/* | results/folder/* base/* <gbees/*> SYSTEM
core/results/hdf5/*   | results/hdf5/* results/folder/* base/* <gbees/*> SYSTEM
core/scenario/*       | scenario/* results/hdf5/* base/* <gbees/*> SYSTEM
core/results/records/* | results/records/* results/hdf5/* results/folder/* base/* <gbees/*> SYSTEM
core/results/run/*    | results/* scenario/* base/* <gbees/*> SYSTEM
core/accuracy/*       | accuracy/* base/* numerics/* <gbees/*> SYSTEM
core/audit/*          | audit/* record/* base/* numerics/* <gbees/*> SYSTEM
core/rivals/*         | rivals/* audit/* record/* base/* numerics/* <gbees/*> SYSTEM
core/frame/*          | frame/* base/* numerics/* <gbees/*> SYSTEM
core/lagrangian/*     | lagrangian/* frame/* base/* numerics/* <gbees/*> SYSTEM
core/solver/problem/* | solver/problem/* lagrangian/* frame/* results/* scenario/* base/* numerics/* <gbees/*> SYSTEM
core/solver/grid/*    | solver/grid/* solver/problem/* frame/* record/* base/* numerics/* <gbees/*> SYSTEM
core/solver/run/*     | solver/* lagrangian/* frame/* record/* module/* base/* numerics/* <gbees/*> SYSTEM
core/plot/*           | plot/* base/* numerics/* <gbees/*> SYSTEM
core/python/*         | python/* <gbees/*> SYSTEM
core/command/*        | command/* plot/* solver/* results/* scenario/* module/* base/* numerics/* <gbees/*> SYSTEM
backends/common/ranks/* | common/ranks/* base/* numerics/* <gbees/*> SYSTEM
backends/common/*     | common/* base/* numerics/* <gbees/*> SYSTEM
backends/cpu/grid/*   | cpu/grid/* cpu/team.h numerics/* <gbees/error.h> SYSTEM
backends/cpu/kernel/* | cpu/kernel/* cpu/grid/* cpu/team.h numerics/* <gbees/*> SYSTEM
backends/cpu/engine/* | cpu/engine/* cpu/kernel/* cpu/grid/* cpu/team.h common/* base/* numerics/* <gbees/*> SYSTEM
backends/cpu/team.h   | SYSTEM
backends/paper/*      | paper/* common/* numerics/* <gbees/*> SYSTEM
backends/mpi/*        | mpi/* <gbees/parallel.h> SYSTEM
backends/cuda/driver/* | cuda/driver/* base/* <gbees/error.h> <gbees/problem.h> SYSTEM
backends/cuda/compile/* | cuda/compile/* cuda/driver/* device/* common/* base/* numerics/* <gbees/*> SYSTEM
backends/cuda/engine/* | cuda/engine/* cuda/compile/* cuda/driver/* device/* common/* base/* numerics/* <gbees/*> SYSTEM
backends/cuda/device/* | device/* numerics/* <gbees/model.h> <gbees/model_equations.h> <math.h> <stddef.h> <stdint.h> GBEES_PLATFORM_HEADER
plugins/*             | <gbees/model.h> STANDARD
'
standard='assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h math.h stdarg.h stdbool.h stddef.h
stdint.h stdio.h stdlib.h string.h tgmath.h time.h'

# The included names of a file, each as <x.h> or by its path below core/ (backends/ for theirs), or the macro's name.
included()
{
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\(.*\)/\1/p' "$1" |
        sed 's/[[:space:]]*\/[*\/].*//; s/[[:space:]]*$//' |
        while read -r name; do
            folder=${1%/*}
            case $name in
            \"../*) echo "${name}" ;; # never: by a path below core/
            \"*/*) name=${name#\"} && echo "${name%\"}" ;;
            \"*) name=${name#\"} && folder=${folder#core/} && echo "${folder#backends/}/${name%\"}" ;;
            *) echo "$name" ;;
            esac
        done
}

# allowed NAME PATTERN...
allowed()
{
    name=$1
    shift
    for pattern; do
        # shellcheck disable=SC2295 # a pattern it shall be
        case $pattern in
        SYSTEM) case $name in \<gbees/*) ;; \<*) return 0 ;; esac ;;
        STANDARD) for header in $standard; do test "$name" = "<$header>" && return 0; done ;;
        *) test -z "${name##$pattern}" && return 0 ;;
        esac
    done
    return 1
}

# Prints each violation in the tree $1; false if there is one.
check()
(
    cd "$1" || exit 2
    set -f
    bad=0 seen=0
    for file in $(find include core backends plugins -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort); do
        seen=$((seen + 1))
        # A here-document, not a pipe: `patterns` must survive the loop.
        patterns=
        while IFS='|' read -r files these; do
            # shellcheck disable=SC2254 # a pattern it shall be
            case $file in
            ${files%% *}) test -n "$files" && patterns=$these && break ;;
            esac
        done <<RULES
$rules
RULES
        if test -z "$patterns"; then
            echo "$file: no rule for this folder: add one to tests/tree/test_layers.sh"
            bad=1
        fi
        for name in $(included "$file"); do
            # shellcheck disable=SC2086 # a list of patterns
            allowed "$name" $patterns || { echo "$file: may not include $name" && bad=1; }
        done
    done
    # No path begins with ../, in tests neither.
    if test -d tests && grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"\.\./' tests; then
        echo "a path begins with ../"
        bad=1
    fi
    # Nothing above the contracts knows a backend or its tools; a command's help may name backends.
    if grep -rinE --include='*.[ch]' 'backends/c|nvrtc|nvjitlink' core ||
        grep -rin --include='*.[ch]' --exclude-dir=command cuda core; then
        echo "these lines name a backend, or what only a backend may use"
        bad=1
    fi
    test "$seen" -gt 0 || { echo "no sources found" && bad=1; }
    exit "$bad"
)

check "$top_src" || exit 1

# The test itself: it must see what is planted in a tree that has nothing else.
enter_scratch
plant() # FILE LINE
{
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/include" "$scratch/tree/core" "$scratch/tree/backends" "$scratch/tree/plugins" \
        "$scratch/tree/${1%/*}"
    echo "$2" > "$scratch/tree/$1"
    if check "$scratch/tree" > "$scratch/log"; then
        fail "not seen: $2 in $1"
    elif ! grep -q "^$1:" "$scratch/log"; then
        fail "wrong text for $2 in $1: $(cat "$scratch/log")"
    fi
}
plant core/numerics/planted.h '#include "base/text.h"'
plant core/numerics/planted.h '#include <stdio.h>'
plant core/numerics/planted.h '#include <gbees/error.h>'
plant core/base/planted.c '#include "scenario/yaml_tree.h"'
plant core/base/planted.c '#include <gbees/backend.h>'
plant core/scenario/planted.c '#include "solver/run/run.h"'
plant core/scenario/planted.c '#  include "module/registry.h" // no'
plant core/frame/planted.c '#include "solver/grid/lines.h"'
plant core/rivals/planted.c '#include "solver/run/run.h"'
plant core/audit/planted.c '#include "rivals/filter.h"'
plant core/module/planted.c '#include "scenario/yaml_tree.h"'
plant core/module/planted.c '#include "../scenario/yaml_tree.h"'
plant core/solver/run/planted.c '#include "command/run/options.h"'
plant core/solver/run/planted.c '#include "backends/cpu/grid/grid.h"'
plant core/solver/run/planted.c '#include <nvrtc.h>'
plant core/command/planted.c '/* see backends/cpu */'
plant core/solver/run/planted.c 'cudaMalloc();'
plant backends/cpu/grid/planted.c '#include "cpu/kernel/kernel.h"'
plant backends/cpu/grid/planted.h '#include "cpu/engine/engine.h"'
plant backends/cpu/grid/planted.c '#include "../kernel/kernel.h"'
plant backends/cpu/kernel/planted.h '#include "cpu/engine/engine.h"'
plant backends/cpu/kernel/planted.c '#include "common/bound.h"'
plant backends/cpu/engine/planted.c '#include "cuda/driver/api.h"'
plant backends/cpu/engine/planted.c '#include "solver/run/run.h"'
plant backends/cpu/planted.c '#include <stdio.h>'
plant backends/common/planted.c '#include "cpu/grid/grid.h"'
plant backends/common/ranks/planted.c '#include "common/bound.h"'
plant backends/cuda/driver/planted.c '#include "cuda/compile/spec.h"'
plant backends/cuda/driver/planted.c '#include "cuda/engine/engine.h"'
plant backends/cuda/driver/planted.c '#include "device/state.h"'
plant backends/cuda/compile/planted.c '#include "cuda/engine/engine.h"'
plant backends/cuda/engine/planted.c '#include "cpu/engine/engine.h"'
plant backends/cuda/engine/planted.c '#include "scenario/schema.h"'
plant backends/cuda/device/planted.h '#include <stdio.h>'
plant backends/cuda/device/planted.h '#include "cuda/engine/engine.h"'
plant backends/cuda/planted.c '#include <stdio.h>'
plant core/plot/planted.c '#include "results/folder/folder.h"'
plant core/plot/planted.c '#include "command/command.h"'
plant core/solver/run/planted.c '#include "plot/figure.h"'
plant tests/backends/planted.c '#include "../fixtures/dense.h"'
plant include/gbees/planted.h '#include "base/text.h"'
plant include/gbees/planted.h '#include <hdf5.h>'
plant plugins/planted.c '#include <gbees/gbees.h>'
plant plugins/planted.c '#include "base/text.h"'
plant core/newlayer/planted.c '#include <stdio.h>'
exit "$bad"
