#!/bin/sh
# test_gpu_session.sh - the script for machines with a GPU, on one without: it says so and does the CPU's half; and with
# the engine on threads in a GPU's place it compares both, and sees it when they differ.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
{ test -f "$top_build/tests/.libs/gbees_shim.so" && grep -q 'accuracy/accuracy' "$top_build/Makefile"; } ||
    skip "gbees was configured without CUDA or without what measures accuracy"
enter_scratch
unset GBEES_CACHE GBEES_SESSION_BACKEND
GBEES_BACKEND_PATH=$top_build/tests/.libs GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_BACKEND_PATH GBEES_CUDA_LIBRARY_PATH

mkdir -p stage/bin stage/models
ln -s "$top_build/tests/.libs/exits.so" stage/models/
make -s -C "$top_build" tests/accuracy/accuracy >/dev/null || exit 99
for program in gbees-run gbees-export tests/accuracy/accuracy; do
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$top_build/$program" >"stage/bin/${program##*/}"
    chmod +x "stage/bin/${program##*/}"
done
session=$top_src/tests/gpu-session

what="no GPU"
"$session" --models "duffing lorenz63" --precisions mixed stage >out 2>&1 || fail "exit status $?"
has out "there is no GPU that can be used: the CPU's half only: "
has out "| duffing, mixed: on the CPU | "
has out "| lorenz63, mixed: on the CPU | "
has out "nothing is wrong, on the CPU"

what="threads in place of a GPU"
GBEES_SESSION_BACKEND=shim
export GBEES_SESSION_BACKEND
"$session" --models lorenz63 --precisions mixed --no-benchmark stage >out 2>&1 || fail "exit status $?"
has out "lorenz63, mixed: 10 records, GPU - CPU: mean, covariance (sigma), mass"
has out "| lorenz63, mixed: L1 | 0.0000 | 0.0005 | ok |"
has out "| lorenz63, mixed: run to run | identical | bits | ok |"
has out "| Lorenz '63, a grid that moves: six at once | identical | bits | ok |"
has out "| targets that absorb, n = 1: 3 records, GPU - CPU: mean, covariance (sigma), mass | "
has out "| targets that absorb and move, n = 2: run to run | identical | bits | ok |"
has out "| a measurement that nothing supports | exit status 1: "
has out "gpu-session: nothing is wrong"

what="one unit and two"
"$session" --units stage >out 2>&1 || fail "exit status $?"
has out "| Lorenz '63: one unit, two units: empty cache, to the first step | "
has out "| Lorenz '63: one unit, two units: results | identical | "
has out "gpu-session: nothing is wrong"

# A CPU that computes something else.
what="a difference"
cat >stage/bin/gbees-run <<END
#!/bin/sh
case " \$* " in
*" --backend cpu "*) exec "$programs/gbees-run" "\$@" --param sigma=4.001 ;;
esac
exec "$programs/gbees-run" "\$@"
END
"$session" --models lorenz63 --precisions mixed --no-benchmark stage >out 2>&1
test "$?" -eq 1 || fail "exit status is not 1"
has out "| 1e-4 | WRONG |"
has out "gpu-session: something is wrong"
exit "$bad"
