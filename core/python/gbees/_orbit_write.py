"""Orbits and conjunctions as CCSDS messages."""

from __future__ import annotations

import datetime
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from . import _library as lib
from ._orbit_messages import _STATE, load

if TYPE_CHECKING:
    from ._orbit_conjunction import Conjunction
    from .orbit import Orbits


def _models() -> Any:
    return lib.require("ccsds_ndm.models.ndmxml2", "gbees.orbit", "ccsds-ndm")


def _save(message: Any, path: str) -> None:
    if os.path.exists(path):
        raise lib.FileError(f"{path} exists: give another name")
    io = lib.require("ccsds_ndm.ndm_io", "gbees.orbit", "ccsds-ndm")
    formats = lib.require("ccsds_ndm.mapping", "gbees.orbit", "ccsds-ndm").NDMFileFormats
    kind = formats.XML if path.lower().endswith(".xml") else formats.KVN
    text = io.NdmIo().to_string(message, kind)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if text.endswith("\n") else text + "\n")


def _typed(owner: Any, name: str, value: float) -> Any:
    """A number as the type of a field that has a unit."""
    for field in fields(owner):
        if field.name == name:
            module = lib.require(owner.__module__, "gbees.orbit", "ccsds-ndm")
            made = getattr(module, str(field.type).replace("None | ", "").strip())
            return made(value=float(value))
    raise AttributeError(name)


def write_oem(made: "Orbits", path: str) -> None:
    """Mean and covariance at each record."""
    m = _models()
    epochs = [e.isot for e in made.epochs]
    vectors: list[Any] = []
    matrices: list[Any] = []
    seen: set[str] = set()
    for epoch, state, covariance in zip(epochs, made.states, made.covariances):
        if epoch in seen:  # of a measurement there are two records: the one after it counts
            vectors.pop()
            matrices.pop()
        seen.add(epoch)
        vectors.append(m.StateVectorAccType(epoch=epoch, **{
            name: _typed(m.StateVectorAccType, name, value) for name, value in zip(_STATE, state)
        }))  # fmt: skip
        entries = {
            f"c{row}_{column}": _typed(m.OemCovarianceMatrixType, f"c{row}_{column}", covariance[i, j])
            for i, row in enumerate(_STATE) for j, column in enumerate(_STATE[: i + 1])
        }  # fmt: skip
        matrices.append(m.OemCovarianceMatrixType(epoch=epoch, cov_ref_frame=made.frame, **entries))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    meta = m.OemMetadata(
        comment=["Mean and covariance of a density that gbees has propagated, which need not be Gaussian",
                 f"Forces: {made.forces}"],
        object_name=made.start.name, object_id=made.start.id, center_name="EARTH", ref_frame=made.frame,
        time_system="UTC", start_time=epochs[0], stop_time=epochs[-1],
    )  # fmt: skip
    segment = m.OemSegment(metadata=meta, data=m.OemData(state_vector=vectors, covariance_matrix=matrices))
    header = m.NdmHeader(creation_date=now, originator="GBEES")
    _save(m.Oem(header=header, body=m.OemBody(segment=[segment])), path)


def write_cdm(made: "Conjunction", path: str) -> None:
    """The message that it is from, with the probability."""
    message, _ = load(made.source)
    about = message.body.relative_metadata_data
    about.collision_probability = made.probability
    about.collision_probability_method = "GBEES-6D"
    about.comment = [*about.comment, made.verdict[0].upper() + made.verdict[1:]]
    _save(message, path)
