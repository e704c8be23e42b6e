#!/bin/sh
# test_vtk.sh - VTK, and so ParaView, reads what a run has for it: its cells as points, by the sidecar run.xdmf, and its
# densities as images, by gbees-export. Debian's VTK has no reader of the former.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
python=$(find_python "vtk, numpy") || skip "no python3 has VTK (Debian: python3-vtk9)"
enter_scratch
clean_environment
calls 0 "$programs/gbees-run" --backend cpu --threads 1 --progress none --plugin lorenz63 --scenario published --until 0.5 \
    --set records=2 --set 'measurements=[]' --audit off --output run --quiet
calls 0 "$programs/gbees-export" --format vti run images
cat >check.py <<'END'
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy


def integral(name):
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(name)
    reader.Update()
    image = reader.GetOutput()
    sides = [h for h, points in zip(image.GetSpacing(), image.GetDimensions()) if points > 1]
    return image, vtk_to_numpy(image.GetCellData().GetArray("density")).sum() * np.prod(sides)


def points_at(time):
    reader.UpdateTimeStep(time)
    points = reader.GetOutputDataObject(0)
    while points.IsA("vtkMultiBlockDataSet"):
        points = points.GetBlock(0)
    return vtk_to_numpy(points.GetPoints().GetData()), vtk_to_numpy(points.GetPointData().GetArray("p"))


kind = getattr(vtk, "vtkXdmfReader", None) or getattr(vtk, "vtkXdmf3Reader", None)
times = (0, 0.25, 0.5)
if kind:
    reader = kind()
    reader.SetFileName("run/run.xdmf")
    reader.UpdateInformation()
    found = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    assert found == times, found
else:
    print("no reader of XDMF: images alone")
for record, time in enumerate(times):
    totals = []
    for axes in "0_1", "0_2", "1_2", "0_1_2":
        image, total = integral(f"images/leg0_record{record}_{axes}.vti")
        totals.append(total)
        assert image.GetFieldData().GetArray(0).GetTuple1(0) == time
    assert np.ptp(totals) < 1e-5 and abs(totals[0] - 1) < 0.05, totals
    if not kind:
        continue
    x, p = points_at(time)
    assert len(p) == len(x) > 100 and abs(p.sum() - totals[0]) < 1e-5, (totals, p.sum())
    # An image ends at the faces of the outermost cells.
    low, high = np.array(image.GetBounds()).reshape(3, 2).T
    half = np.array(image.GetSpacing()) / 2
    assert np.allclose(x.min(0) - half, low) and np.allclose(x.max(0) + half, high), (low, high)
print("read")
END
calls 0 "$python" check.py
has out read
exit "$bad"
