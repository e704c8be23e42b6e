#!/bin/sh
# test_validate.sh - gbees-validate: two short parts of it, a study of convergence to t = 0.1, times, and refusals.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
{ command -v python3 && grep -q 'accuracy/chart' "$top_build/Makefile"; } >/dev/null ||
    skip "no python3, or gbees was configured without what measures accuracy"
make -s -C "$top_build" tests/accuracy/accuracy tests/accuracy/chart >/dev/null || exit 99
enter_scratch
clean_environment
PYTHONIOENCODING=utf-8
export PYTHONIOENCODING
validate=$top_src/tests/accuracy/gbees-validate

# true_of FILE CONDITION-IN-PYTHON: d has the rows of a table, without its head.
true_of() {
    python3 -c 'import csv, math, sys
d = list(csv.reader(open(sys.argv[1], encoding="utf-8")))[1:]
sys.exit(not eval(sys.argv[2]))' "$1" "$2" || fail "$1 is not: $2: $(cat "$1")"
}

calls 0 "$validate" --help
has out "--quick"
calls 2 "$validate" --parts kernel,nothing "$top_build" one
has err "--parts: there is no nothing: pictures, kernel, "
calls 2 "$validate" --samples 5 "$top_build" one
calls 1 "$validate" "$scratch" one
has err "gbees-validate: there is no gbees-run in $scratch: "
test ! -e one || fail "it made a folder"

# Paper mode's coefficient is near the published one, with fewer samples; evidences and their ratio belong together.
is_long && parts=kernel,evidence || parts=evidence
calls 0 "$validate" --quick --backend cpu --samples 2000 --parts "$parts" "$top_build" one
has out one/report.md
if is_long; then
    has one/report.md "## Table 1: BC beside a kernel density estimate"
    has one/report.md "- Lorenz '96 on the published cells in Table 1: needs "
    true_of one/table1.csv \
        "[r[2] for r in d] == ['0.9047', '0.9027', '-', '0.9155'] and all(0.8 < float(r[3]) < 1 for r in d)"
fi
true_of one/evidence.csv "len(d) == 3 and all(abs(float(r[1]) + 4.3) < 0.2 for r in d)"
true_of one/evidence.csv "all(abs(math.exp(float(r[1]) - float(r[2])) - float(r[3])) < 1e-3 for r in d)"
calls 1 "$validate" --quick "$top_build" one
has err "one has runs: remove the folder, or name another one"

# A part that fails is said, and the others go on.
printf '#!/bin/sh\ncase $* in *mode=paper*) echo no paper >&2; exit 1 ;; esac\nexec "%s" "$@"\n' "$programs/gbees-run" >broken
mkdir -p stage/bin
mv broken stage/bin/gbees-run
chmod +x stage/bin/gbees-run
ln -s "$top_build/tests/accuracy/accuracy" stage/bin/accuracy
calls 1 "$validate" --quick --backend cpu --parts evidence,pictures stage three
has err "gbees-validate: evidence: gbees-run failed: no paper"
has three/report.md "- the rest of the part evidence: needs another look, it failed: gbees-run failed: no paper"
has three/report.md "- Figures 5 and 6: needs gbees-plot (cairo)"

# Steps that are longer, and cells that are wider, are further from the reference; and what is drawn later.
cat >study.py <<'EOF'
import argparse, importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("validate", sys.argv[1])
validate = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
loader.exec_module(validate)
chosen = argparse.Namespace(quick=True, samples=1000, out="two", build=sys.argv[2], backend="cpu")
short = [word for key in ("end=0.1", "measurements=[{time: 0.05, function: z, value: [5], covariance: [1]}]")
         for word in ("--set", key)]
session = validate.Session(chosen)
studies = (("steps", "ε", "courant={}", (1, 0.5, 0.05)), ("cells", "η", "width={}", (0.9, 0.7, 0.5)))
for name, letter, key, values in studies:
    kinds = [(f"{letter} = {value}", short + ["--set", key.format(value)]) for value in values]
    validate.convergence(session, name, letter, kinds[2], kinds[:2])
wide = validate.WIDE + ["--until", "0.05", "--set", "measurements=[]"]
validate.performance(session, "lorenz96", "times", [("split5", wide, 1, "cpu", 2)], published=False)
session.write("- somewhere")
EOF
calls 0 python3 study.py "$validate" "$top_build"
test "$(grep -cF 'at t = 1 and t = 2: yes' two/report.md)" -eq 2 || fail "E does not fall: $(cat two/report.md)"
for name in steps cells; do
    true_of two/$name.csv "len(d) == 2 and all(0 < float(v) < 2 for r in d for v in r[1:])"
done
true_of two/times-times.csv "[r[0] for r in d] == ['split5'] and float(d[0][1]) > 0 and d[0][3] == '1'"
test "$(grep -c '^split5' two/times.tsv)" -eq 21 || fail "not ten times and eleven grids: $(cat two/times.tsv)"
calls 0 "$validate" --draw "$top_build" two
for name in steps cells times; do
    test "$(od -A n -t x1 -N 4 two/$name.png | tr -d ' \n')" = 89504e47 || fail "$name.png is no PNG"
done
printf 'panel\tone\tx\tlinear\ty\tlog\nfirst\t1\tno number\n' >two/steps.tsv
calls 1 "$validate" --draw "$top_build" two
has err "steps.tsv: no points in it"
exit "$bad"
