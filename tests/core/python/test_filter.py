"""A filter on measurements that arrive: it has the results of a run that knows them all."""

import copy
import pickle

import numpy as np
import pytest

import gbees
from test_gbees import SOURCE

pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")
FAST = {"accuracy": 0, "factor": 1, "records": 2}
POINTS = {"frame": "lagrangian", "points": 0.8, "tail": 9, "accuracy": 0}


@pytest.mark.parametrize("changes", [FAST, {**FAST, "frame": "moving"}, POINTS], ids=["fixed", "moving", "lagrangian"])
def test_filter_is_a_run_with_all_measurements(changes):
    with gbees.Filter("lorenz63", set=changes) as stream:
        stream.update(0.5, -12)
        record = stream.update(1.0, [-8.0], covariance=[1])
        assert record.time == 1.0 and [u.number for u in stream.updates] == [1, 2]
        whole = gbees.run(
            "lorenz63", set={**changes, "records": 1}, measurements={"time": [0.5, 1.0], "z": [-12, -8]}, covariance=1,
            progress=False,
        )  # fmt: skip
        assert stream.log_evidence == whole.log_evidence
        for own, other in ((stream.prior, whole.records[-2]), (record, whole.records[-1])):
            assert np.array_equal(own.mean, other.mean) and np.array_equal(own.covariance, other.covariance)
        assert np.array_equal(stream.density().p, whole.records[-1].p)
        assert stream.prior.time == 1.0 and stream.predict(1.2).time == 1.2 and stream.prior is None


def test_filter_takes_outliers():
    entry = {"time": 0.1, "function": "z", "value": [12], "covariance": [1], "likelihood": "student-t"}
    with gbees.Filter("lorenz63", set=FAST) as stream:
        stream.update(0.1, 12, likelihood="student-t", degrees_of_freedom=3)
        whole = gbees.run("lorenz63", set={**FAST, "records": 1}, measurements=[{**entry, "degrees_of_freedom": 3}])
        assert stream.log_evidence == whole.log_evidence
        with pytest.raises(gbees.InputError, match="degrees_of_freedom"):
            stream.update(0.2, 12, degrees_of_freedom=3)


def test_a_value_of_the_wrong_length_is_named_as_the_caller_knows_it():
    with gbees.Filter("lorenz63", set=FAST) as stream:
        with pytest.raises(gbees.InputError, match="^the measurement: value: expected 1 number .*, found 2"):
            stream.update(0.1, [1, 2])


def test_filter_of_points_makes_cells_and_looks_back_when_asked():
    with gbees.Filter("lorenz63", set={**POINTS, "records": 2, "accuracy": 0.5}) as stream:
        first = stream.predict(0)
        record = stream.update(0.2, 3)
        assert len(record.p) == len(stream.prior.p) == 0 and record.certificate.mean.max() < 0.5
        whole = stream.density()
        assert whole is stream.record and np.array_equal(whole.mean, record.mean) and abs(whole.p.sum() - 1) < 1e-9
        back = stream.smoothed()
        assert [r.time for r in back] == [0, 0.1, 0.2, 0.2]
        assert np.max(abs(back[0].mean - first.mean)) > 0.1 and np.allclose(back[-1].mean, record.mean, atol=1e-9)
    with pytest.raises(gbees.InputError, match="closed"):
        stream.predict(1)
    with gbees.Filter("lorenz63", set=FAST) as stream, pytest.raises(gbees.Error, match="frame: lagrangian"):
        stream.smoothed()


@pytest.mark.parametrize("changes", [FAST, POINTS], ids=["fixed", "lagrangian"])
def test_copies_of_a_filter_go_on_by_themselves(changes):
    with gbees.Filter("lorenz63", set=changes) as stream:
        stream.update(0.1, 8)
        ways = (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)))
        others = [way(stream) for way in ways]
        record = stream.update(0.2, 1)
        for other in others:
            assert other.record.time == 0.1 and len(other.updates) == 1
            with other:
                assert np.array_equal(other.update(0.2, 1).mean, record.mean)
                assert [u.log_evidence for u in other.updates] == [u.log_evidence for u in stream.updates]


# Without an end and a number of records.
ENDLESS = SOURCE.replace("end: 1\\nrecords: 1\\n", "")


def test_filter_needs_no_end():
    model = gbees.Model(ENDLESS)
    with gbees.Filter(model, set={"frame": "lagrangian"}) as stream:
        assert stream.predict(3).mean[0] == pytest.approx(np.exp(-3), rel=1e-6)
        with pytest.raises(gbees.InputError, match="no measurement function"):
            stream.update(4, 1)


def test_filter_takes_several_measurements_at_one_time():
    with gbees.Filter("lorenz63", set={"factor": 1}) as stream:
        first = stream.update(0, 9, covariance=4)  # at the start
        prior = first.std[2]
        stream.update(0.2, 1)
        first = stream.update(0.2, 1.5)
        assert first.time == 0.2 and stream.prior.time == 0.2 and len(stream.updates) == 3
        assert first.std[2] < stream.prior.std[2] < prior
        late = np.nextafter(0.2, 1)
        assert stream.update(late, 1.2).time == late
        assert stream.predict(late) is stream.record
        whole = gbees.run(
            "lorenz63", set={**FAST, "records": 1},
            measurements={"time": [0, 0.2, 0.2, late], "z": [9, 1, 1.5, 1.2], "cov_z_z": [4, 1, 1, 1]},
            progress=False,
        )  # fmt: skip
        assert [update.time for update in whole.updates] == [0, 0.2, 0.2, late]
        assert np.isfinite(whole.log_evidence) and len(stream.updates) == 4
        assert stream.log_evidence == pytest.approx(whole.log_evidence, abs=1e-12)
        assert np.array_equal(stream.record.mean, whole.records[-1].mean)


@pytest.mark.parametrize("changes", [FAST, POINTS], ids=["fixed", "lagrangian"])
def test_a_refused_measurement_leaves_the_filter_as_it_was(changes):
    with gbees.Filter("lorenz63", set=changes) as stream, gbees.Filter("lorenz63", set=changes) as other:
        for time, value in ((0.1, 1e9), (0.1, "high")):
            with pytest.raises(gbees.Error):
                stream.update(time, value)
        assert stream.record is None and stream.updates == [] and stream.log_evidence == 0
        for both in (stream, other):
            both.update(0.1, 8)
        before = stream.record, stream.prior, list(stream.updates), stream.log_evidence
        with pytest.raises(gbees.InputError, match=r"time: 0\.05 is before .* 0\.1"):
            stream.update(0.05, 8)
        with pytest.raises(gbees.InputError, match=r"time: 0\.05 is before .* 0\.1"):
            stream.predict(0.05)
        with pytest.raises(gbees.Error, match="supported by no (cell|point)"):
            stream.update(0.2, 1e9)
        assert before == (stream.record, stream.prior, stream.updates, stream.log_evidence)
        for both in (stream, other):
            both.update(0.2, 1)
        assert np.array_equal(stream.density().p, other.density().p) and stream.log_evidence == other.log_evidence


CIRCLES = [
    ("pendulum", {**FAST, "measurements": []}, "angle", 3.1, 0),
    ("pendulum", {**POINTS, "measurements": []}, "angle", 3.1, 0),
    ("unicycle", {**FAST, "measurements": []}, "bearing", -0.4, 2),
]


@pytest.mark.parametrize("model, changes, function, value, state", CIRCLES, ids=["grid", "points", "noise"])
def test_filter_of_a_state_on_a_circle(model, changes, function, value, state):
    with gbees.Filter(model, set=changes) as stream, gbees.Filter(model, set=changes) as other:
        prior = stream.predict(0.5)
        assert np.isfinite(prior.direction[state]) and 0.5 < prior.resultant[state] < 1
        assert np.isnan(np.delete(prior.direction, state)).all() and np.isnan(np.delete(prior.resultant, state)).all()
        record = stream.update(0.5, value, covariance=0.04, function=function)
        assert record.resultant[state] > prior.resultant[state]
        assert abs(record.direction[state] - record.mean[state]) < 0.05  # a narrow density
        again = other.update(0.5, value + 6 * np.pi, covariance=0.04, function=function)
        assert np.allclose(again.mean, record.mean, atol=1e-9)
        with copy.deepcopy(stream) as copied:
            assert np.array_equal(copied.predict(0.6).direction, stream.predict(0.6).direction, equal_nan=True)


def test_directions_of_a_run(tmp_path):
    run = gbees.run("phase", set={"accuracy": 0, "end": 3, "records": 2}, output=tmp_path / "out", progress=False)
    kept = gbees.open(tmp_path / "out")
    for record, other in zip(run.records, kept.records):
        turn = (record.p * np.exp(1j * record.centres.reshape(-1))).sum()
        assert abs(np.angle(turn / np.exp(1j * record.direction[0]))) < 1e-6
        assert abs(abs(turn) - record.resultant[0]) < 1e-3  # cells shorten it
        assert np.array_equal(record.direction, other.direction) and np.array_equal(record.resultant, other.resultant)
    pytest.importorskip("xarray")
    assert np.array_equal(run.moments.resultant[:, 0], [r.resultant[0] for r in run.records])
    lines = gbees.run("phase", set={"accuracy": 0, "end": 1, "states": "lines"}, progress=False)
    assert "direction" not in lines.moments
