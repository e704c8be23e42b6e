#!/bin/sh
# test_bench.sh - the benchmark's commands on the smallest cases: what they write, that it adds up, and their refusals.
# No time is judged.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
{ command -v python3 && grep -q 'bench/ceiling' "$top_build/Makefile"; } >/dev/null ||
    skip "there is no python3, or gbees was configured without what the benchmark needs"
make -s -C "$top_build" tests/bench/ceiling tests/bench/draw >/dev/null || exit 99
enter_scratch
clean_environment
bench=$top_src/tests/bench

# true_of FILE EXPRESSION: of what the file says, `d`.
true_of() {
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1" || fail "$1: not $2"
}

is_png() {
    test "$(od -A n -t x1 -N 8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a || fail "$1 is not a PNG"
}

calls 0 "$bench/run" --quick --backend cpu --case lorenz63,lorenz63-ctu --threads 1,2 --precision mixed,double --repeat 2 \
    --set end=0.02 --set 'measurements=[]' --set records=1 "$top_build" one
true_of one/bench.json "len(d['runs']) == 8"
true_of one/bench.json "[r['threads'] for r in d['top']['ceilings']] == [1, 2]"
true_of one/bench.json "all(min(r.values()) > 0 for r in d['top']['ceilings'])"
true_of one/bench.json "all(len(r['seconds']) == 2 and r['steps'] > 0 and r['least_s'] <= r['median_s'] <= r['most_s']
    for r in d['runs'])"
true_of one/bench.json "all(r['raw_cell_updates'] >= r['cell_updates'] > 0 for r in d['runs'])"
# Bytes and operations a raw cell and step: of doc/notes/benchmark-results.md.
true_of one/bench.json "{(r['scheme'], r['precision'], round(r['bytes_per_s'] / r['raw_cells_per_s'], 6),
    round(r['operations_per_s'] / r['raw_cells_per_s'], 6)) for r in d['runs']} == {('split5', 'mixed', 24, 156),
    ('split5', 'double', 48, 156), ('ctu', 'mixed', 20, 219), ('ctu', 'double', 40, 219)}"
true_of one/bench.json "d['machine']['processor'] and d['machine']['build']['flags'].startswith('-std=')"
has one/bench.md "| Lorenz '63 with its update | cpu, 2 | double | "
calls 0 "$top_build/tests/bench/draw" one/bench.json one.png
is_png one.png

# The GPU's kernels, as far as that goes without one; skipped without NVRTC or where CUDA was left out.
if grep -q 'bench/ceiling_gpu' "$top_build/Makefile" && make -s -C "$top_build" tests/bench/ceiling_gpu 2>/dev/null &&
    "$programs/gbees-run" --plugin lorenz63 --compile-only --arch sm_35 2>&1 | grep -q 'unknown to NVRTC'; then
    for arch in sm_75 sm_90 sm_100; do
        calls 0 "$top_build/tests/bench/ceiling_gpu" --compile-only "$arch"
    done
    calls 1 "$top_build/tests/bench/ceiling_gpu" --compile-only h200
    has err "ceiling_gpu: 'h200' is no GPU architecture"
fi

if is_long; then
    calls 0 "$bench/cost" --quick --backend cpu --dimensions 2 --cells 500,2000 --steps 20 --repeat 1 --threads 1 "$top_build" two
    true_of two/cost.json "[r['dimension'] for r in d['runs']] == [2, 2] * 2 and not d['left_out']"
    true_of two/cost.json "[r['shape'] for r in d['runs']] == ['round', 'long'] * 2"
    true_of two/cost.json "all(abs(r['cells'] / want - 1) < 0.6 for r, want in zip(d['runs'], [500] * 2 + [2000] * 2))"
    # What is long is drawn out, on cells that are as wide as before otherwise.
    true_of two/cost.json "all(a['factor'] == b['factor'] and 2 < b['drawn'] / a['drawn'] < 8 for a, b in ((d['runs'][1], d['runs'][3]),))"
    has two/cost.md "| ns a needed cell and step |"
    calls 0 "$top_build/tests/bench/draw" two/cost.json two.png
    is_png two.png
fi

# What would not fit, and what there is no time for, is said.
calls 0 "$bench/cost" --quick --backend cpu --dimensions 3 --cells 500,2000 --steps 20 --repeat 1 --threads 1 --memory 1 \
    "$top_build" three
true_of three/cost.json "not d['runs'] and d['left_out'] == [f'n = 3, {shape}, 500 cells: memory, or no such grid' for shape in ('round', 'long')]"
calls 1 "$top_build/tests/bench/draw" three/cost.json three.png
has err "no runs of tests/bench/run or tests/bench/cost in it"

# All in one go, from a folder as tests/gpu-stage makes it; and a part that the time does not allow.
if is_long; then
    make -s -C "$top_build" tests/accuracy/accuracy tests/accuracy/chart >/dev/null || exit 99
    mkdir -p stage/bin
    for program in gbees-run tests/accuracy/accuracy tests/bench/ceiling; do
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$top_build/$program" >"stage/bin/${program##*/}"
        chmod +x "stage/bin/${program##*/}"
    done
    echo '{"compiler": "cc 1", "flags": "-O7"}' >stage/build.json
    unset MODELS ETAS SETS SCHEME SCHEMES UNTIL FINE LONG PROBLEMS LIMIT GBEES_RUN ACCURACY CHART
    small="--quick --backend cpu --repeat 1"
    calls 0 "$bench/session" --parts bench,cost,models --models linear --samples 20000 --limit 200 \
        --bench "$small --threads 1 --precision mixed --case lorenz63 --set end=0.02 --set measurements=[]" \
        --cost "$small --threads 1 --dimensions 2 --cells 500 --steps 60" stage all
    true_of all/session.json "list(d['parts']) == ['bench', 'cost', 'models']"
    true_of all/session.json "all(p['exit_status'] == 0 for p in d['parts'].values())"
    true_of all/session.json "d['parts']['bench']['result']['runs'][0]['case'] == 'lorenz63'"
    true_of all/session.json "d['parts']['bench']['result']['machine']['build']['flags'] == '-O7'"
    true_of all/session.json "len(d['parts']['models']['lines']) == 6 and '| \`linear\` |' in d['parts']['models']['report']"
    calls 0 "$bench/pictures" "$top_build" all
    test "$(wc -l <out)" -eq 2 || fail "not two pictures"
    is_png all/roofline.png
    is_png all/cost.png
    calls 1 env SAMPLES=2000 "$bench/session" --parts limit --limit 0.1 stage cut
    true_of cut/session.json "d['parts']['limit']['exit_status'] is None"
    has err "session: limit: no time left"
    calls 1 "$bench/pictures" "$top_build" cut
    has err "has none of bench, cost and accuracy"
    calls 1 "$bench/session" stage all
    has err "has a session.json: remove it, or name another folder"
fi

calls 1 "$bench/run" --quick --case lorenz63 "$top_build" one
has err "run: one has a bench.json: remove it, or name another folder"
mkdir -p two
touch two/cost.json
calls 1 "$bench/cost" --quick "$top_build" two
has err "cost: two has a cost.json"
calls 2 "$bench/run" --case lorenz64 "$top_build" four
has err "--case: there is no lorenz64: lorenz63, "
calls 1 "$bench/run" --quick --case lorenz63 --backend none "$top_build" four
has err "run: the backend none can't be used here: gbees-run --list says why"
calls 1 "$bench/run" "$scratch" four
has err "run: there is no gbees-run in $scratch: "
calls 1 "$bench/run" --quick --case lorenz63 --set thresold=1 "$top_build" five
has err "thresold"
exit "$bad"
