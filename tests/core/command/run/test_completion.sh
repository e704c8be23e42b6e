#!/bin/sh
# test_completion.sh - what bash and zsh offer for command lines of the four programs: each option that a program takes, and
# plugins, scenarios, parameters, keys and words in their places.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
completion=$top_src/core/command/completion
enter_scratch
clean_environment
XDG_CACHE_HOME=$scratch/plots/cache # in no folder whose files are offered
export XDG_CACHE_HOME
backends='cpu paper' # with --without-cuda
test ! -e "$top_build/backends/gbees_cuda.la" || backends='cpu cuda paper'
export completion top_build scratch backends
mkdir "$scratch/plots" "$scratch/pictures" || exit 99
touch "$scratch/own.yaml" "$scratch/own.c" "$scratch/own.cpp" "$scratch/own.txt"

# The long options of a program, from the text that --usage prints.
long_options() # PROGRAM
{
    "$top_build/$1" --usage | grep -oE -e '--[a-z-]+' | sort -u
}
for program in gbees-run gbees-plot gbees-export gbees-plugin; do
    long_options $program >"$program.options"
    test "$(wc -l <"$program.options")" -ge 4 || stop "$program --usage was not understood"
done

cat >in_bash <<'END'
. "$completion/gbees.bash" || exit 1
bad=0

# Sets COMPREPLY as a Tab at the end of these words does; bash has parted them at '=' and ':'.
complete_line() # PROGRAM WORD...
{
    COMP_WORDS=("$top_build/$1" "${@:2}") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _gbees "${COMP_WORDS[0]}"
}

# offers "CANDIDATES" PROGRAM WORD...: these and no other, in any order.
offers()
{
    complete_line "${@:2}"
    [[ $(printf '%s\n' "${COMPREPLY[@]}" | sort) == $(tr ' ' '\n' <<<"$1" | sort) ]] && return
    echo "bash, '${*:2}': offers '${COMPREPLY[*]}', not '$1'"
    bad=1
}

for program in gbees-run gbees-plot gbees-export gbees-plugin; do
    complete -p "$program" >/dev/null || bad=1
    complete_line "$program" --
    diff "$program.options" <(printf '%s\n' "${COMPREPLY[@]}" | sort) >/dev/null || {
        echo "bash: $program takes" $(cat "$program.options") "and for -- is offered: ${COMPREPLY[*]}"
        bad=1
    }
done
offers '--plugin --plugin-path' gbees-run --plug
offers 'lorenz63 lorenz96' gbees-run --plugin lor
offers 'lorenz63 lorenz96' gbees-run --plugin = lor
offers 'lorenz63 lorenz96' gbees-run -p lor
offers 'default published own.yaml pictures plots' gbees-run --plugin lorenz63 --scenario ''
offers 'published' gbees-run --plugin lorenz63 -s pub
offers 'published' gbees-run --plugin = lorenz63 --scenario = pub
offers 'sigma= b= r=' gbees-run -p lorenz63 --param ''
offers 'z' gbees-run -p lorenz63 --measurement-function ''
offers 'frame= frame_cells=' gbees-run --set fr
offers 'fixed moving lagrangian auto' gbees-run --set frame =
offers 'split5 split5-mp split7 split7-mp' gbees-run --set scheme = spl
offers 'moving' gbees-run --set = frame = m
offers 'on off' gbees-run --set bound =
offers '' gbees-run --set threshold =
offers 'auto cpu cuda' gbees-run --backend ''
offers 'all last none' gbees-run --densities =
offers 'bar' gbees-run --progress b
offers '' gbees-run --until ''
offers '--json' gbees-run --plugin lorenz63 --strict --js
offers 'pictures' gbees-run --output pi
offers 'own.c own.cpp own.txt own.yaml' gbees-run --truth own
offers 'pictures plots' gbees-plot p
offers 'png pdf' gbees-plot --format p
offers 'gbees csv vti' gbees-export -f ''
offers 'pictures plots' gbees-export --format csv p
offers 'new build check' gbees-plugin ''
offers 'own.c own.cpp' gbees-plugin build own
offers 'pendulum' gbees-plugin check pend
offers "$backends" gbees-plugin check --backend ''
offers '' gbees-run --plugin no-such-plugin --param ''
exit $bad
END

cat >in_zsh <<'END'
# zsh's own functions are replaced by such as print what they are given.
_arguments() { print -rl -- "$@" }
_files() { print -r -- "files $*" }
_values() { print -r -- "${@[-1]}" }
compadd() { while [[ $1 == -* ]]; do [[ $1 == -S ]] && shift; shift; done; print -rl -- "$@" }
compset() { PREFIX=${PREFIX#*=} }
fpath=($completion $fpath)
autoload -Uz _gbees
integer bad=0 CURRENT=2

for name in gbees-run gbees-plot gbees-export gbees-plugin; do
    words=($top_build/$name --)
    _gbees >specifications
    sed -nE 's/^([(][^)]*[)]|[*])(--[a-z-]+).*/\2/p' specifications | sort -u >$name.zsh
    diff $name.options $name.zsh >$name.diff || { print "zsh: options of $name (<) and what is offered (>)"; cat $name.diff; bad=1 }
done

# offers "CANDIDATES" OPTION PREFIX PROGRAM WORD...: for the option's value, of which PREFIX is there.
offers()
{
    PREFIX=$3 words=($top_build/$4 ${@:5} x) CURRENT=$(($# - 2))
    local program=$words[1] found
    found=${(j: :)${(f)"$(_gbees_value $2)"}}
    [[ $found == $1* ]] || { print "zsh: --$2 ${@:4} offers '$found', not '$1'"; bad=1 }
}
offers 'aizawa cr3bp duffing' plugin '' gbees-run
offers 'default published' scenario '' gbees-run --plugin lorenz63
offers 'sigma b r' param '' gbees-run -p lorenz63
offers 'z' measurement-function '' gbees-run --plugin=lorenz63
offers 'model dimension' set '' gbees-run
offers 'fixed moving lagrangian auto' set frame= gbees-run
offers 'auto bar json none' progress '' gbees-run
offers 'files -/' output '' gbees-run
offers 'svg' format '' gbees-plot
offers "$backends" backend '' gbees-plugin
exit bad
END

status=0
if command -v bash >/dev/null; then
    bash --norc in_bash || status=1
else
    echo "no bash: its completion is not tried"
fi
if command -v zsh >/dev/null; then
    zsh -f in_zsh || status=1
else
    echo "no zsh: its completion is not tried"
fi
exit $status
