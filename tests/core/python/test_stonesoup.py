"""The grid as a filter of Stone Soup: its tutorial, its models as equations, and what is refused."""

import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest

pytest.importorskip("stonesoup", reason="Stone Soup is not installed: pip install stonesoup")
sympy = pytest.importorskip("sympy")

from stonesoup.models.measurement import nonlinear  # noqa: E402
from stonesoup.models.measurement.linear import LinearGaussian  # noqa: E402
from stonesoup.models.transition import linear  # noqa: E402
from stonesoup.models.transition.nonlinear import ConstantTurn  # noqa: E402
from stonesoup.types.array import StateVectors  # noqa: E402
from stonesoup.types.detection import Detection  # noqa: E402
from stonesoup.types.hypothesis import SingleHypothesis  # noqa: E402
from stonesoup.types.state import GaussianState, ParticleState, State  # noqa: E402
from stonesoup.types.track import Track  # noqa: E402

import gbees  # noqa: E402
from gbees._stonesoup_maps import expressions_of, linear_equations  # noqa: E402
from gbees.stonesoup import Equations, GridPredictor, GridUpdater, Plugin  # noqa: E402

start_time = datetime(2026, 1, 1)
SECOND = timedelta(seconds=1)


def moments(states):
    """Means and covariances, one a row."""
    means = np.array([np.asarray(s.mean, dtype=float).ravel() for s in states])
    return means, np.array([np.asarray(s.covar, dtype=float) for s in states])


# ---- the tutorial's problem: a bearing-range sensor, and a target of nearly constant velocity ----


@pytest.fixture(scope="module")
def tutorial():
    """Stone Soup's tutorial 2: its models, and its detections for a seed."""
    np.random.seed(1991)
    from stonesoup.models.measurement.nonlinear import CartesianToBearingRange
    from stonesoup.models.transition.linear import CombinedLinearGaussianTransitionModel, ConstantVelocity
    from stonesoup.types.groundtruth import GroundTruthPath, GroundTruthState

    transition_model = CombinedLinearGaussianTransitionModel([ConstantVelocity(0.05), ConstantVelocity(0.05)])
    truth = GroundTruthPath([GroundTruthState([0, 1, 0, 1], timestamp=start_time)])
    for k in range(1, 21):
        truth.append(
            GroundTruthState(
                transition_model.function(truth[k - 1], noise=True, time_interval=timedelta(seconds=1)),
                timestamp=start_time + timedelta(seconds=k),
            )
        )
    measurement_model = CartesianToBearingRange(
        ndim_state=4,
        mapping=(0, 2),
        noise_covar=np.diag([np.radians(0.2), 1]),
        translation_offset=np.array([[50], [0]]),
    )
    measurements = []
    for state in truth:
        measurement = measurement_model.function(state, noise=True)
        measurements.append(Detection(measurement, timestamp=state.timestamp))
    return transition_model, measurement_model, measurements


def follow(predictor, updater, prior, measurements):
    """The tutorial's loop."""
    track = Track()
    for measurement in measurements:
        prediction = predictor.predict(prior, timestamp=measurement.timestamp)
        hypothesis = SingleHypothesis(prediction, measurement)
        post = updater.update(hypothesis)
        track.append(post)
        prior = track[-1]
    return track


@pytest.fixture(scope="module")
def prior():
    return GaussianState([[0], [1], [0], [1]], np.diag([1.5, 0.5, 1.5, 0.5]), timestamp=start_time)


@pytest.fixture(scope="module")
def track(tutorial, prior):
    transition_model, measurement_model, measurements = tutorial
    predictor = GridPredictor(transition_model, measurement_model)
    updater = GridUpdater(measurement_model)
    return follow(predictor, updater, prior, measurements)


@pytest.fixture(scope="module")
def particles(tutorial, prior):
    """Stone Soup's particle filter, 60,000 particles: means of a standard error of about .02 deviations."""
    from stonesoup.predictor.particle import ParticlePredictor
    from stonesoup.resampler.particle import SystematicResampler
    from stonesoup.updater.particle import ParticleUpdater

    transition_model, measurement_model, measurements = tutorial
    np.random.seed(1)
    count = 60000
    points = np.random.multivariate_normal(np.asarray(prior.mean).ravel(), prior.covar, count).T
    begin = ParticleState(StateVectors(points), weight=np.full(count, 1 / count), timestamp=start_time)
    updater = ParticleUpdater(measurement_model, resampler=SystematicResampler())
    return moments(follow(ParticlePredictor(transition_model), updater, begin, measurements))


def distance(found, wanted):
    """The largest difference of two filters' means, in standard deviations."""
    return np.max(np.abs(found[0] - wanted[0]) / np.sqrt(np.diagonal(wanted[1], axis1=1, axis2=2)))


def test_tutorial_beside_its_particle_and_extended_kalman_filters(tutorial, prior, track, particles):
    from stonesoup.predictor.kalman import ExtendedKalmanPredictor
    from stonesoup.updater.kalman import ExtendedKalmanUpdater

    transition_model, measurement_model, measurements = tutorial
    kalman = follow(
        ExtendedKalmanPredictor(transition_model), ExtendedKalmanUpdater(measurement_model), prior, measurements
    )
    found = moments(track)
    assert distance(found, particles) < 0.1  # the largest of 84 means, each with a few hundredths of sampling error
    assert distance(moments(kalman), particles) > 0.14  # so a Gaussian would not pass
    deviations = [np.sqrt(np.diagonal(c, axis1=1, axis2=2)) for _, c in (found, particles)]
    assert np.max(np.abs(deviations[0] / deviations[1] - 1)) < 0.08


def test_states_are_those_of_stone_soup(track, tutorial):
    post, prediction = track[-1], track[-1].hypothesis.prediction
    assert post.timestamp == start_time + 20 * SECOND and prediction.timestamp == post.timestamp
    assert isinstance(post, GaussianState) and prediction.prior.timestamp == start_time + 19 * SECOND
    assert np.allclose(post.record.mean, np.asarray(post.mean).ravel())
    drawn = post.particles(20000, np.random.default_rng(1))
    apart = np.asarray(drawn.mean - post.mean, dtype=float).ravel() / np.sqrt(np.diag(post.covar))
    assert np.max(np.abs(apart)) < 0.05
    again = pickle.loads(pickle.dumps(prediction))
    updater = GridUpdater(tutorial[1])
    repeated = updater.update(SingleHypothesis(again, tutorial[2][-1]))
    assert np.array_equal(repeated.mean, post.mean)  # a prediction may have several updates
    assert repeated.log_evidence == post.log_evidence


def test_association(track, tutorial):
    """A prediction with several detections, of which Stone Soup takes the nearest."""
    from stonesoup.dataassociator.neighbour import NearestNeighbour
    from stonesoup.hypothesiser.distance import DistanceHypothesiser
    from stonesoup.measures import Mahalanobis

    transition_model, measurement_model, measurements = tutorial
    right = measurements[-1]
    wrong = Detection(right.state_vector + np.array([[0.5], [5]]), timestamp=right.timestamp)
    predictor, updater = GridPredictor(transition_model, measurement_model), GridUpdater(measurement_model)
    associator = NearestNeighbour(DistanceHypothesiser(predictor, updater, Mahalanobis(), missed_distance=9))
    before = Track([track[-2]])
    chosen = associator.associate({before}, {right, wrong}, right.timestamp)[before]
    assert chosen.measurement is right
    assert np.array_equal(updater.update(chosen).mean, track[-1].mean)


# ---- models ----


def test_a_linear_problem_is_that_of_the_kalman_filter():
    from stonesoup.predictor.kalman import KalmanPredictor
    from stonesoup.updater.kalman import KalmanUpdater

    transition, sensor = linear.OrnsteinUhlenbeck(0.3, 0.2), LinearGaussian(2, (0,), np.array([[0.4]]))
    prior = GaussianState([[0], [1]], [[1, 0.2], [0.2, 0.5]], timestamp=start_time)
    times = start_time + np.cumsum([1, 0.5, 2, 0.25]) * SECOND
    measurements = [Detection([[z]], timestamp=t) for z, t in zip((0.8, 1.9, 2.5, 1.5), times)]
    exact = moments(follow(KalmanPredictor(transition), KalmanUpdater(sensor), prior, measurements))
    track = follow(GridPredictor(transition, sensor, set={"factor": 2}), GridUpdater(sensor), prior, measurements)
    found = moments(track)
    assert distance(found, exact) < 0.005
    assert np.max(np.abs(found[1] - exact[1])) < 0.01 * np.max(exact[1])
    expected = GridUpdater(sensor).predict_measurement(track[-1].hypothesis.prediction)
    wanted = KalmanUpdater(sensor).predict_measurement(
        GaussianState(track[-1].hypothesis.prediction.mean, track[-1].hypothesis.prediction.covar)
    )
    assert np.allclose(expected.state_vector, wanted.state_vector, atol=0.02)
    assert np.allclose(expected.covar, wanted.covar, rtol=0.03)


@pytest.mark.parametrize(
    "model",
    [
        linear.RandomWalk(0.3),
        linear.ConstantVelocity(0.05),
        linear.ConstantAcceleration(2e-4),
        linear.ConstantNthDerivative(3, 0.1),
        linear.OrnsteinUhlenbeck(0.1, 0.3),
        linear.Singer(0.1, 0.2),
        linear.KnownTurnRate([0, 0], 5.0),
        linear.CombinedLinearGaussianTransitionModel([linear.ConstantVelocity(0.05), linear.Singer(0.2, 0.01)]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_linear_models_are_equations(model):
    from scipy.integrate import quad_vec
    from scipy.linalg import expm

    a, d = linear_equations(model)
    for h in (0.3, 7.0):
        step = timedelta(seconds=h)
        assert np.allclose(expm(a * h), model.matrix(time_interval=step), atol=1e-6)
        noise = quad_vec(lambda s: expm(a * s) @ d @ expm(a * s).T, 0, h)[0]
        assert np.allclose(noise, model.covar(time_interval=step), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (linear.SingerApproximate(0.1, 0.2), "covariance that is not that of one linear equation"),
        (linear.KnownTurnRate([0.1, 0.1], 0.3), "covariance that is not that of one linear equation"),
        (
            linear.LinearGaussianTimeInvariantTransitionModel(
                transition_matrix=np.eye(2), covariance_matrix=np.eye(2)
            ),
            "one matrix for steps of any length",
        ),
    ],
    ids=lambda m: type(m).__name__ if not isinstance(m, str) else "",
)
def test_linear_models_that_are_no_equations(model, text):
    with pytest.raises(gbees.ModelError, match=text):
        linear_equations(model)


R3, HALF = np.eye(3), np.array([[50.0], [0.0]])
SENSORS = [
    (LinearGaussian(4, (0, 2), np.eye(2)), [0, 0]),
    (nonlinear.CartesianToBearingRange(4, (0, 2), np.eye(2), translation_offset=HALF), [1, 0]),
    (nonlinear.CartesianToBearingRange(4, (0, 2), np.eye(2), rotation_offset=np.array([[0], [0], [0.3]])), [1, 0]),
    (nonlinear.Cartesian2DToBearing(4, (0, 2), np.eye(1), translation_offset=HALF), [1]),
    (nonlinear.CartesianToElevationBearingRange(6, (0, 2, 4), R3), [0, 1, 0]),
    (nonlinear.CartesianToElevationBearing(6, (0, 2, 4), np.eye(2)), [0, 1]),
    (nonlinear.CartesianToBearingRangeRate2D(4, (0, 2), R3, velocity_mapping=(1, 3)), [1, 0, 0]),
    (nonlinear.CartesianToElevationBearingRangeRate(6, (0, 2, 4), np.eye(4), velocity_mapping=(1, 3, 5)), [0, 1, 0, 0]),
    (
        nonlinear.CombinedReversibleGaussianMeasurementModel(
            [LinearGaussian(4, (1,), np.eye(1)), nonlinear.CartesianToBearingRange(4, (0, 2), np.eye(2))]
        ),
        [0, 1, 0],
    ),
]


@pytest.mark.parametrize(("model", "around"), SENSORS, ids=[type(m).__name__ for m, _ in SENSORS])
def test_sensors_are_expressions(model, around):
    n = model.ndim_state
    x = sympy.symbols(f"x1:{n + 1}", real=True)
    rng = np.random.default_rng(1)
    expressions, periods = expressions_of(model, list(x), rng.normal(size=(n, 16)) + 3)
    elsewhere = rng.normal(size=n) * 2
    found = [float(e.subs(dict(zip(x, elsewhere.tolist())))) for e in expressions]
    wanted = model.function(State(elsewhere.reshape(n, 1)), noise=False).astype(float).ravel()
    assert np.allclose(found, wanted)
    assert np.allclose(periods, 2 * np.pi * np.array(around))


class Own(nonlinear.NonLinearGaussianMeasurement):
    """A sensor of one's own."""

    ndim_meas = 1

    def function(self, state, noise=False, **kwargs):
        return np.exp(-state.state_vector[0:1, :]) + np.abs(state.state_vector[1:2, :])


class Kinked(Own):
    def function(self, state, noise=False, **kwargs):
        return np.where(state.state_vector[0:1, :] > 0, 1.0, 2.0)


def test_sensors_of_ones_own():
    x, v = sympy.symbols("x v", real=True)
    points = np.random.default_rng(1).normal(size=(2, 16))
    assert expressions_of(Own(2, (0, 1), np.eye(1)), [x, v], points)[0] == [sympy.exp(-x) + sympy.Abs(v)]
    with pytest.raises(gbees.ModelError, match="Kinked can't be written as equations"):
        expressions_of(Kinked(2, (0, 1), np.eye(1)), [x, v], points)


# ---- equations in continuous time ----


def drawn_states(model, count, state, interval):
    many = State(StateVectors(np.repeat(np.array(state, dtype=float)[:, None], count, axis=1)))
    return np.asarray(model.function(many, noise=True, time_interval=interval, random_state=np.random.default_rng(3)))


def test_equations_in_stone_soups_own_filters_and_simulators():
    from stonesoup.predictor.kalman import ExtendedKalmanPredictor
    from stonesoup.simulator.simple import SingleTargetGroundTruthSimulator

    x, v, k = sympy.symbols("x v k")
    model = Equations({x: v, v: -k * v}, diffusion={v: 0.3}, parameters={k: 0.2}, steps=40)
    exact = linear.OrnsteinUhlenbeck(0.3, 0.2)
    state = GaussianState([[1], [2]], np.eye(2), timestamp=start_time)
    end = start_time + 2 * SECOND
    assert np.allclose(model.function(state, time_interval=2 * SECOND), exact.function(state, time_interval=2 * SECOND))
    points = drawn_states(model, 20000, [1, 2], 2 * SECOND)
    wanted = exact.covar(time_interval=2 * SECOND)
    assert np.allclose(np.cov(points), wanted, atol=0.05 * np.max(wanted))  # five standard errors, and half a step
    prediction = ExtendedKalmanPredictor(model).predict(state, timestamp=end)
    assert np.allclose(prediction.mean, exact.function(state, time_interval=2 * SECOND))
    simulator = SingleTargetGroundTruthSimulator(model, state, timestep=SECOND, number_steps=5)
    assert len([paths for _, paths in simulator]) == 5
    with pytest.raises(NotImplementedError, match="has no formula"):
        model.pdf(state, state)


def test_equations_of_a_turn():
    x, vx, y, vy, w = sympy.symbols("x vx y vy w")
    turn = Equations({x: vx, vx: -w * vy, y: vy, vy: w * vx, w: 0}, diffusion={vx: 0.1, vy: 0.1, w: 1e-4})
    state = State([[1.0], [2.0], [3.0], [4.0], [0.3]], timestamp=start_time)
    wanted = ConstantTurn([0.1, 0.1], 1e-4).function(state, time_interval=3 * SECOND)
    assert np.allclose(turn.function(state, time_interval=3 * SECOND), wanted.astype(float), rtol=1e-9)


def test_a_plugin_of_gbees():
    """Lorenz '63 of the manual's page coming-from.md: z is measured as -8 with a variance of 1 at t = 1."""
    model, sensor = Plugin("lorenz63"), LinearGaussian(ndim_state=3, mapping=[2], noise_covar=np.eye(1))
    prior = GaussianState([[-11.5], [-10], [9.5]], np.eye(3), timestamp=start_time)
    at = start_time + SECOND
    predictor = GridPredictor(model, sensor)
    prediction = predictor.predict(prior, timestamp=at)
    posterior = GridUpdater(sensor).update(SingleHypothesis(prediction, Detection([[-8.0]], timestamp=at)))
    stream = gbees.Filter("lorenz63", set={"frame": "lagrangian"})
    record = stream.update(1, -8, 1)
    assert np.allclose(np.asarray(posterior.mean).ravel(), record.mean, rtol=1e-6)
    assert posterior.log_evidence == pytest.approx(stream.log_evidence, rel=1e-6)
    expected = GridUpdater(sensor).predict_measurement(prediction)  # from cells, which the points become
    assert expected.mean[0] == pytest.approx(prediction.mean[2], abs=0.05 * np.sqrt(prediction.covar[2, 2]))
    assert expected.covar[0, 0] == pytest.approx(prediction.covar[2, 2] + 1, rel=0.05)
    # Its own trajectories are those of the points.
    drawn = np.random.default_rng(1).multivariate_normal([-11.5, -10, 9.5], np.eye(3), 4000).T
    ahead = np.asarray(model.function(State(StateVectors(drawn)), time_interval=SECOND))
    apart = (ahead.mean(axis=1) - np.asarray(prediction.mean).ravel()) / np.sqrt(np.diag(prediction.covar))
    assert np.max(np.abs(apart)) < 5 / np.sqrt(4000)
    assert Plugin("lorenz63", {"r": 20}).function(prior, time_interval=SECOND)[2] != ahead[2, 0]


# ---- what is refused ----


def test_what_is_refused(tutorial, prior, track):
    transition_model, measurement_model, measurements = tutorial
    predictor, updater = GridPredictor(transition_model, measurement_model), GridUpdater(measurement_model)
    end = start_time + SECOND
    particles = ParticleState(StateVectors(np.zeros((4, 2))), weight=np.array([0.5, 0.5]), timestamp=start_time)
    with pytest.raises(gbees.InputError, match="the prior is a ParticleState: a grid begins with a GaussianState"):
        predictor.predict(particles, timestamp=end)
    with pytest.raises(gbees.InputError, match="the prior has 2 states, the transition model 4"):
        predictor.predict(GaussianState([[0], [1]], np.eye(2), timestamp=start_time), timestamp=end)
    with pytest.raises(gbees.InputError, match="needs the prior's timestamp"):
        predictor.predict(prior)
    with pytest.raises(gbees.InputError, match="a filter goes forward"):
        predictor.predict(track[-1], timestamp=start_time)
    with pytest.raises(gbees.InputError, match="is of a GridPredictor of other models"):
        others = linear.CombinedLinearGaussianTransitionModel([linear.ConstantVelocity(0.06)] * 2)
        GridPredictor(others, measurement_model).predict(track[-1], timestamp=start_time + 21 * SECOND)
    with pytest.raises(gbees.InputError, match="a list was given in place of a measurement model"):
        GridPredictor(transition_model, [[measurement_model]]).predict(prior, timestamp=end)
    with pytest.raises(gbees.InputError, match="the detection is of 2026-01-01 00:00:20, the prediction of"):
        updater.update(SingleHypothesis(track[3].hypothesis.prediction, measurements[-1]))
    with pytest.raises(gbees.InputError, match="one prediction of GridPredictor"):
        updater.update(SingleHypothesis(prior, measurements[0]))
    elsewhere = nonlinear.CartesianToBearingRange(4, (0, 2), measurement_model.noise_covar)
    with pytest.raises(gbees.ModelError, match="is none of the measurement models that GridPredictor was given"):
        detection = Detection([[0], [1]], timestamp=start_time, measurement_model=elsewhere)
        updater.update(SingleHypothesis(track[0].hypothesis.prediction, detection))


def test_models_that_are_refused(prior):
    sensor = LinearGaussian(5, (0,), np.eye(1))
    turn = GaussianState(np.ones((5, 1)), np.eye(5), timestamp=start_time)
    with pytest.raises(gbees.ModelError, match="ConstantTurn is a step in time, of which the equations are not known"):
        GridPredictor(ConstantTurn([0.1, 0.1], 0.1), sensor).predict(turn, timestamp=start_time + SECOND)
    with pytest.raises(gbees.InputError, match="LinearGaussian is of 5 states, the transition model of 4"):
        still = linear.CombinedLinearGaussianTransitionModel([linear.ConstantVelocity(1)] * 2)
        GridPredictor(still, sensor).predict(prior, timestamp=start_time + SECOND)
    with pytest.raises(gbees.ModelError, match="none of the measurement functions of the model lorenz63"):
        begin = GaussianState([[-11.5], [-10], [9.5]], np.eye(3), timestamp=start_time)
        other = LinearGaussian(3, (0,), np.eye(1))
        GridPredictor(Plugin("lorenz63"), other).predict(begin, timestamp=start_time + SECOND)
    bins = nonlinear.RangeRangeRateBinning(
        6, (0, 2, 4), np.eye(4), velocity_mapping=(1, 3, 5), range_res=1, range_rate_res=1
    )
    with pytest.raises(gbees.ModelError, match="has a likelihood of its own"):
        cube = linear.CombinedLinearGaussianTransitionModel([linear.ConstantVelocity(1)] * 3)
        begin = GaussianState(np.ones((6, 1)), np.eye(6), timestamp=start_time)
        GridPredictor(cube, bins).predict(begin, timestamp=start_time + SECOND)
    with pytest.raises(gbees.InputError, match="the transition model has 9 states: a grid has at most 8"):
        nine = linear.CombinedLinearGaussianTransitionModel([linear.ConstantAcceleration(1)] * 3)
        begin = GaussianState(np.ones((9, 1)), np.eye(9), timestamp=start_time)
        GridPredictor(nine, LinearGaussian(9, (0,), np.eye(1))).predict(begin, timestamp=start_time + SECOND)
    with pytest.raises(gbees.InputError, match="has no parameter rho"):
        Plugin("lorenz63", {"rho": 1}).ndim_state
    x, t = sympy.symbols("x t")
    with pytest.raises(gbees.ModelError, match="give the `epoch`"):
        Equations({x: sympy.sin(t)}, options={"time": t}).ndim_state
