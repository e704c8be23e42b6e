#!/bin/sh
# test_programs.sh - tests, and the manual's commands, call no program that may be missing: each is of Debian's base system, or of a package that
# ./quickstart test installs, or its script asks for it (`command -v NAME`) and goes on without it.
# shellcheck disable=SC2016 # the scripts that are planted have variables of their own
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
command -v python3 >/dev/null || skip "there is no python3"

# PACKAGE: PROGRAM...
base='
apt: apt-get
bash: bash
coreutils: basename cat chmod chroot cksum cp cut date dd dirname env head id ln ls mkdir mkfifo mktemp mv od readlink rm
coreutils: rmdir seq sleep sort tail timeout touch tr wc
dash: sh
diffutils: cmp diff
findutils: find
grep: grep
libc-bin: getconf ldd
mawk: awk
mount: mount
sed: sed
util-linux: unshare
'
installed='
gcc: nm
hdf5-tools: h5diff h5dump h5ls
make: make
openmpi-bin: mpirun
pkg-config: pkg-config
python3-h5py: python3
'

lists() { # PROGRAM LIST
    printf '%s\n' "$2" | sed 's/^[^:]*://' | tr ' ' '\n' | grep -qx -- "$1"
}

# Prints each program that a script of the list in the file $1 calls without a right to.
check()
(
    bad=0
    # shellcheck disable=SC2046 # a list of words
    python3 "$top_src/tests/tree/programs.py" $(cat "$1") >called || exit 2
    while read -r program script; do
        test "${program#gbees-}" = "$program" || continue
        lists "$program" "$base$installed" || grep -q "command -v $program" "$script" ||
            { echo "$script calls $program, which is neither of Debian's base system nor installed by quickstart" && bad=1; }
    done <called
    exit "$bad"
)

enter_scratch
find "$top_src/tests" -name '*.sh' >scripts
grep -h '^    \(\$ \)*gbees-' "$top_src/README.md" "$top_src"/doc/*.md | sed 's/^ *\(\$ \)*//; /[<>]\|\[[A-Z-]/d' >manual.sh
printf '%s\n' "$top_src/tests/bare" "$top_src/tests/resume-kills" manual.sh >>scripts
check scripts || bad=1
test "$(wc -l <called)" -gt 300 || fail "only $(wc -l <called) calls were found"
for program in $(printf '%s\n' "$base$installed" | sed 's/^[^:]*://'); do
    grep -q "^$program " called || fail "no script calls $program: take it off the list of this test"
done
for package in $(printf '%s\n' "$installed" | sed 's/:.*//'); do
    sed -n "/packages='/,/'\$/p" "$top_src/quickstart" | tr -s " '" '\n' | grep -qx -- "$package" ||
        fail "quickstart does not install $package"
done
for package in $(printf '%s\n' "$base" | sed 's/:.*//'); do
    command -v dpkg-query >/dev/null || break
    case $(dpkg-query -W -f '${Essential} ${Priority}' "$package") in
    *yes* | *required*) ;;
    *) fail "$package is no part of Debian's base system" ;;
    esac
done

# The test itself: it must see each program that is missing, and nothing else.
plant() { # yes|no TEXT: whether it calls ps
    printf '%s\n' "$2" >planted
    echo planted >list
    if check list >log; then seen=no; else seen=yes; fi
    test "$seen" = "$1" || fail "calls ps: $1, and seen: $seen: $2"
}
plant yes 'ps -e'
plant yes 'true && ! ps'
plant yes 'LC_ALL=C ps | cat'
plant yes 'x="a $(cat x | ps -e) b"'
plant yes 'calls 0 timeout -s INT 5 ps'
plant yes 'if test -e x; then cat x; else ps; fi'
plant yes 'case $x in a | b) ps ;; esac'
plant yes 'f() {
    cat x
    ps
}'
plant yes "trap 'ps' EXIT"
plant yes "unshare -rm sh -c 'cat x; ps'"
plant yes 'cat <<EOT
text
EOT
ps'
plant yes 'find . -name x -exec ps {} +'
plant no '# ps'
plant no 'echo ps; echo "ps; ps"'
plant no 'cat <<EOT
ps
EOT'
plant no 'case $x in ps) cat x ;; ps | a) ;; esac'
plant no 'ps() { cat x; }
ps'
plant no 'command -v ps >/dev/null && ps'
plant no 'for ps in a b; do cat "$ps"; done'
exit "$bad"
