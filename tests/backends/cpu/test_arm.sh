#!/bin/sh
# test_arm.sh - the kernels for 64-bit ARM, by a cross compiler: from the same source they are vectors without calls and
# without fused operations but those that are meant, and (with qemu-aarch64) compute the same bits as here. Skipped without that compiler.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
compiler=${GBEES_ARM_CC:-aarch64-linux-gnu-gcc}
enter_scratch
cd "$top_src" || exit 99

# Function $1 of the kernels with $2 bits: nothing but operations on vectors of $3.
check_vectors() {
    sed -n "/^$1[.a-z0-9]*:/,/\.size/p" "$scratch/split_sweep_f$2.s" >"$scratch/sweep.s"
    test -s "$scratch/sweep.s" || fail "there is no $1 of $2 bits"
    vectors=$(grep -cE "f(add|sub|mul|ml[as])[[:space:]]+v[0-9]+\.$3" "$scratch/sweep.s")
    case $1 in stream*) least=20 ;; *) least=50 ;; esac # a face one way: 22; three ways of it
    test "$vectors" -ge "$least" || fail "$1 of $2 bits has $vectors operations on vectors of $3"
    if grep -E 'f(add|sub|mul|div|cmpe?|csel|n?m(add|sub))[[:space:]]+[sd][0-9]' "$scratch/sweep.s"; then
        fail "$1 of $2 bits has operations on single numbers"
    fi
    if grep -E '^[[:space:]]*(bl|blr)[[:space:]]' "$scratch/sweep.s" | grep -v memset; then
        fail "$1 of $2 bits calls functions"
    fi
}

command -v "$compiler" >/dev/null || {
    echo "$compiler is not here: no test of the kernels for ARM (GBEES_ARM_CC names another)"
    exit 77
}

# The options are those of this build. Fused operations are what this compiler makes unless it is told.
flags="${GBEES_CFLAGS:--std=c17 -O3 -ffp-contract=off} -I. -Iinclude -Icore -Ibackends -Itests -D_GNU_SOURCE"
flags="$flags -Wno-unknown-pragmas"
for bits in 32 64; do
    for source in kernel split_sweep; do
        # shellcheck disable=SC2086 # options
        "$compiler" $flags -fno-math-errno -fno-trapping-math -DGBEES_ISA=neon -DGBEES_REAL_BITS=$bits -S \
            -o "$scratch/${source}_f$bits.s" "backends/cpu/kernel/$source.c" || exit 1
    done
done

# gbees_fused() is in the split schemes' masses alone.
fused=$(awk '/^[a-z_][A-Za-z0-9_.]*:/ { name = $1 }
    /^[[:space:]]*f(n?m(add|sub)|ml[as])[[:space:]]/ && name !~ /^(cpu_sweep|sweep|stream|cross_|far_)/ { print name }' \
    "$scratch"/*_f??.s | sort -u)
test -z "$fused" || fail "there are fused operations that no one wrote: results are not those of other processors: $fused"
for kind in sweep_columns_5 sweep_columns_7 stream_pencil_5 stream_pencil_7 stream_segment_5 stream_segment_7; do
    for lanes in 32:4s 64:2d; do
        check_vectors "$kind" "${lanes%%:*}" "${lanes#*:}"
    done
done

# shellcheck disable=SC2086
"$compiler" $flags -static -o "$scratch/kernel_bits" "$scratch"/*_f??.s \
    tests/backends/cpu/kernel_bits.c tests/backends/cpu/kernel_fields.c tests/plugins/advect.c backends/cpu/kernel/isa.c backends/cpu/grid/grid.c \
    backends/cpu/grid/grid_compact.c backends/cpu/grid/pages.c core/base/error.c core/base/sha256.c -lm || exit 1
if command -v qemu-aarch64 >/dev/null; then
    "$top_build/tests/backends/cpu/kernel_bits" >"$scratch/here" 2>/dev/null || fail "kernel_bits: exit status $?"
    qemu-aarch64 "$scratch/kernel_bits" >"$scratch/there" 2>"$scratch/isa" || fail "on ARM kernel_bits has exit status $?"
    grep -qx neon "$scratch/isa" || fail "the instruction set is $(cat "$scratch/isa"), not neon"
    test -s "$scratch/here" || fail "no bits to compare"
    diff "$scratch/here" "$scratch/there" >"$scratch/diff" ||
        fail "$(grep -c '^>' "$scratch/diff") of $(grep -c . "$scratch/here") results differ: $(sed -n 2p "$scratch/diff")"
else
    echo "qemu-aarch64 is not here: compiled, but not run"
fi
exit "$bad"
