"""Runs every block of code of the manual's pages, as it stands there; what can't be run is listed with its reason.

    blocks.py TOP PROGRAMS [long]

in an empty folder, with the package gbees and the build's programs to be found. PROGRAMS has the programs that a shell
block calls by name or as build/NAME. Unless `long` is given, runs are made smaller (SMALLER), and what is slow is left
out. A block that is neither run nor listed is a failure: a page that gets a new one has to say here what it is.
"""

import ast
import contextlib
import glob
import io
import os
import re
import subprocess
import sys
import textwrap
import time

# Pages of formulas and drawings, and those that another test runs.
PAGES = {
    "doc/architecture.md": "drawings",
    "doc/lagrangian.md": "formulas",
    "doc/method.md": "formulas",
    "doc/moving.md": "formulas",
    "doc/paper.md": "formulas",
    "doc/tutorial.md": "run by test_tutorial.sh, which compares the output, too",
    "doc/examples/README.md": "run by test_examples.sh, which compares the output, too",
}
# (page, how the block begins): what it is, or why it is not run.
NOT_RUN = {
    ("README.md", "./quickstart run"): "installs packages as root",
    ("doc/accuracy.md", "√("): "a formula",
    ("doc/accuracy.md", "measurement 1 at"): "output",
    ("doc/cluster.md", "ranks  "): "output",
    ("doc/cluster.md", "c C / R"): "a formula",
    ("doc/coming-from.md", "import numpy as np\nimport dapper"): "needs the package dapper",
    ("doc/coming-from.md", "from datetime"): "needs the package stonesoup",
    ("doc/cuda.md", "gbees-run --plugin mymodel --compile-only"): "needs CUDA's run-time compiler",
    ("doc/cuda.md", "GBEES_CUDA_UNITS"): "needs a GPU",
    ("doc/frameworks.md", "from gbees.stonesoup"): "needs the package stonesoup: test_stonesoup.py",
    ("doc/frameworks.md", "import sympy\nfrom gbees.stonesoup"): "needs the package stonesoup: test_stonesoup.py",
    ("doc/frameworks.md", "from dapper"): "needs the package dapper: test_dapper.py",
    ("doc/gbees-plugin.md", "gbees-plugin new NAME"): "a synopsis",
    ("doc/gbees-plugin.md", "-shared"): "options alone",
    ("doc/gbees-plugin.md", "drift, default"): "output",
    ("doc/gbees-run.md", "gbees-run --plugin NAME"): "a synopsis",
    ("doc/gbees-run.md", "gbees-run --resume DIR"): "needs a run that was stopped: test_resume.sh",
    ("doc/gbees-run.md", "forecast"): "output",
    ("doc/instants.md", "instants:"): "a time of each kind, of no one model",
    ("doc/install.md", "autoreconf"): "builds and installs gbees itself",
    ("doc/install.md", "PREFIX/bin"): "a list of files",
    ("doc/measuring.md", "tests/"): "measures for hours, partly on a GPU",
    ("doc/measuring.md", "make gbees-run"): "measures for hours",
    ("doc/models.md", "d"): "equations",
    ("doc/models.md", "x(k)"): "equations",
    ("doc/performance.md", "make bench"): "measures for hours: test_bench.sh",
    ("doc/notes/ranks.md", "step = c"): "a formula",
    ("doc/orbit.md", "import gbees.orbit"): "needs files, and the packages ccsds-ndm and astropy: test_orbit.py",
    ("doc/plugins.md", "#define GBEES_DIM"): "a part of a plugin",
    ("doc/plugins.md", "gbees-run --plugin mymodel --compile-only"): "needs CUDA's run-time compiler",
    ("doc/python.md", "pip install"): "takes pip, and minutes: test_wheel.sh",
    ("doc/python.md", "make wheel"): "takes pip, and minutes: test_wheel.sh",
    ("doc/python.md", "export PYTHONPATH"): "the folders of this test",
    ("doc/results.md", "DIR/run.h5"): "a list of files",
    ("doc/results.md", "/leg0/record0"): "a list of groups",
    ("doc/results.md", "mass = 1"): "a formula",
    ("doc/scenario.md", "states:"): "states of no one model: test_circles.sh",
    ("doc/tables.md", "tables:"): "three ways of one key: test_parameter_tables.sh",
    ("doc/targets.md", "targets:"): "targets of no one model: test_targets.sh",
    ("doc/targets.md", "gbees.Model.from_sympy"): "a part of a program: test_sympy.py",
    ("doc/scenario.md", "measurements: {file: data.csv, epoch"): "needs a table of dates: test_measurements.sh",
}
# Lines of shell blocks that are left out.
LINES = {
    r"^mpirun": "several processes: test_ranks.sh",
    r"^gbees-plot RUN RUN \.\.\.": "a synopsis",
    r"--arch sm_": "needs CUDA's run-time compiler",
    r"--resume results/": "needs a run that was stopped: test_resume.sh",
}
# Slow, and run by `make check-long` alone: (page, how the block or line begins).
SLOW = {
    ("doc/models.md", "gbees-run --plugin cr3bp --scenario jupiter-europa"),
}
# What makes a page's runs smaller in `make check`; each has to be there.
SMALLER = {
    "doc/python.md": [
        ('"factor": 3', '"factor": 1'), ("2e-8", "1e-5"), ('"end": 10', '"end": 0.2'), ("pf:100000", "pf:1000"),
        ('"accuracy": 0.05', '"accuracy": 0.3'), ('"factor": 2', '"factor": 1'),
        ("gbees-plot post", "gbees-plot post --size 500x400"),
    ],
    "doc/coming-from.md": [('"accuracy": 0.05', '"accuracy": 0.3')],
}  # fmt: skip
# Appended to what computes in a shell block.
SMALLER_RUN = "--accuracy 0 --set threshold=1e-5 --audit off"
# What a page takes for granted, as Python, before its first block.
BEFORE = {
    "doc/coming-from.md": "measurements_folder()",
    "doc/gbees-run.md": "own_model('mine'); write('mine.yaml', 'end: 0.5\\n')",
    "doc/plot.md": "shell('gbees-run --plugin lorenz63 --until 0.25 --output RUN')",
    "doc/python.md": "arriving = [(0.5, -12), (1.0, -8)]; write('data.csv', TABLE); "
                     "write('one.csv', 'time,z,sigma_z\\n10,0,1\\n')",
    "doc/results.md": """
shell('gbees-run --plugin lorenz63 --set factor=1 --set threshold=1e-5 --until 0.75 --set records=3 --output DIR')
import h5py, hashlib, xarray
f = h5py.File('DIR/run.h5')['leg0/record0']
p = np.arange(70000.0)
""",
    "doc/scenario.md": r"write('data.csv', 'time,z,sigma_z\n0.25,-2,1\n0.5,-12.5,1\n'); netcdf(); measurements_folder(); "
                       r"write('seen.csv', 'time,range,sigma_range\n0.1,0.00179,7e-5\n')",
}
# What a block needs of those before it, as Python: (page, how the block begins).
BETWEEN = {
    ("doc/python.md", "gbees-run --plugin ./lorenz63_noisy.so"): "shutil.copy(model.path, 'lorenz63_noisy.so')",
    ("doc/plugins.md", "cp plugins"): "os.remove('mymodel.c'); shutil.rmtree(os.environ['HOME'] + '/.local')",
    ("doc/results.md", "parts ="): "f = {'pdf/p': Parts(p)}",
}
# The model of a scenario or table that does not name it.
MODELS = {"jump: step": "growth", "function: sight": "pcr3bp", "sigma_angle": "pcr3bp"}
TABLE = "time,z,sigma_z\n0.05,18.7,1\n0.1,45.7,1\n0.15,77.6,1\n0.2,80.3,1\n"
COMMANDS = r"(\$ |build/)?(gbees-(run|plot|plugin|export)|cp|mkdir|cc|mpirun)\b"
KEYS = r"(#.*\n)*(initial|instants|measurements|model|regrid|output): ?"


def blocks_of(page):
    """Pairs of a line's number and a block of code: indented after an empty line, or between fences."""
    found, block, fenced, before = [], None, False, ""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n") + ["end"]
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
            block = [number, []] if fenced else found.append(block)
        elif fenced:
            block[1].append(line)
        elif line.startswith("    ") and (block or before == ""):
            block = block or [number, []]
            block[1].append(line)
        elif block and line == "":
            block[1].append(line)
        elif block:
            found.append(block)
            block = None
        before = line
    return [(number, textwrap.dedent("\n".join(text)).strip("\n") + "\n") for number, text in found]


class Parts:
    """A data set with the checksum of its parts."""

    def __init__(self, values):
        import hashlib

        parts = [hashlib.sha256(values[k : k + 65536].tobytes()).hexdigest() for k in range(0, len(values), 65536)]
        self.attrs = {"sha256_of_parts": hashlib.sha256("".join(parts).encode()).hexdigest().encode()}


class Page:
    def __init__(self, top, page, is_long):
        self.page, self.is_long, self.text = page, is_long, ""
        self.names = {"__name__": "__main__"}
        self.blocks = blocks_of(os.path.join(top, page))
        exec("import os, shutil, numpy as np", self.names)
        self.names.update(
            write=write, shell=self.shell, netcdf=netcdf, own_model=self.own_model, TABLE=TABLE, Parts=Parts,
            measurements_folder=lambda: self.measurements_folder(top),
        )  # fmt: skip

    def measurements_folder(self, top):
        """That of the page on scenarios, twice: the second is a measurement."""
        os.makedirs("measurements", exist_ok=True)
        text = next(text for _, text in blocks_of(os.path.join(top, "doc/scenario.md")) if text.startswith("x (LU)"))
        write("measurements/measurement0.txt", text)
        write("measurements/measurement1.txt", "z (LU)\n-8\n\nCovariance(z)\n1\n\nT (TU)\n0.5\n")

    def own_model(self, name):
        self.shell(f"gbees-plugin new {name}\ngbees-plugin build {name}.c --output {name}.so")

    def shell(self, text):
        """Runs lines of a shell; those with a `$ ` alone, if there are any."""
        text = text.replace("\\\n", " ")
        lines = [line[2:] for line in text.split("\n") if line.startswith("$ ")] or text.split("\n")
        lines = [line for line in lines if not any(re.search(pattern, line) for pattern in LINES)]
        done = subprocess.run(["sh", "-e", "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"exit status {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")

    def scenarios(self, text):
        """Checks the scenarios of a block."""
        for part in re.split(r"\n\n(?=#)", text):
            named = re.search(r"--plugin (\w+)", part)
            guessed = next((model for words, model in MODELS.items() if words in part), "lorenz63")
            write("scenario.yaml", part)
            self.shell(f"gbees-run --plugin {named[1] if named else guessed} --scenario scenario.yaml --check")

    def table(self, text):
        write("table.csv", text)
        model = next((model for words, model in MODELS.items() if words in text), "lorenz63")
        self.shell(f"gbees-run --plugin {model} --measurements table.csv --set accuracy=0 --check")

    def run(self, text):
        """Runs a block; returns how, or None if it is of no known kind."""
        if re.match(COMMANDS, text):
            self.shell(text)
            return "shell"
        if re.match(KEYS, text):
            self.scenarios(text)
            return "scenario"
        if re.match(r"(#.*\n)?time[ ,]", text):
            self.table(text)
            return "table"
        if text.startswith("x (LU)"):  # it is in the folder of measurements
            self.shell("gbees-run --plugin lorenz63 --measurements measurements --set accuracy=0 --set threshold=1e-5 --check")
            return "measurement"
        try:
            ast.parse(text)
        except SyntaxError:
            return None
        if not re.search(r"[(.]", text):
            return None
        with contextlib.redirect_stdout(io.StringIO()):
            lines = text.split("\n")
            if len(lines) <= 2 and "==" in text and not re.match(r"\w+ = ", lines[-2]):
                assert eval(lines[-2], self.names), lines[-2]  # an equation that holds
            elif "==" in lines[-2] and not lines[-2].startswith(" "):
                exec("\n".join(lines[:-2]), self.names)
                assert eval(lines[-2], self.names), lines[-2]
            else:
                exec(compile(text, self.page, "exec"), self.names)
        return "python"

    def all(self):
        """Runs all blocks; returns the number of those that were run, and failures."""
        count, bad = 0, []
        if self.page in BEFORE:
            exec(BEFORE[self.page], self.names)
        smaller = [] if self.is_long else SMALLER.get(self.page, [])
        for old, _ in smaller:
            if not any(old in text for _, text in self.blocks):
                bad.append(f"{self.page}: there is no {old} to make smaller")
        for number, text in self.blocks:
            place, began = f"{self.page}:{number}", time.monotonic()
            key = next((k for k in (*NOT_RUN, *SLOW, *BETWEEN) if k[0] == self.page and text.startswith(k[1])), None)
            if key in NOT_RUN:
                USED.add(key)
                print(f"{place}: not run: {NOT_RUN[key]}")
                continue
            if key in SLOW and not self.is_long:
                print(f"{place}: not run: it is slow (make check-long)")
                continue
            for old, new in smaller:
                text = text.replace(old, new)
            try:
                exec(BETWEEN.get(key, ""), self.names)
                how = self.run(text)
            except BaseException as error:
                bad.append(f"{place}: {type(error).__name__}: {error}")
                continue
            if how is None:
                bad.append(f"{place}: neither run nor listed: {text[:60]!r}")
            count += how is not None
            print(f"{place}: {how}, {time.monotonic() - began:.1f} s", flush=True)
        return count, bad


USED = set()


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def netcdf():
    """data.nc, which has the rows of data.csv."""
    import numpy as np
    import xarray

    rows = np.genfromtxt("data.csv", delimiter=",", names=True)
    xarray.Dataset({name: ("row", rows[name]) for name in rows.dtype.names}).to_netcdf("data.nc", engine="h5netcdf")


def make_programs(programs, is_long):
    """The programs by name and as build/NAME; what computes is made smaller."""
    os.makedirs("build", exist_ok=True)
    for name in ("run", "plot", "plugin", "export"):
        more = ""
        if name == "run" and not is_long:
            more = (
                'case " $* " in *" --check "*|*" --list "*|*" --describe "*|*" --compile-only "*|*" --accuracy 0 "*) ;; '
                f"*) set -- \"$@\" {SMALLER_RUN} ;; esac\n"
            )
        path = os.path.join("build", f"gbees-{name}")
        write(path, f'#!/bin/sh\n{more}exec "{programs}/gbees-{name}" "$@"\n')
        os.chmod(path, 0o755)
    os.environ["PATH"] = f"{os.getcwd()}/build:{os.environ['PATH']}"


def main(top, programs, is_long):
    home = os.getcwd()
    make_programs(programs, is_long)
    pages = ["README.md", *sorted(os.path.relpath(p, top) for p in glob.glob(f"{top}/doc/**/*.md", recursive=True))]
    count, failures = 0, []
    for page in pages:
        if page in PAGES:
            print(f"{page}: {PAGES[page]}")
            continue
        folder = os.path.join(home, page.replace("/", "-"))
        os.environ["HOME"] = os.path.join(folder, "home")
        os.makedirs(os.environ["HOME"])
        os.chdir(folder)
        for name in ("build", "plugins"):
            os.symlink(os.path.join(home if name == "build" else top, name), name)
        more, bad = Page(top, page, is_long).all()
        count, failures = count + more, failures + bad
    failures += [f"{page}: no block begins with {words!r}" for page, words in set(NOT_RUN) - USED]
    print(f"{count} blocks were run")
    for failure in failures:
        print(f"FAIL: {failure}")
    return 1 if failures or count < 30 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), "long" in sys.argv[3:]))
