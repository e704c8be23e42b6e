"""The Python package: against gbees-run's own results, closed forms, and wrong input."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import gbees

pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")
FAST = {"accuracy": 0, "factor": 1, "records": 2}


def has(name):
    return pytest.importorskip(name)


@pytest.fixture(scope="module")
def lorenz():
    return gbees.run("lorenz63", set=FAST, threads=2, progress=False)


@pytest.fixture(scope="module")
def moving():
    return gbees.run("duffing", set={"accuracy": 0, "frame": "moving", "records": 2}, progress=False)


def test_same_as_the_command(lorenz, tmp_path):
    h5py = has("h5py")
    program = os.path.join(os.environ["GBEES_TOP_BUILD"], "gbees-run")
    out = tmp_path / "out"
    changes = [word for key, value in FAST.items() for word in ("--set", f"{key}={value}")]
    subprocess.run(
        [program, "--plugin", "lorenz63", *changes, "--backend", "cpu", "--output", str(out), "--quiet"], check=True
    )
    with h5py.File(out / "run.h5") as file:
        assert len(file["time"]) == len(lorenz.records)
        for leg, number, record in zip(file["leg"][()], file["record"][()], lorenz.records):
            pdf = file[f"leg{leg}/record{number}/pdf"]
            # Files have floats.
            assert np.array_equal(pdf["p"][()], record.p.astype(pdf["p"].dtype))
            assert np.array_equal(pdf["index"][()], record.index)


def test_a_folder_names_the_plugin(tmp_path):
    h5py = has("h5py")
    out = tmp_path / "out"
    gbees.run("lorenz63", set={"accuracy": 0, "end": 0.1, "records": 1}, output=str(out), progress=False)
    plugin = json.loads((out / "run.json").read_text())["plugin"]
    assert os.path.samefile(plugin, os.path.join(os.environ["GBEES_PLUGIN_PATH"], "lorenz63.so"))
    with h5py.File(out / "run.h5") as file:
        assert file["leg0/record0"].attrs["plugin"].decode() == plugin


def test_moments_agree_with_the_cells(lorenz):
    # Statistics have all cells, a record those above p*.
    for record in lorenz.records:
        mean = record.p @ record.centres / record.p.sum()
        assert np.all(abs(mean - record.mean) < 0.02 * record.std)
        assert record.index.dtype == np.int32 and not record.p.flags.writeable


def test_gaussian_at_the_start():
    run = gbees.run("linear", set={"accuracy": 0, "records": 1}, progress=False)
    record = run.records[0]
    pdf = record.pdf(record.mean[None])[0]
    n = len(record.mean)
    exact = 1 / np.sqrt((2 * np.pi) ** n * np.linalg.det(record.covariance))
    assert abs(pdf / exact - 1) < 0.1
    # The ellipse that holds half of a Gaussian in n dimensions, by its volume.
    if n == 2:
        grid = record.grid
        area = record.credible(0.5).sum() * grid.volume
        assert abs(area / (2 * np.pi * np.log(2) * np.sqrt(np.linalg.det(record.covariance))) - 1) < 0.1


def test_marginals_and_samples(lorenz, moving):
    for record in (lorenz.records[-1], moving.records[-1]):
        x, f = record.marginal(record.states[0])
        assert abs(f.sum() * (x[1] - x[0]) - 1) < 1e-9
        assert abs((x * f).sum() * (x[1] - x[0]) - record.mean[0]) < 0.05 * record.std[0]
        a, b, joint = record.marginal(0, 1)
        assert joint.shape == (len(a), len(b))
        points = record.sample(20000, rng=1)
        assert np.all(abs(points.mean(axis=0) - record.mean) < 0.05 * record.std)
        assert np.all(abs(points.std(axis=0) / record.std - 1) < 0.05)
        assert np.array_equal(points, record.sample(20000, rng=1))
        assert np.all(record.pdf(points) > 0)


def test_moving_grid(moving):
    record = moving.records[-1]
    assert record.grid.turned
    assert np.allclose(record.pdf(record.centres) * record.grid.volume, record.p)
    assert np.all(record.pdf(record.mean[None] + 1e6) == 0)


def test_marginals_of_oblique_cells_have_the_moments_of_the_record(moving):
    record = moving.records[-1]
    grid = record.grid
    p = record.p / record.p.sum()
    mean = p @ record.centres
    edges = grid.rotation * grid.width
    covariance = (p * (record.centres - mean).T) @ (record.centres - mean) - edges @ edges.T / 12
    assert np.all(abs(np.sqrt(np.diag(covariance)) / record.std - 1) < 0.02)  # all cells, and those from p* on
    for axes in ([0], [1], [0, 1], [1, 0]):
        *places, f = record.marginal(*axes)
        points = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(axes)) - mean[axes]
        weight = f.ravel() / f.sum()
        assert np.all(abs(weight @ points) < 1e-4 * record.std[axes])
        off = (weight * points.T) @ points - covariance[np.ix_(axes, axes)]
        assert np.all(abs(off) < 1e-3 * np.outer(record.std[axes], record.std[axes]))


def test_cdf_of_a_gaussian():
    # Cells as wide as a half of a deviation, which hold the averages of a Gaussian.
    change = {"accuracy": 0, "factor": 2, "extent": 6, "threshold": 1e-14, "records": 1}
    record = gbees.run("linear", set=change, progress=False).records[0]
    limits = record.mean[1] + record.std[1] * np.array([-40, -4, -1.3, -0.25, 0.1, 0.77, 2, 40])
    exact = [0.5 * (1 + math.erf(z / math.sqrt(2))) for z in (limits - record.mean[1]) / record.std[1]]
    assert np.all(abs(record.cdf("x2", limits) - exact) < 3e-5)
    assert np.all(np.diff(record.cdf(1, np.sort(limits))) >= 0)
    assert record.cdf(1, limits[3]).shape == () and record.cdf(1, limits[:, None]).shape == (len(limits), 1)
    with pytest.raises(gbees.InputError, match="numbers"):
        record.cdf(1, float("nan"))


def test_credible(lorenz):
    record = lorenz.records[-1]
    mask = record.credible(0.9)
    assert record.p[mask].sum() >= 0.9 * record.p.sum()
    assert record.p[mask].min() >= record.p[~mask].max()
    with pytest.raises(gbees.InputError, match="share"):
        record.credible(2)


def test_certificate(lorenz):
    certificate = lorenz.records[0].certificate
    assert certificate.points > 100 and certificate.samples == 0 and certificate.mean.shape == (3, 2)
    assert f"lattices of {certificate.points} points" in str(certificate)
    assert np.all(certificate.mean[:, 0] < certificate.mean[:, 1])
    assert lorenz.records[0].samples.shape[1] == 3


def test_samples():
    record = gbees.run("lorenz63", set={**FAST, "end": 0.1, "measurements": []}, samples=300, progress=False).records[0]
    assert record.certificate.samples == 300 and record.certificate.points == 0
    assert "300 samples" in str(record.certificate) and record.samples.shape[1] == 3
    none = gbees.run("lorenz63", set={**FAST, "end": 0.1}, audit=False, progress=False)
    assert none.records[0].certificate is None and np.isnan(record.certificate.variation)


def test_accuracy():
    run = gbees.run("linear", set={"accuracy": 0.05}, progress=False)
    assert run.met and run.runs >= 1
    for record in run.records:
        assert np.nanmax(record.certificate.mean[:, 1]) <= 0.05


def test_comparison_is_that_of_the_command():
    names, keys = ["ekf", "pf:2000"], ("e_m", "e_s", "kolmogorov", "bc", "log_evidence", "ratio")
    run = gbees.run("lorenz63", set=FAST, compare=names, threads=2, audit=False, progress=False)
    program = os.path.join(os.environ["GBEES_TOP_BUILD"], "gbees-run")
    changes = [word for key, value in FAST.items() for word in ("--set", f"{key}={value}")]
    lines = subprocess.run(
        [program, "--plugin", "lorenz63", *changes, "--backend", "cpu", "--no-output", "--audit", "off", "--json",
         "--compare", ",".join(names)],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.splitlines()  # fmt: skip
    told = json.loads(lines[-1])["compare"]
    assert [rival.name for rival in run.comparison.rivals] == ["ekf", "pf"]
    for rival, other in zip(run.comparison.rivals, told["methods"]):
        assert [getattr(rival, key) for key in keys] == [other[key] for key in keys]
        assert list(rival.errors["e_m"]) == [record["e_m"] for record in other["records"]]
        assert rival.samples == other["samples"] and not rival.failure
    assert 0 < run.comparison["ekf"].bc < run.comparison["pf"].bc < 1
    assert run.comparison["ekf"].e_m > 5 * run.comparison["pf"].e_m  # two lobes
    assert run.comparison.answer.split(":")[0] == told["answer"].split(":")[0]
    assert str(run.comparison).endswith(run.comparison.answer)
    last = len(run.records) - 1
    for rival in run.comparison.rivals:
        x, density = rival.marginal(-1, "z")
        step = x[1] - x[0]
        assert abs(density.sum() * step - 1) < 1e-4
        assert abs((x * density).sum() * step - rival.means[last, 2]) < 0.02 * rival.covariances[last, 2, 2] ** 0.5
    assert abs(run.comparison["pf"].means[0] - run.records[0].mean).max() < 0.1
    with pytest.raises(IndexError):
        rival.marginal(99, "z")
    with pytest.raises(ValueError):
        rival.marginal(0, "w")
    with pytest.raises(gbees.InputError, match="there is no filter 'kf'"):
        gbees.Solver("lorenz63", compare="kf")


def test_errors_have_the_library_s_text():
    with pytest.raises(gbees.InputError, match="unknown key"):
        gbees.run("lorenz63", set={"nope": 1})
    with pytest.raises(gbees.ModelError, match="no_such_model"):
        gbees.run("no_such_model")
    with pytest.raises(gbees.BackendError, match="no_such_backend"):
        gbees.run("lorenz63", backend="no_such_backend")
    with pytest.raises(gbees.UnsupportedError, match="supported by no cell"):
        gbees.run("lorenz63", set=FAST, measurements={"time": [0.1], "z": [1e4]}, covariance=0.1, progress=False)
    with pytest.raises(gbees.FileError, match="no/such.yaml"):
        gbees.run("lorenz63", "no/such.yaml")


def test_step_by_step():
    times = []
    for record in gbees.Solver("lorenz63", set={**FAST, "records": 8}):
        times.append(record.time)
        if record.time >= 0.5:
            break
    assert times == [0, 0.125, 0.25, 0.375, 0.5]


def test_the_lock_is_released():
    """Another thread of Python goes on while the library computes."""
    count, stop = [0], threading.Event()

    def other():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    gbees.run("lorenz63", set={"accuracy": 0, "factor": 2, "records": 1}, audit=False, threads=1, progress=False)
    stop.set()
    thread.join()
    assert count[0] > 10


def test_interrupt_ends_a_loop_and_keeps_what_is_there(tmp_path):
    script, output = tmp_path / "long.py", tmp_path / "run"
    script.write_text(
        "import gbees, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in what a shell has in the background
        "try:\n"
        "    for k in range(100):\n"
        "        gbees.run('lorenz63', set={'accuracy': 0, 'factor': 4, 'end': 100, 'records': 100000,\n"
        "                                   'measurements': []}, audit=False, progress=False, threads=1,\n"
        f"                  output={str(output)!r} + str(k or ''))\n"
        "except KeyboardInterrupt as stop:\n"
        "    run = stop.run\n"
        f"    again = gbees.open({str(output)!r})\n"
        "    same = all((a.mean == b.mean).all() for a, b in zip(run.records, again.records))\n"
        "    print(k, run.interrupted, len(run.records) > 0, run.records[0].time, again.interrupted, same)\n"
    )
    child = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    # At most three records wait for the program: with the fifth on disk it has the first.
    file = output / "run.h5"
    while not (file.exists() and b"record4" in file.read_bytes()) and child.poll() is None:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out.split() == ["0", "True", "True", "0.0", "True", "True"]
    assert child.returncode == 0
    about = json.loads((output / "run.json").read_text())
    assert about["state"] == "cancelled" and about["stopped_by"] == "the caller"


def test_a_limit_of_time():
    with pytest.warns(gbees.Warning, match="exceeded the time .max_time.: (it has no|the last) record"):
        run = gbees.run("lorenz96", set={"accuracy": 0, "factor": 1.5, "end": 5}, audit=False, max_time=0.3)
    assert run.interrupted and run.met is None and all(r.time < 5 for r in run.records)
    with pytest.raises(gbees.InputError, match="max_time=0: expected a positive number"):
        gbees.run("lorenz63", max_time=0)


def test_a_limit_of_time_keeps_the_best_run(monkeypatch, tmp_path):
    now = [0.0]  # of a clock on which the second run is late

    def plan(solver, once=gbees.Solver.plan):
        now[0] += 10
        return once(solver)

    monkeypatch.setattr(gbees.Solver, "plan", plan)
    for module in ("_run", "_solver"):
        monkeypatch.setattr(sys.modules[f"gbees.{module}"], "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    changes = {"accuracy": 1e-4, "frame": "fixed", "end": 1, "records": 2}
    with pytest.warns(gbees.Warning, match="a finer run exceeded the time .max_time."):
        run = gbees.run("lorenz63", set=changes, max_time=5, output=tmp_path / "best")
    assert not run.interrupted and not run.met and run.records[-1].time == 1
    assert [r.time for r in gbees.open(tmp_path / "best").records] == [r.time for r in run.records]


def test_a_table_of_one_time():
    run = gbees.run("lorenz63", set=FAST, measurements={"time": [0, 0], "z": [9, 10]}, covariance=1, progress=False)
    assert [record.time for record in run.records] == [0, 0] and len(run.updates) == 2
    exact = run.records[0].covariance[2, 2]  # of a Gaussian, but for its box
    assert run.records[1].covariance[2, 2] == pytest.approx(exact / (1 + 2 * exact), rel=0.02)


def test_output(tmp_path):
    out = tmp_path / "kept"
    gbees.run("lorenz63", set={**FAST, "end": 0.2}, output=out, progress=False)
    assert (out / "run.h5").exists() and not (out / "moments.h5").exists()
    with pytest.raises(gbees.FileError):
        gbees.run("lorenz63", set={**FAST, "end": 0.2}, output=out, progress=False)


SOURCE = """
#define GBEES_DIM 1
#include <gbees/model.h>
#ifdef GBEES_EQUATIONS
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)p;
    dxdt[0] = -x[0];
}
#else
static const gbees_quantity states[] = {{"x", "-", ""}};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1]\\ncovariance: [0.04]\\nend: 1\\nrecords: 1\\nthreshold: 1e-8\\nfactor: 4\\n"}};
GBEES_MODEL = {GBEES_MODEL_HEAD, .name = "decay", .title = "decay", .dim_default = 1, .states = states,
               .scenario_count = 1, .scenarios = scenarios};
#endif
"""


def test_model_of_c():
    model = gbees.Model(SOURCE)
    record = gbees.run(model, progress=False).records[-1]
    assert abs(record.mean[0] - np.exp(-1)) < 1e-3
    assert abs(record.std[0] / (0.2 * np.exp(-1)) - 1) < 0.03
    made = os.stat(model.path).st_mtime_ns
    assert os.stat(gbees.Model(SOURCE).path).st_mtime_ns == made
    with pytest.raises(gbees.ModelError, match="decay was not compiled"):
        gbees.Model(SOURCE.replace("-x[0]", "-x[0"))
    with pytest.raises(gbees.ModelError, match="name"):
        gbees.Model("int x;\n")


def test_noisy_model_beside_particles():
    """The first example of doc/python.md, with five of its measurements, to a time just after them."""
    sympy = has("sympy")
    x, y, z = sympy.symbols("x y z")
    scenario = {"mean": [-11.5, -10, 9.5], "covariance": [1, 1, 1], "factor": 3, "threshold": 2e-8, "end": 0.3, "records": 1}
    model = gbees.Model.from_sympy(
        "lorenz63_noisy", {x: 4 * (y - x), y: 48 * x - y - x * z, z: x * y - z}, diffusion={x: 1, y: 1, z: 1},
        measurements={"z": z}, scenario=scenario,
    )  # fmt: skip
    table = {"time": [0.05, 0.1, 0.15, 0.2, 0.25], "z": [18.68, 45.69, 77.63, 80.27, 62.68], "sigma_z": [1.0] * 5}
    run = gbees.run(model, measurements=table, compare="pf:100000", audit=False, progress=False)
    assert len(run.updates) == 5
    particles = run.comparison["pf"]
    posterior = [k for k, r in enumerate(run.records) if r.number == 0 and r.leg > 0]
    for k in posterior:
        std = np.sqrt(np.diag(particles.covariances[k]))
        error = abs(run.records[k].mean - particles.means[k]) / std
        assert np.all(error < 0.03), (run.records[k].time, error)


def test_model_of_sympy():
    sympy = has("sympy")
    x, y, a = sympy.symbols("x y a")
    scenario = {"mean": [1, 0], "covariance": [0.01, 0.01], "end": 1, "records": 1, "threshold": 1e-7, "factor": 2}
    model = gbees.Model.from_sympy(
        "rotation", {x: -a * y, y: a * x}, parameters={a: 1.5}, measurements={"first": x}, scenario=scenario
    )
    record = gbees.run(model, progress=False).records[-1]
    assert np.all(abs(record.mean - [np.cos(1.5), np.sin(1.5)]) < 2e-3)
    with pytest.raises(gbees.ModelError, match="the drift of x has b"):
        gbees.Model.from_sympy("wrong", {x: sympy.Symbol("b")}, scenario=scenario)


def test_xarray(lorenz):
    has("xarray")
    moments = lorenz.moments
    assert moments["mean"].sel(state="x").values[0] == lorenz.records[0].mean[0]
    assert moments.sizes["time"] == len(lorenz.records)
    table = lorenz.records[0].to_xarray()
    assert np.array_equal(table["p"].values, lorenz.records[0].p)


def test_plot(lorenz):
    matplotlib = has("matplotlib")
    matplotlib.use("Agg")
    axes = lorenz.plot("x", "z")
    assert len(axes) == 2 and axes[1].get_ylabel() == "z"
    low, high = axes[0].get_ylim()
    assert low < min(r.mean[0] for r in lorenz.records) < high


def test_missing_package_is_named(monkeypatch, lorenz):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="Run.moments needs xarray, which is not installed: pip install xarray"):
        lorenz.moments


def test_a_package_that_fails_says_why(monkeypatch, tmp_path, lorenz):
    (tmp_path / "xarray.py").write_text("from numpy import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "xarray", raising=False)
    with pytest.raises(ImportError, match="xarray, which can't be imported: cannot import name 'no_such_thing'"):
        lorenz.moments


@pytest.mark.parametrize("progress", ["None", "True"])
def test_bar_only_where_it_is_seen(progress):
    has("tqdm")
    code = f"import gbees; gbees.run('linear', set={FAST}, progress={progress})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    assert ("100%" in done.stderr) == (progress == "True")
