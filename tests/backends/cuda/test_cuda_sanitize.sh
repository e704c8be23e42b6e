#!/bin/sh
# test_cuda_sanitize.sh - the CUDA engine on threads (shim/) under AddressSanitizer with UndefinedBehaviorSanitizer,
# and under ThreadSanitizer: kernels' text, shim and the engine's half on the host are compiled for each. No report.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
test -f "$top_build/backends/.libs/gbees_cuda.so" || skip "gbees was configured without CUDA"
enter_scratch
compiler=${CC:-cc}
ran=0

variable() { # NAME: of the Makefile
    sed -n "s/^$1 = //p" "$top_build/Makefile" | head -n 1
}

# The engine's half on the host, once for each sanitizer; what compiles kernels has no part in it.
host="$(cd "$top_src/backends" && ls cuda/engine/*.c common/*.c | grep -v backend.c) cuda/driver/memory.c"
runtime=$top_build/backends/.libs/libcuda_runtime.a
include="-I$top_src/include -I$top_src/core -I$top_src -I$top_src/tests -I$top_src/backends -I$top_src/backends/cuda
    -I$top_build $(variable CUDA_CPPFLAGS) $(variable LAPACKE_CFLAGS)"

# shellcheck disable=SC2086 # lists of options
compile() { # SANITIZERS
    objects=
    for name in $host; do
        object=$(echo "${name%.c}" | tr / _).o
        $compiler -std=gnu17 -g -O0 -fsanitize="$1" $include -c \
            "$top_src/backends/$name" -o "$object" || return 1
        objects="$objects $object"
    done
    for name in cuda_sanitize shim/driver shim/memory; do
        object=$(basename "$name").o
        $compiler -std=gnu17 -g -O0 -fsanitize="$1" $include -c "$top_src/tests/backends/cuda/$name.c" -o "$object" ||
            return 1
        objects="$objects $object"
    done
}

# run SANITIZERS VARIANT KEY=VALUE...: a file of shim/variants
# shellcheck disable=SC2086
run() {
    what="$1: $2"
    shim=$top_src/tests/backends/cuda/shim
    plugin=$(sed -n 's/^#define SHIM_PLUGIN "\(.*\)"/\1/p' "$shim/variants/$2.c")
    # Without: how a plugin's functions are chosen when it is loaded is before a sanitizer's time.
    $compiler -std=gnu17 -O1 $include -c "$top_src/$plugin" -o plugin.o
    $compiler -std=gnu17 -g -O0 -fsanitize="$1" $include "-DSHIM_VARIANTS(X)=X($2)" "$shim/variants/$2.c" \
        "$shim/backend.c" plugin.o $objects "$runtime" -o program -L"$top_build/.libs" \
        -Wl,-rpath,"$top_build/.libs" -lgbees $(variable LAPACKE_LIBS) -lpthread -lm -ldl >log 2>&1 || {
        echo "FAIL: $what is not compiled" >&2
        sed 's/^/    /' log >&2
        bad=1
        return
    }
    shift 2
    ./program "$@" >out 2>err
    code=$?
    if test "$code" -ne 0 || test -s err || ! grep -q 'steps, [1-9]' out; then
        echo "FAIL: $what: exit status $code" >&2
        sed 's/^/    out: /' out >&2
        head -n 60 err | sed 's/^/    err: /' >&2
        bad=1
    fi
    ran=1
}

has() { # SANITIZERS: the compiler has them, and their programs run here
    echo 'int main(void) { return 0; }' >empty.c
    # shellcheck disable=SC2086
    $compiler -fsanitize="$1" empty.c -o empty >log 2>&1 && ./empty >>log 2>&1 && return
    echo "test_cuda_sanitize: not with -fsanitize=$1: $(head -n 1 log)" >&2
    return 1
}

tilted='covariance=[[0.01, 0.008], [0.008, 0.01]]'
measured='measurements=[{time: 0.06, function: z, value: [2], covariance: [4]}]'
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export UBSAN_OPTIONS

if has address,undefined; then
    compile address,undefined || exit 1
    run address,undefined lorenz63 records=2 end=0.1 prune_interval=5 "$measured"
    run address,undefined lorenz63_ctu records=1 end=0.05 scheme=ctu precision=double prune_interval=5 'measurements=[]'
    run address,undefined duffing records=1 end=0.2
    run address,undefined pcr3bp scheme=split5-mp records=1 end=0.005 factor=0.5 'measurements=[]'
    run address,undefined duffing_rotated records=1 end=0.2 rotate=yes factor=2 "$tilted"
    run address,undefined lorenz96 records=1 end=0.006 extent=1.5
fi
if has thread; then
    compile thread || exit 1
    run thread lorenz63 records=2 end=0.1 prune_interval=5 "$measured"
    run thread lorenz63_ctu records=1 end=0.05 scheme=ctu precision=double prune_interval=5 'measurements=[]'
    SHIM_CLUSTER=1
    export SHIM_CLUSTER
    run thread lorenz63 records=1 end=0.05 prune_interval=5 'measurements=[]'
    unset SHIM_CLUSTER
    run thread duffing records=1 end=0.2
    run thread pcr3bp scheme=split5-mp records=1 end=0.005 factor=0.5 'measurements=[]'
    run thread lorenz96 records=1 end=0.006 extent=1
fi
test "$ran" -eq 1 || test "$bad" -eq 1 || exit 77
exit "$bad"
