#!/bin/sh
# test_cuda.sh - gbees-run and the CUDA backend on a machine without a GPU: why it is not used, and --compile-only.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
test -f "$top_build/backends/.libs/gbees_cuda.so" || skip "gbees was configured without CUDA"
unset GBEES_CUDA_LIBRARY_PATH
enter_scratch
clean_environment
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME

# run CODE ARGUMENT...
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" "$@"
}

# ---- why not ----

mkdir none
why="the NVIDIA driver is not installed: libcuda.so.1 was not found in $scratch/none"
GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_CUDA_LIBRARY_PATH
run 0 --list
has out "can't be used here: $why"
large="--plugin lorenz63 --scenario published --set factor=3 --until 0.002 --no-output --threads 1"
# shellcheck disable=SC2086
run 0 $large
lines err 1
has err "gbees-run: running on the CPU: "
has err "$why"
# shellcheck disable=SC2086
run 0 $large --quiet
lines err 0
# A small grid asks for no GPU.
run 0 --plugin lorenz63 --scenario published --until 0.01 --no-output --threads 1
lines err 1
has err "gbees-run: running on the CPU: the grid begins with so few cells"
run 2 --plugin lorenz63 --scenario published --backend cuda --no-output
lines err 1
has err "$why"
run 2 --plugin lorenz63 --compile-only
has err "name an architecture, as in --arch sm_90, since $why"
run 2 --plugin lorenz63 --compile-only --arch sm_90
has err "NVRTC, CUDA's run-time compiler, is not installed: libnvrtc.so.13 was not found in $scratch/none"
unset GBEES_CUDA_LIBRARY_PATH

# ---- options ----

run 2 --plugin lorenz63 --scenario published --arch sm_90
has err "--arch goes with --compile-only"
run 2 --plugin lorenz63 --compile-only --check
has err "exclude each other"
run 2 --plugin lorenz63 --compile-only --arch sm_90 --backend cpu
has err "the backend 'cpu' compiles nothing when a run starts"

# ---- compile only ----

"$program" --plugin lorenz63 --compile-only --arch sm_35 >out 2>err </dev/null # which takes no compiling
if grep -q "is not installed" err; then
    echo "the rest is skipped: $(cat err)" >&2
    test "$bad" -eq 0 || exit 1
    exit 77
fi
rm -rf cache
# make check compiles a small model's kernels once for each way to do so: each time takes the compiler seconds. All shipped
# models are in make check-long; test_cuda_registers builds kernels of the largest ones at each change.
if is_long; then
    for name in $(cd "$top_build/plugins/.libs" && ls -- *.so); do
        run 0 --plugin "${name%.so}" --compile-only --arch sm_90
        has out "${name%.so}, "
        has out " registers, 0 bytes of stack, 0 spilled, 0 reloaded, "
    done
    rm -r cache
fi
small="--plugin linear --set dimension=2 --set scheme=split5-mp"
# shellcheck disable=SC2086 # several words
{
    run 0 $small --compile-only --arch sm_90
    has out "linear, 2 states, for sm_90 with NVRTC "
    has out ", made in "
    has out " s, model and engine in one unit: NVRTC took "
    has out " registers, 0 bytes of stack, 0 spilled, 0 reloaded, "
    run 0 $small --compile-only --arch sm_90
    has out ", from the cache"
    # What is in the cache takes no compiler: it is not even opened.
    LD_DEBUG=files "$program" $small --compile-only --arch sm_90 >out 2>err </dev/null
    has err "gbees_cuda.so"
    has out ", from the cache"
    grep -q libnvrtc err && fail "NVRTC was opened though all kernels are in the cache"
    has out ", from the cache, model and engine in one unit"

    # The model and the engine compiled by themselves and linked: another entry of the cache.
    GBEES_CUDA_UNITS=two
    export GBEES_CUDA_UNITS
    run 0 $small --compile-only --arch sm_90
    has out " and nvJitLink "
    has out ", made in "
    has out " s, model and engine linked: NVRTC took "
    has out " s, nvJitLink "
    run 0 $small --compile-only --arch sm_90
    has out ", from the cache, model and engine linked"
    unset GBEES_CUDA_UNITS
    run 0 $small --compile-only --arch sm_90
    has out ", from the cache, model and engine in one unit"
    run 0 $small --compile-only --arch sm_90 --json
    has out '"event":"compile","model":"linear","backend":"cuda","text":"'
    run 0 $small --compile-only --arch sm_90 --quiet
    lines out 0
    run 2 $small --compile-only --arch hopper
    has err "'hopper' is no GPU architecture: it should be like sm_90"
    run 2 $small --compile-only --arch sm_35
    has err "compute capability 3.5, is unknown to NVRTC "
    test "$(ls -d cache/gbees)" = cache/gbees || fail "the cache is not where XDG_CACHE_HOME says"
}

# A cache that can't be used costs time only; an architecture that NVRTC does not know gets PTX.
echo >file
what="a file in place of the cache"
XDG_CACHE_HOME=$scratch/file "$program" --plugin linear --set dimension=1 --compile-only --arch sm_999 >out 2>err </dev/null ||
    fail "exit status $?"
has out ", made in "
has out "PTX, which the driver compiles when it is loaded"

# ---- a model that a C compiler takes, and that one for GPUs does not ----

sed 's/dxdt\[0\] = /real v[n]; v[0] = x[1]; dxdt[0] = 0 * v[0] + /; s/"template"/"variable"/' \
    "$top_src/plugins/template.c" >variable.c
# shellcheck disable=SC2086 # CC may have options
if ${CC:-cc} -shared -fPIC -I. -I"$top_src/include" variable.c -o variable.so 2>err; then
    line=$(grep -n 'v\[n\]' variable.c | cut -d: -f1)
    run 2 --plugin ./variable.so --compile-only --arch sm_90
    lines err 1
    has err "the model can't be compiled for the GPU: variable.c:$line: "
    GBEES_CUDA_UNITS=two
    export GBEES_CUDA_UNITS
    run 2 --plugin ./variable.so --compile-only --arch sm_90
    has err "the model can't be compiled for the GPU: variable.c:$line: "
fi
exit "$bad"
