#!/bin/sh
# test_layers.sh - a layer includes only what lies below it, and its objects use only symbols of what lies below it.
# The rules, one a line:
#
#     FILES | a file there may include only these (patterns of `case`) ... | and use public functions of these
#
# <> stands for the C standard and system headers; "x.h" without a folder is the file's own folder, and a private
# header is named by its path below core/.  A file obeys the first rule that matches it.  What it may include it may
# call; the third part names what it reaches through <gbees/*> alone: shared.c wraps the backend that its module has.
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"

rules='
include/gbees/*       | <gbees/*> STANDARD GBEES_SOURCE_FILE
core/numerics/*       | numerics/* <stdint.h> <stddef.h> <math.h> <stdbool.h> <limits.h> <float.h>
core/base/version.c   | <gbees/gbees.h>
core/base/*           | base/* <gbees/error.h> <gbees/problem.h> SYSTEM
core/module/*         | module/* base/* <gbees/*> SYSTEM
core/record/*         | record/* base/* numerics/* <gbees/*> SYSTEM
core/results/folder/* | results/folder/* base/* <gbees/*> SYSTEM
core/results/hdf5/*   | results/hdf5/* results/folder/* base/* <gbees/*> SYSTEM
core/scenario/*       | scenario/* base/* <gbees/*> SYSTEM | record/truth.c
core/results/records/* | results/records/* results/hdf5/* results/folder/* base/* <gbees/*> SYSTEM | record/*
core/results/run/*    | results/* scenario/* base/* <gbees/*> SYSTEM | record/* rivals/*
core/accuracy/*       | accuracy/* base/* numerics/* <gbees/*> SYSTEM | record/* scenario/*
core/audit/*          | audit/* record/* base/* numerics/* <gbees/*> SYSTEM
core/rivals/*         | rivals/* audit/* record/* base/* numerics/* <gbees/*> SYSTEM
core/frame/*          | frame/* base/* numerics/* <gbees/*> SYSTEM
core/lagrangian/*     | lagrangian/* frame/* base/* numerics/* <gbees/*> SYSTEM | record/*
core/solver/problem/* | solver/problem/* lagrangian/* frame/* record/* results/* scenario/* base/* numerics/* <gbees/*> SYSTEM
core/solver/grid/*    | solver/grid/* solver/problem/* lagrangian/* frame/* record/* base/* numerics/* <gbees/*> SYSTEM
core/solver/run/*     | solver/* lagrangian/* frame/* record/* module/* base/* numerics/* <gbees/*> SYSTEM | audit/* results/run/*
core/plot/*           | plot/* base/* numerics/* <gbees/*> SYSTEM | frame/spread.c record/* results/records/* results/run/*
core/python/*         | python/* <gbees/*> SYSTEM | accuracy/* audit/* module/* record/* results/run/* rivals/* scenario/* solver/* base/*
core/command/*        | command/* plot/* solver/* record/* results/* scenario/* module/* base/* numerics/* <gbees/*> SYSTEM | accuracy/* audit/* rivals/*
backends/common/ranks/shared.c | common/ranks/* base/* <gbees/*> SYSTEM | cpu/engine/backend.c cuda/engine/backend.c
backends/common/ranks/* | common/ranks/* base/* numerics/* <gbees/*> SYSTEM
backends/common/*     | common/* base/* numerics/* <gbees/*> SYSTEM
backends/cpu/grid/*   | cpu/grid/* cpu/team.h numerics/* <gbees/error.h> SYSTEM | base/error.c
backends/cpu/kernel/* | cpu/kernel/* cpu/grid/* cpu/team.h numerics/* <gbees/*> SYSTEM | base/error.c
backends/cpu/engine/* | cpu/engine/* cpu/kernel/* cpu/grid/* cpu/team.h common/* base/* numerics/* <gbees/*> SYSTEM
backends/cpu/team.h   | SYSTEM
backends/paper/*      | paper/* common/* numerics/* <gbees/*> SYSTEM | base/error.c
backends/mpi/*        | mpi/* <gbees/parallel.h> SYSTEM | base/error.c
backends/cuda/driver/* | cuda/driver/* base/* <gbees/error.h> <gbees/problem.h> SYSTEM
backends/cuda/compile/* | cuda/compile/* cuda/driver/* device/* common/* base/* numerics/* <gbees/*> SYSTEM
backends/cuda/engine/* | cuda/engine/* cuda/compile/* cuda/driver/* device/* common/* base/* numerics/* <gbees/*> SYSTEM
backends/cuda/device/* | device/* numerics/* <gbees/model.h> <gbees/model_equations.h> <math.h> <stddef.h> <stdint.h> GBEES_PLATFORM_HEADER
plugins/*             | plugins/* <gbees/model.h> STANDARD
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

# Sets $may_include and $may_call to the patterns of the first rule for a file; empty without one.
find_rule() # FILE
{
    may_include='' may_call=''
    while IFS='|' read -r files these public; do
        # shellcheck disable=SC2254 # a pattern it shall be
        case $1 in
        ${files%% *}) test -n "$files" && may_include=$these && may_call="$these $public" && return ;;
        esac
    done <<RULES
$rules
RULES
}

# Prints each include of the tree $1 that breaks a rule; false if there is one.
check()
(
    cd "$1" || exit 2
    set -f
    bad=0 seen=0
    for file in $(find include core backends plugins -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort); do
        seen=$((seen + 1))
        find_rule "$file"
        if test -z "$may_include"; then
            echo "$file: no rule for this folder: add one to tests/tree/test_layers.sh"
            bad=1
        fi
        for name in $(included "$file"); do
            # shellcheck disable=SC2086 # a list of patterns
            allowed "$name" $may_include || { echo "$file: may not include $name" && bad=1; }
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

# What objects below the folder $1 use of other folders: "USER SYMBOL DEFINER ...", files as in the tree. A symbol may
# be defined in several modules. An object is core/x/.libs/libgbees_la-NAME.o, or core/x/NAME.o, of core/x/NAME.c.
symbols()
(
    cd "$1" || exit 2
    find core backends -name '*.o' -exec nm -A -P -g {} + | awk '
        function folder(file) { sub("/[^/]*$", "", file); return file }
        {
            file = $1
            sub(/:$/, "", file)
            sub(/\.libs\//, "", file)
            name = file
            sub(".*/", "", name)
            sub(/^[a-z0-9_]*_la-/, "", name)
            sub(/\.o$/, ".c", name)
            file = folder(file) "/" name
            if ($3 == "U")
                used[file " " $2]
            else if (!((file, $2) in seen)) {
                seen[file, $2]
                definers[$2] = definers[$2] " " file
                folders[$2] = folders[$2] " " folder(file) " "
            }
        }
        END {
            for (one in used) {
                split(one, part, " ")
                if (part[2] in definers && !index(folders[part[2]], " " folder(part[1]) " "))
                    print one definers[part[2]]
            }
        }' | sort
)

# Prints each use of a symbol in the list $2 (see symbols()) that breaks a rule of the tree $1; false if there is one.
# Objects of sources that are gone may lie in a build folder.
check_symbols()
{
    (
        cd "$1" || exit 2
        set -f
        bad=0 seen=0 last=''
        while read -r user symbol definers; do
            test -f "$user" || continue
            test "$user" = "$last" || find_rule "$user"
            last=$user found=0 ok=0
            for definer in $definers; do
                test -f "$definer" || continue
                name=${definer#core/} found=1
                # shellcheck disable=SC2086 # a list of patterns
                allowed "${name#backends/}" $may_call && ok=1 && break
            done
            test "$found" = "$ok" || { echo "$user: may not call $symbol() of $definers" && bad=1; }
            seen=$((seen + ok))
        done < "$2"
        test "$bad" = 1 || test "$seen" -gt 0 || { echo "no objects that call each other: run make first" && bad=1; }
        exit "$bad"
    )
}

enter_scratch
check "$top_src" || bad=1
symbols "$top_build" > "$scratch/symbols"
check_symbols "$top_src" "$scratch/symbols" || bad=1

# The test itself: it must see what is planted in a tree that has nothing else.
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

# A symbol that is used from below, of a header that the rules allow: as a library's object, and as a program's.
plant_symbol() # FOLDER_OF_USER FOLDER_OF_DEFINER EXPECTED
{
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/$1/.libs" "$scratch/tree/$2" "$scratch/tree/core" "$scratch/tree/backends"
    echo 'int gbees_planted(void); int gbees_user(void); int gbees_user(void) { return gbees_planted(); }' \
        > "$scratch/tree/$1/user.c"
    echo 'int gbees_planted(void); int gbees_planted(void) { return 0; }' > "$scratch/tree/$2/definer.c"
    (cd "$scratch/tree" && ${CC:-cc} -c "$1/user.c" -o "$1/.libs/libgbees_la-user.o" &&
        ${CC:-cc} -c "$2/definer.c" -o "$2/definer.o") || fail "no object of what is planted"
    symbols "$scratch/tree" > "$scratch/symbols"
    result=seen
    check_symbols "$scratch/tree" "$scratch/symbols" > "$scratch/log" && result=allowed
    test "$3" = allowed || grep -q "^$1/user.c: .*gbees_planted() of $2/definer.c" "$scratch/log" || result=unnamed
    if test "$result" != "$3"; then
        fail "a function of $2 that $1 calls: $result, not $3: $(cat "$scratch/log")"
    fi
}
plant_symbol core/record core/solver/run seen
plant_symbol core/frame core/record seen
plant_symbol core/results/run core/solver/run seen
plant_symbol backends/cpu/grid backends/cpu/engine seen
plant_symbol core/solver/run core/record allowed
plant_symbol core/accuracy core/record allowed
exit "$bad"
