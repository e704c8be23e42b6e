"""A record: the density at one time."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as lib

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Certificate:
    """How wrong a record may be (the manual's page accuracy.md).

    Each array has a row for each state (`mean`, `std`) or axis of the grid (`marginal`, `kolmogorov`): what was found,
    and what the error is below. NaN: it can't be told. `points` is the number of points that go with the flow that the record
    is compared with; 0: of `samples`, of which some are `effective`. `variation` is an estimate of the total variation
    distance to the true density, and no bound; NaN: there is none.
    """

    text: str
    reason: str
    points: int
    samples: int
    effective: float
    mean: Array
    std: Array
    marginal: Array
    kolmogorov: Array
    density: Array
    variation: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Target:
    """A target at the time of a record (the manual's page targets.md).

    `kind` is ``"count"`` or ``"absorb"``, `probability` what is inside, or what has entered so far since the last
    measurement; its error is below `bound`, and `rate` is its change per unit of time since the record before. NaN: it
    is not known.
    """

    name: str
    kind: str
    probability: float
    bound: float
    rate: float


@dataclass(frozen=True)
class Grid:
    """Cells and their grid: the centre of cell i is origin + rotation (width * index[:, i])."""

    origin: Array
    width: Array
    rotation: Array
    index: Array
    p: Array

    @property
    def centres(self) -> Array:
        """Centres of the cells in the model's axes, one a row."""
        centres: Array = self.origin + (self.width[:, None] * self.index).T @ self.rotation.T
        return centres

    @property
    def volume(self) -> float:
        """Volume of a cell."""
        return float(np.prod(self.width) * abs(np.linalg.det(self.rotation)))

    @property
    def turned(self) -> bool:
        """Whether the grid's axes are not the model's."""
        return not np.array_equal(self.rotation, np.eye(len(self.origin)))

    def lookup(self, points: Array) -> Array:
        """The probability of the cells that hold the points, 0 where there is none."""
        y = np.linalg.solve(self.rotation, (points - self.origin).T) / self.width[:, None]
        lo, hi = self.index.min(axis=1), self.index.max(axis=1)
        cell = np.floor(y + 0.5)
        inside = np.all((cell >= lo[:, None]) & (cell <= hi[:, None]), axis=0)
        cell = np.where(inside, cell, lo[:, None].astype(float)).astype(np.int64)
        # Cells are sorted by index, so that their place in the box is sorted, too.
        span = (hi - lo + 1).astype(np.int64)
        if float(np.prod(span.astype(float))) > 2.0**62:
            return self._lookup_sparse(cell, inside)
        keys = np.ravel_multi_index(tuple(self.index - lo[:, None]), tuple(span))
        wanted = np.ravel_multi_index(tuple(cell - lo[:, None]), tuple(span))
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(inside & (keys[place] == wanted), self.p[place], 0.0)

    def _lookup_sparse(self, cell: Array, inside: Array) -> Array:
        known = {tuple(i): p for i, p in zip(self.index.T.tolist(), self.p.tolist())}
        return np.array([known.get(tuple(i), 0.0) if ok else 0.0 for i, ok in zip(cell.T.tolist(), inside)])


def _vector(values: Any, n: int) -> Array:
    return np.array(values[:n], dtype=float)


def _matrix(values: Any, n: int) -> Array:
    return np.array(values[: n * n], dtype=float).reshape(n, n)


def _copy_grid(grid: Any, n: int) -> Grid:
    """Has the library write the cells into arrays of NumPy."""
    index = np.empty((n, grid.count), dtype=np.int32)
    p = np.empty(grid.count)
    if grid.count:
        lib.LIBRARY.gbees_session_cells(c.byref(grid), n, index.ctypes.data, p.ctypes.data)
    index.flags.writeable = p.flags.writeable = False
    return Grid(_vector(grid.origin, n), _vector(grid.width, n), _matrix(grid.rotation, n), index, p)


def copy_certificate(given: Any, n: int) -> Certificate:
    text = c.create_string_buffer(512)
    lib.LIBRARY.gbees_certificate_text(c.byref(given), n, 0, text, len(text))

    def pairs(list_: Any) -> Array:
        return np.array([(d.value, d.bound) for d in list_[:n]])

    return Certificate(
        lib.text(text.value),
        lib.text(given.reason),
        given.points,
        given.samples,
        given.effective,
        pairs(given.mean),
        pairs(given.std),
        pairs(given.marginal),
        pairs(given.kolmogorov),
        np.array((given.density.value, given.density.bound)),
        given.variation or np.nan,
    )


@dataclass(repr=False, eq=False)
class Record:
    """The density at one time.

    Attributes
    ----------
    leg, number : int
        Legs end at measurements; record 0 of a leg is the density after those at its start.
    time : float
        Model time.
    states : tuple of str
        Names of the states.
    mean, covariance : ndarray
        Moments in the model's axes.
    direction, resultant : ndarray
        Of states on a circle: argument and absolute value of the mean of exp(i 2 pi x / period); NaN of others.
    mass, entropy : float
        Sum of P before normalisation; -sum P log(P / volume of a cell).
    clipped, outflow, pruned : float
        Mass since the start.
    grid : Grid or None
        Cells and their grid; None where the density was not written.
    certificate : Certificate or None
        Bounds of the error; None without an audit.
    samples : ndarray or None
        Samples of the model's own equations at this time, one a row.
    targets : dict of str to Target
        Of the scenario's `targets`, by name.
    """

    leg: int
    number: int
    time: float
    states: tuple[str, ...]
    units: tuple[str, ...]
    mean: Array
    covariance: Array
    direction: Array
    resultant: Array
    mass: float
    entropy: float
    steps: int
    clipped: float
    outflow: float
    pruned: float
    grid: Grid | None
    certificate: Certificate | None
    samples: Array | None
    targets: dict[str, Target] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<gbees.Record t = {self.time:g}, {len(self.grid.p) if self.grid else 0} cells>"

    @property
    def std(self) -> Array:
        """Standard deviations of the states."""
        std: Array = np.sqrt(np.diag(self.covariance))
        return std

    @property
    def index(self) -> Array:
        """Indices of the cells, one row for each axis, sorted; int32, read-only, not copied."""
        return self._cells().index

    @property
    def p(self) -> Array:
        """Probabilities of the cells; read-only, not copied."""
        return self._cells().p

    @property
    def centres(self) -> Array:
        """Centres of the cells in the model's axes, one a row."""
        return self._cells().centres

    def _cells(self) -> Grid:
        if not self.grid:
            raise lib.InputError(f"the density at t = {self.time:g} was not written: see the scenario's `output`")
        return self.grid

    def _axis(self, state: str | int) -> int:
        if isinstance(state, str):
            if state not in self.states:
                raise lib.InputError(f"there is no state {state!r}: the states are {', '.join(self.states)}")
            return self.states.index(state)
        if not 0 <= state < len(self.states):
            raise lib.InputError(f"there is no state {state}: there are {len(self.states)}, counted from 0")
        return state

    def to_xarray(self) -> Any:
        """The cells as a sparse table: an xarray.Dataset with the dimension ``cell``."""
        xarray = lib.require("xarray", "Record.to_xarray()")
        centres = self.centres
        data = {
            name: ("cell", centres[:, j], {"units": unit})
            for j, (name, unit) in enumerate(zip(self.states, self.units))
        }
        data["p"] = ("cell", self.p, {"long_name": "probability of the cell"})
        return xarray.Dataset(data, attrs={"time": self.time, "leg": self.leg, "number": self.number})

    def marginal(self, *states: str | int) -> tuple[Array, ...]:
        """The marginal density of one or two states.

        On a grid along the model's axes the bins are the cells. Cells of another are spread over their parallelepipeds,
        on narrower bins, as `gbees-plot` draws them: mean and covariance are the record's. Where the density is small
        beside its neighbours it may then be slightly below 0.

        Returns
        -------
        tuple of ndarray
            The centres of the bins of each state, then the density: ``x, f`` or ``x, y, f``, f[i, k] at x[i], y[k].
        """
        if len(states) not in (1, 2):
            raise lib.InputError("marginal() takes one or two states")
        axes = [self._axis(s) for s in states]
        grid = self._cells()
        if grid.turned:
            return self._spread(grid, axes)
        lo, hi = grid.index[axes].min(axis=1), grid.index[axes].max(axis=1)
        sums = np.zeros(hi - lo + 1)
        np.add.at(sums, tuple(grid.index[axes] - lo[:, None]), grid.p)
        middles = [grid.origin[a] + grid.width[a] * np.arange(lo[k], hi[k] + 1) for k, a in enumerate(axes)]
        return (*middles, sums / (np.prod(grid.width[axes]) * sums.sum()))

    def _spread(self, grid: Grid, axes: list[int]) -> tuple[Array, ...]:
        """The marginal of oblique cells (include/gbees/spread.h)."""
        along = (grid.rotation[axes] * grid.width).ravel()
        edges = lib.SpreadEdges(len(grid.width))
        edges.along[: along.size] = along.tolist()
        points = grid.centres[:, axes]
        shape = lib.SpreadShape(len(axes), edges, entries=8 if len(axes) == 1 else 4, limit=1 << 20)
        shape.least[: len(axes)], shape.most[: len(axes)] = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        made = c.POINTER(lib.SpreadStruct)()
        lib.check(lib.LIBRARY.gbees_spread_create, c.byref(shape), c.byref(made))
        try:
            x = np.ascontiguousarray(points.T)
            rows = (c.c_void_p * len(axes))(*(row.ctypes.data for row in x))
            lib.LIBRARY.gbees_spread_add(made, len(grid.p), rows, grid.p.ctypes.data)
            lib.LIBRARY.gbees_spread_finish(made, c.byref(edges))
            s = made.contents
            sums = np.ctypeslib.as_array(s.p, tuple(s.length[: len(axes)])).copy()
            middles = [s.origin[k] + s.width[k] * np.arange(s.length[k]) for k in range(len(axes))]
            widths = s.width[: len(axes)]
        finally:
            lib.LIBRARY.gbees_spread_destroy(made)
        for k in range(len(axes)):  # without the margins
            inside = np.flatnonzero(abs(np.moveaxis(sums, k, 0).reshape(sums.shape[k], -1)).max(axis=1) > 1e-12)
            sums = sums.take(range(inside[0], inside[-1] + 1), axis=k)
            middles[k] = middles[k][inside[0] : inside[-1] + 1]
        return (*middles, sums / (np.prod(widths) * sums.sum()))

    def cdf(self, state: str | int, limits: Any) -> Array:
        """The probability that a state is below limits: an array of their shape.

        What bins hold up to their edges is interpolated between them by the polynomial of fifth degree of the six nearest
        edges, and stays between the two that enclose the limit: a limit need not be at an edge. Where bins are as wide as
        the standard deviation it may be off by 0.005 between edges, where they are twice as wide by 0.07. With
        ``cell_values: points`` a result f(x) being the density, h the width, is off by h^2 f'(x) / 24.

        Examples
        --------
        ``1 - record.cdf("altitude", 0.0)`` is the probability that an object is still above ground.
        """
        middles, density = self.marginal(state)
        width = middles[1] - middles[0] if len(middles) > 1 else self._cells().width[self._axis(state)]
        held = np.concatenate([np.zeros(4), np.cumsum(density * width)])  # by the edges, of three empty bins more
        held = np.concatenate([held, np.full(3, held[-1])])
        place = (np.asarray(limits, dtype=float) - middles[0]) / width + 3.5  # counted in edges
        if np.isnan(place).any():
            raise lib.InputError("cdf() wants limits that are numbers")
        edge = np.clip(np.floor(place), 2, len(held) - 4).astype(int)
        nodes = np.arange(-2, 4)
        within = np.clip(place - edge, 0, 1)[..., None] - nodes
        weights = [
            np.prod(np.delete(within, k, -1) / np.delete(nodes[k] - nodes, k), axis=-1) for k in range(len(nodes))
        ]
        found = sum(w * held[edge + node] for w, node in zip(weights, nodes))
        below: Array = np.clip(found, held[edge], held[edge + 1])
        return below

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Array:
        """Draws n points of the density, one a row: a cell by its probability, a point of it uniformly.

        Parameters
        ----------
        n
            How many.
        rng
            A generator of NumPy, or a seed.
        """
        rng = np.random.default_rng(rng)
        grid = self._cells()
        cell = rng.choice(len(grid.p), size=n, p=grid.p / grid.p.sum())
        within = grid.index[:, cell].T + rng.uniform(-0.5, 0.5, size=(n, len(self.states)))
        points: Array = grid.origin + (grid.width * within) @ grid.rotation.T
        return points

    def pdf(self, points: Any) -> Array:
        """The density at points, one a row: that of the cell that holds it, 0 outside all cells."""
        grid = self._cells()
        x = np.atleast_2d(np.asarray(points, dtype=float))
        if x.shape[1] != len(self.states):
            raise lib.InputError(f"pdf() wants points with {len(self.states)} coordinates, not {x.shape[1]}")
        density: Array = grid.lookup(x) / grid.volume
        return density

    def credible(self, share: float = 0.9) -> Array:
        """The smallest set of cells that holds a share of the probability: a mask of the cells.

        Examples
        --------
        ``record.centres[record.credible(0.9)]`` are the cells of the region of highest density.
        """
        if not 0 < share <= 1:
            raise lib.InputError(f"credible() wants a share above 0 and up to 1, not {share}")
        order = np.argsort(-self.p, kind="stable")
        total = np.cumsum(self.p[order])
        mask = np.zeros(len(order), dtype=bool)
        mask[order[: int(np.searchsorted(total, share * total[-1] * (1 - 1e-12))) + 1]] = True
        return mask


def copy_record(given: Any, states: tuple[str, ...], units: tuple[str, ...]) -> Record:
    """The library's record, which is gone when its callback returns."""
    n, samples = given.dimension, None
    if given.samples and given.samples.contents.count:
        s = given.samples.contents
        samples = np.array([np.ctypeslib.as_array(s.x[j], (s.count,)) for j in range(n)]).T
    return Record(
        leg=given.leg,
        number=given.number,
        time=given.time,
        states=states,
        units=units,
        mean=_vector(given.mean, n),
        covariance=_matrix(given.covariance, n),
        direction=_vector(given.direction, n),
        resultant=_vector(given.resultant, n),
        mass=given.mass,
        entropy=given.entropy,
        steps=given.steps,
        clipped=given.clipped,
        outflow=given.outflow,
        pruned=given.pruned,
        grid=_copy_grid(given.grid, n),
        certificate=copy_certificate(given.certificate.contents, n) if given.certificate else None,
        samples=samples,
        targets={
            lib.text(t.name): Target(lib.text(t.name), lib.text(t.kind), t.probability, t.bound, t.rate)
            for t in given.targets[: given.target_count]
        },
    )
