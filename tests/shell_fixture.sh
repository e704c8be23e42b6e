# shell_fixture.sh - what tests of commands have in common; sourced by them. $what is what is being tested; commands
# leave their output in the files out and err of the current folder.
# shellcheck shell=sh disable=SC2034 # `bad` is for them
bad=0

fail() {
    echo "FAIL: $what: $*" >&2
    for stream in out err; do
        test ! -s "$stream" || sed "s/^/    $stream: /" "$stream" >&2
    done
    bad=1
}

# calls CODE COMMAND...: the exit status must be CODE; its output is left in the files out and err.
calls() {
    expected=$1
    shift
    what="$*"
    "$@" >out 2>err </dev/null
    code=$?
    test "$code" -eq "$expected" || fail "exit status $code, not $expected"
}

has() { # FILE TEXT
    grep -qF -- "$2" "$1" || fail "no '$2' in $1"
}

lacks() { # FILE TEXT
    ! grep -qF -- "$2" "$1" || fail "'$2' in $1"
}

lines() { # FILE NUMBER
    test "$(wc -l <"$1")" -eq "$2" || fail "$(wc -l <"$1") lines in $1, not $2"
}
