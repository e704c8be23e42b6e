"""Runs that are written and read back, and what a run says of itself."""

import json
import os
import re
import subprocess
import warnings

import numpy as np
import pytest

import gbees

SEARCH = {"accuracy": 0.3, "end": 1.25, "records": 2}


def same(one, two):
    """Whether two objects have the same fields, with probabilities as floats."""
    assert type(one) is type(two)
    for name, value in vars(one).items():
        other = getattr(two, name)
        if name in ("grid", "certificate"):
            assert (value is None) == (other is None) and (value is None or same(value, other))
        elif name == "errors":
            assert all(np.array_equal(value[k], other[k], equal_nan=True) for k in value)
        elif name == "_bins":
            assert (value is None) == (other is None)
            assert value is None or all(np.array_equal(a, b, equal_nan=True) for a, b in zip(value, other))
        elif name == "p":
            assert np.allclose(value, other, rtol=1e-6, atol=0)
        elif isinstance(value, np.ndarray):
            assert np.array_equal(value, other, equal_nan=True), name
        else:
            assert value == other or (value != value and other != other), name
    return True


def check_read_back(run, folder):
    pytest.importorskip("h5py")
    again = gbees.open(folder)
    for name in ("model", "states", "units", "scenario", "backend", "warnings", "accuracy", "accuracy_of", "runs", "met",
                 "interrupted", "method"):  # fmt: skip
        assert getattr(run, name) == getattr(again, name), name
    assert len(run.records) == len(again.records) > 0 and len(run.updates) == len(again.updates)
    for one, two in zip([*run.records, *run.updates], [*again.records, *again.updates]):
        same(one, two)
    assert again.comparison is None
    assert repr(run) == repr(again) and run.error == pytest.approx(again.error, nan_ok=True)
    return again


@pytest.mark.filterwarnings("ignore::gbees.Warning")
def test_certified_results_are_kept(tmp_path):
    out = tmp_path / "certified"
    run = gbees.run("lorenz63", set=SEARCH, output=out, compare="ekf,pf:1000", progress=False)
    assert run.runs > 1 and run.met and run.error <= 0.3
    assert os.listdir(tmp_path) == ["certified"]
    about = json.loads((out / "run.json").read_text())
    assert about["state"] == "complete" and len(about["runs"]) == run.runs and about["runs"][-1]["met"]
    assert about["summary"]["warnings"] == run.warnings
    check_read_back(run, out)
    # The scenario is that of the records: one run with the same bits.
    once = gbees.run("lorenz63", run.scenario, progress=False)
    assert once.runs == 1 and np.array_equal(once.records[-1].p, run.records[-1].p)
    program = os.path.join(os.environ["GBEES_TOP_BUILD"], "gbees-export")
    subprocess.run([program, "--verify", str(out)], check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(gbees.FileError, match="not empty"):
        gbees.run("lorenz63", set=SEARCH, output=out, progress=False)


@pytest.mark.filterwarnings("ignore::gbees.Warning")
@pytest.mark.parametrize(
    "model, changes, options",
    [
        ("lorenz63", {"accuracy": 0, "factor": 1, "records": 2}, {}),
        ("lorenz63", {"accuracy": 0, "factor": 1, "output.files": "records"}, {"audit": False}),
        ("duffing", {"accuracy": 0, "frame": "moving", "records": 2}, {}),
        ("pendulum", {"accuracy": 0, "frame": "moving", "records": 1}, {}),
    ],
)
def test_runs_read_back(model, changes, options, tmp_path):
    run = gbees.run(model, set=changes, output=tmp_path / "out", progress=False, **options)
    check_read_back(run, tmp_path / "out")


def test_a_result_of_the_command_is_read(tmp_path):
    pytest.importorskip("h5py")
    program = os.path.join(os.environ["GBEES_TOP_BUILD"], "gbees-run")
    out = tmp_path / "out"
    subprocess.run(
        [program, "--plugin", "lorenz63", "--accuracy", "0.3", "--until", "0.5", "--backend", "cpu", "--output", str(out),
         "--densities", "last", "--quiet"],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    run = gbees.open(out)
    assert run.met and run.accuracy == 0.3 and run.records[0].certificate and run.records[-1].p.sum() > 0.9
    assert run.records[0].mean.shape == (3,) and "to t = 0.5" in repr(run)
    with pytest.raises(gbees.InputError, match="was not written"):
        run.records[0].p
    with pytest.raises(gbees.FileError, match="nowhere"):
        gbees.open(tmp_path / "nowhere")
    (out / "run.json").write_text("{")
    with pytest.raises(gbees.FileError, match="can't be read"):
        gbees.open(out)


def test_an_error_leaves_the_best_run(tmp_path, monkeypatch):
    """A run that fails after a better one: its folder goes, the other's stays."""
    pytest.importorskip("h5py")
    from gbees import _solver

    count, copy = [0], _solver.copy_record

    def failing(given, states, units):
        count[0] += given.number == 0
        if count[0] == 2:
            raise MemoryError("no room for a record")
        return copy(given, states, units)

    monkeypatch.setattr(_solver, "copy_record", failing)
    with pytest.raises(MemoryError):
        gbees.run("lorenz63", set={**SEARCH, "end": 0.25, "accuracy": 0.01, "measurements": []}, output=tmp_path / "out",
                  progress=False)  # fmt: skip
    assert os.listdir(tmp_path) == ["out"] and gbees.open(tmp_path / "out").records


def test_warnings_are_warnings():
    bad = {"accuracy": 0, "factor": 0.5, "threshold": 1e-3, "records": 1}
    with pytest.warns(gbees.Warning) as caught:
        run = gbees.run("lorenz63", set=bad, progress=False)
    assert run.warnings and [str(w.message) for w in caught] == run.warnings
    assert all(w.filename == __file__ for w in caught)
    with pytest.warns(gbees.Warning) as caught:
        for _ in gbees.Solver("lorenz63", set=bad):
            pass
    assert [str(w.message) for w in caught] == run.warnings and caught[0].filename == __file__
    with gbees.Filter("lorenz63", set=bad) as stream, pytest.warns(gbees.Warning) as caught:
        stream.predict(1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gbees.run("linear", set={"accuracy": 0.1}, progress=False)


def test_a_run_says_how_good_it_is():
    with pytest.warns(gbees.Warning):
        run = gbees.run("lorenz63", set={"accuracy": 0, "factor": 0.5, "threshold": 1e-3, "records": 1}, progress=False)
    for text in (repr(run), run._repr_html_()):
        assert "split5 on a grid at rest" in text and "none asked for" in text and f"at most {run.error:.2g}" in text
        assert "off by more than 0.1" in text
    assert run.error > 0.1
    with pytest.warns(gbees.Warning, match=r"asked for, 0.01, is not certified .* samples \(samples=\)"):
        missed = gbees.run("linear", set={"accuracy": 0.01}, runs_most=1, progress=False, samples=2000)
    assert "0.01 of the moments: not" in repr(missed) and "warning:" in repr(missed)
    met = gbees.run("linear", set={"accuracy": 0.2, "accuracy_of": "marginals", "frame": "moving"}, progress=False)
    assert "0.2 of the marginals: met" in repr(met) and met.error <= 0.2 and "grid that moves" in repr(met)
    assert "<th>accuracy</th>" in met._repr_html_()


def test_numbers_that_make_no_sense_are_refused_as_such():
    for name, values in (("threads", (-1, 10**6, 1.5, "two", 2**40)), ("samples", (-1,)), ("runs_most", (0,))):
        for value in values:
            with pytest.raises(gbees.InputError, match=re.escape(f"{name}={value!r}: expected a whole number from ")):
                gbees.run("lorenz63", **{name: value})
    with pytest.raises(gbees.InputError, match="audit='off': expected True or False"):
        gbees.run("lorenz63", audit="off")


def test_messages_are_in_python_s_words():
    for changes, words in (
        ({"nope": 1}, 'set={"nope": ...}: unknown key'),
        ({"factor": -1}, 'set={"factor": ...}: expected a number > 0'),
        ({"parameters.q": 1}, "parameters: lorenz63 has no parameter 'q'"),
        ({"mode": "paper"}, 'give it in the scenario or by set={"threshold": ...}'),
    ):
        with pytest.raises(gbees.Error) as caught:
            gbees.run("lorenz63", {"threshold": None} if "mode" in changes else None, set=changes, progress=False)
        assert words in str(caught.value) or "mode" in changes, caught.value


def test_no_text_of_the_library_has_options_of_the_commands():
    """All strings of the library's sources, as Python shows them."""
    from gbees._library import spoken

    top = os.path.join(os.path.dirname(__file__), "..", "..", "..")
    not_met = re.compile(  # what Python can't ask for, or does not show
        r"cluster|--ranks-per-gpu|--deterministic|--arch|--ptxas|--device-as|^--(set|measurements)$"
    )
    found = 0
    for layer in ("core/base", "core/scenario", "core/results", "core/record", "core/module", "core/audit", "core/accuracy", "core/frame", "core/solver",
                  "core/rivals", "backends/cpu", "backends/common", "backends/cuda"):  # fmt: skip
        for folder, _, names in os.walk(os.path.join(top, layer)):
            for name in names:
                if not name.endswith((".c", ".h")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
                for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
                    joined = re.sub(r'"\s*"', "", literal)[1:-1]
                    if re.search(r"--[a-z]|gbees-run -", joined) and not not_met.search(joined):
                        found += 1
                        assert not re.search(r"--[a-z]|gbees-run -", spoken(joined)), (name, joined, spoken(joined))
    assert found >= 10
