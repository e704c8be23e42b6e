"""The probability that two objects about the Earth collide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as lib
from ._orbit_frames import MU, Orbit, local_axes, regular, seconds_between
from ._record import Array
from ._run import Run, run, value_of

_DIFFERENT = 0.02  # a relative difference of the probabilities that is worth a sentence
_REACH = 8.0  # deviations
# Slices of a wide density: radii that they are apart, how many of these make a deviation wide, how many to each side.
_APART, _WIDE, _EACH_WAY = 5.0, 10.0, 4


@dataclass
class Conjunction:
    """What :func:`conjunction` has computed.

    Attributes
    ----------
    probability, bound : float
        Of a collision within `window`, and of its error.
    foster : float
        The usual probability, of a straight passage in the plane across the mean's relative velocity.
    radius : float
        Of both bodies together, m.
    miss, speed : float
        Of the means at the time of closest approach, m and m/s.
    window : tuple of float
        The seconds about the time of closest approach that are looked at.
    verdict : str
        Both probabilities in a sentence, and whether they differ.
    run : Run
        Of the model `conjunction`.
    """

    source: str
    probability: float
    bound: float
    foster: float
    radius: float
    miss: float
    speed: float
    window: tuple[float, float]
    verdict: str
    run: Run

    def __repr__(self) -> str:
        return f"<gbees.orbit.Conjunction {self.source}: {self.verdict}>"

    def write(self, path: str) -> None:
        """Writes the CDM again, with the probability: to a new file."""
        from ._orbit_write import write_cdm

        write_cdm(self, path)


def relative(first: Orbit, second: Orbit) -> tuple[Array, Array, Array]:
    """The second object's state relative to the first one in its radial, transverse and normal axes at rest, the sum of
    the covariances, and the first one's state there: m and m/s."""
    axes = np.kron(np.eye(2), local_axes(first.state, "RTN"))
    if first.covariance is None or second.covariance is None:
        raise lib.InputError(f"{first.source}: an object has no covariance")
    covariance = axes @ (first.covariance + second.covariance) @ axes.T * 1e6
    return axes @ (second.state - first.state) * 1e3, covariance, axes @ first.state * 1e3


def foster(mean: Array, covariance: Array, radius: float) -> float:
    """The probability to pass within a radius, on a straight line at the mean's relative velocity (J. L. Foster,
    H. S. Estes, NASA JSC-25898, 1992): of the position in the plane across that velocity."""
    along = mean[3:] / np.linalg.norm(mean[3:])
    _, _, rows = np.linalg.svd(along[None, :])
    plane = rows[1:]
    values, vectors = np.linalg.eigh(plane @ covariance[:3, :3] @ plane.T)
    wide, thin = math.sqrt(values[1]), math.sqrt(max(values[0], 1e-12 * values[1]))
    y, x = vectors.T @ plane @ mean[:3]
    low, high = max(-radius, x - _REACH * wide), min(radius, x + _REACH * wide)
    if low >= high:
        return 0.0
    # x = middle + half sin(phi): smooth where the chord's length is not.
    phi, weight = np.polynomial.legendre.leggauss(100)
    middle, half = (low + high) / 2, (high - low) / 2
    at = middle + half * np.sin(np.pi / 2 * phi)
    chord = np.sqrt(np.maximum(radius**2 - at**2, 0))
    erf = np.vectorize(math.erf)
    across = (erf((chord - y) / (math.sqrt(2) * thin)) + erf((chord + y) / (math.sqrt(2) * thin))) / 2
    density = np.exp(-(((at - x) / wide) ** 2) / 2) / (math.sqrt(2 * np.pi) * wide)
    return float(np.sum(weight * density * across * half * np.pi / 2 * np.cos(np.pi / 2 * phi)))


def window_of(mean: Array, covariance: Array, first: Array, radius: float) -> float:
    """Seconds before and after the closest approach: what the passage takes, at most a quarter of a revolution."""
    distance, speed = float(np.linalg.norm(first[:3])), float(np.linalg.norm(first[3:]))
    energy = 2 / distance - speed**2 / (MU * 1e9)
    quarter = math.pi / 2 / math.sqrt(MU * 1e9 * energy**3) if energy > 0 else 1e4
    fast = float(np.linalg.norm(mean[3:]))
    along = mean[3:] / fast
    slow = fast - 4 * math.sqrt(along @ covariance[3:, 3:] @ along)
    if slow < fast / 5:
        return quarter
    far = _REACH * math.sqrt(along @ covariance[:3, :3] @ along) + radius + float(np.linalg.norm(mean[:3]))
    return min(quarter, 2 * far / slow)


def slices(mean: Array, covariance: Array, radius: float) -> tuple[float, list[dict[str, Any]]]:
    """The density as Gaussians where collisions can be, and their share of it.

    Where a deviation of the position is much larger than the radius nearly all of the density passes far away. Along the
    widest axis u of the position the density is multiplied by the sum over j of s N(u; j s, s^2), which is 1 but for
    5e-9, and each product is a Gaussian again. Those with centres within some radii are kept.
    """
    values, vectors = np.linalg.eigh(covariance[:3, :3])
    apart = _APART * radius
    if apart > math.sqrt(values[2]) / _WIDE:
        return 1.0, [{"weight": 1, "mean": mean.tolist(), "covariance": covariance.tolist()}]
    axis = np.concatenate([vectors[:, 2], np.zeros(3)])
    beside = covariance @ axis
    variance = float(axis @ beside) + apart**2
    narrow = covariance - np.outer(beside, beside) / variance
    narrow = (narrow + narrow.T) / 2
    kept, share = [], 0.0
    for j in range(-_EACH_WAY, _EACH_WAY + 1):
        off = j * apart - float(axis @ mean)
        weight = apart * math.exp(-(off**2) / variance / 2) / math.sqrt(2 * math.pi * variance)
        share += weight
        kept.append({"weight": weight, "mean": (mean + beside * off / variance).tolist(),
                     "covariance": narrow.tolist()})  # fmt: skip
    return share, kept


def _sentence(probability: float, bound: float, usual: float, brief: bool, points: float) -> str:
    text = f"the probability of a collision is {probability:.4g}, with an error of at most {bound:.1g}; Foster's is {usual:.4g}"
    off = abs(usual - probability)
    if bound > probability / 2:
        return f"{text}: the error may be so large that only more points tell (set={{'points': {1.5 * points:.2g}}})"
    if off <= max(bound, _DIFFERENT * probability):
        return f"{text}: they agree"
    part = f"{abs(usual / probability - 1):.0%}" if probability > 0 else "far"
    why = "the density is not straight" if brief else "the passage takes so long that it is not straight"
    return f"{text}, {part} {'above' if usual > probability else 'below'} it: {why}"


def collide(pair: tuple[Orbit, Orbit], radius: float, window: float | None, options: dict[str, Any]) -> Conjunction:
    """As :func:`gbees.orbit.conjunction`, of two orbits at one epoch in one inertial frame, and a radius in m."""
    first, second = pair
    if abs(seconds_between(first.epoch, second.epoch)) > 1e-6:
        raise lib.InputError(f"{first.source}: the objects' states are of different epochs")
    mean, covariance, at = relative(first, second)
    covariance = regular(covariance, f"{first.source}: both objects together")
    half = window_of(mean, covariance, at, radius) if window is None else window / 2
    usual = foster(mean, covariance, radius)
    share, parts = slices(mean, covariance, radius)
    brief = half < 60
    scenario: dict[str, Any] = {
        "parameters": {"radius": radius, "distance": float(at[0]), "outwards": float(at[3]), "onwards": float(at[4])},
        "initial": parts, "start": -half, "end": half,
        "records": 2 if brief else 4, "frame": "lagrangian", "targets": {"collision": "absorb"},
        "points": 0.7, "tail": 18 if len(parts) == 1 else 9, "output": {"densities": "none"},
    }
    made = run("conjunction", {**scenario, **options.pop("set", {})}, **options)
    told = made.targets["collision"]
    points = float(value_of(made.scenario, "points") or 1)
    probability, bound = share * float(told["probability"][-1]), share * float(told["bound"][-1])
    return Conjunction(
        source=first.source, probability=probability, bound=bound, foster=usual, radius=radius,
        miss=float(np.linalg.norm(mean[:3])), speed=float(np.linalg.norm(mean[3:])), window=(-half, half),
        verdict=_sentence(probability, bound, usual, brief, points), run=made,
    )
