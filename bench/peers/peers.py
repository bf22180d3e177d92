"""Interpolation by SciPy, NumPy and VTK of the same field at the same points.

usage: peers.py NODES POINTS FIELD RANDOM SORTED. Prints a line of JSON, case -> null or why it is not there; then answers
lines "case order points" on standard input with "seconds u v w": the time of one pass over the first points and the velocity
at the first of them.
"""

import json
import sys
import time

PAD = 4


def lagrange_weights(np, order, fraction):
    """Lagrange weights of `order` nodes at `fraction` from the left central one; shape (points, order)."""
    offset = fraction + order // 2 - 1
    weights = np.ones((len(fraction), order))
    for k in range(order):
        for m in range(order):
            if m != k:
                weights[:, k] *= (offset - m) / (k - m)
    return weights


def numpy_lagrange(np, field, spacing, order, optimize=False):
    """All points at once: one gathered block of order^3 nodes a point. `optimize` is einsum's: it contracts axis by axis."""
    nodes = field.shape[0]

    def run(points):
        scaled = points / spacing
        cell = np.floor(scaled)
        wx, wy, wz = (lagrange_weights(np, order, (scaled - cell)[:, a]) for a in range(3))
        first = cell.astype(np.int64) - order // 2 + 1
        x, y, z = ((first[:, a, None] + np.arange(order)) % nodes for a in range(3))
        block = field[z[:, :, None, None], y[:, None, :, None], x[:, None, None, :]]
        return np.einsum("pk,pj,pi,pkjic->pc", wz, wy, wx, block, optimize=optimize)

    return run


def in_blocks(np, run, size=2000):
    """The same for a few points at a time, whose gathered nodes a cache may hold."""
    return lambda points: np.concatenate([run(points[at : at + size]) for at in range(0, len(points), size)])


def scipy_splines(np, field, spacing, order):
    """Periodic B-splines; the prefilter is done once, before the clock runs."""
    from scipy.ndimage import map_coordinates, spline_filter

    coefficients = [spline_filter(field[..., c].astype(np.float64), order=order, mode="grid-wrap") for c in range(3)]

    def run(points):
        at = (points / spacing)[:, ::-1].T
        parts = [map_coordinates(c, at, order=order, mode="grid-wrap", prefilter=False) for c in coefficients]
        return np.stack(parts, axis=1)

    return run


def scipy_grid(np, field, spacing):
    """Cubic RegularGridInterpolator; it knows no period, so some nodes are repeated beyond the ends."""
    from scipy.interpolate import RegularGridInterpolator

    axis = np.arange(-PAD, field.shape[0] + PAD) * spacing
    wrapped = np.pad(field, ((PAD, PAD),) * 3 + ((0, 0),), mode="wrap").astype(np.float64)
    interpolator = RegularGridInterpolator((axis, axis, axis), wrapped, method="cubic")
    return lambda points: interpolator(points[:, ::-1])


def vtk_probe(np, field, spacing):
    """Trilinear vtkProbeFilter on an image with a node repeated beyond each end."""
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkProbeFilter

    wrapped = np.ascontiguousarray(np.pad(field, ((1, 1),) * 3 + ((0, 0),), mode="wrap"))
    image = vtkImageData()
    image.SetDimensions(*wrapped.shape[:3])
    image.SetSpacing(spacing, spacing, spacing)
    image.SetOrigin(-spacing, -spacing, -spacing)
    values = numpy_to_vtk(wrapped.reshape(-1, 3), deep=True)
    values.SetName("u")
    image.GetPointData().AddArray(values)

    def run(points):
        at = vtkPoints()
        at.SetDataTypeToDouble()
        at.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=True))
        cloud = vtkPolyData()
        cloud.SetPoints(at)
        probe = vtkProbeFilter()
        probe.SetInputData(cloud)
        probe.SetSourceData(image)
        probe.Update()
        return vtk_to_numpy(probe.GetOutput().GetPointData().GetArray("u"))

    return run


def main():
    nodes, count = int(sys.argv[1]), int(sys.argv[2])
    names = ["numpy-lag8", "numpy-lag8-optimized", "numpy-lag8-blocks", "spline3", "spline5", "grid-cubic", "vtk-probe"]
    try:
        import numpy as np
    except ImportError as error:
        print(json.dumps({name: str(error) for name in names}), flush=True)
        return
    spacing = 2 * np.pi / nodes
    field = np.fromfile(sys.argv[3], dtype=np.float32).reshape(nodes, nodes, nodes, 3)
    points = {
        "random": np.fromfile(sys.argv[4]).reshape(count, 3),
        "sorted": np.fromfile(sys.argv[5]).reshape(count, 3),
    }
    makers = {
        "numpy-lag8": lambda: numpy_lagrange(np, field, spacing, 8),
        "numpy-lag8-optimized": lambda: numpy_lagrange(np, field, spacing, 8, optimize=True),
        "numpy-lag8-blocks": lambda: in_blocks(np, numpy_lagrange(np, field, spacing, 8, optimize=True)),
        "spline3": lambda: scipy_splines(np, field, spacing, 3),
        "spline5": lambda: scipy_splines(np, field, spacing, 5),
        "grid-cubic": lambda: scipy_grid(np, field, spacing),
        "vtk-probe": lambda: vtk_probe(np, field, spacing),
    }
    ready, missing = {}, {}
    for name in names:
        try:
            ready[name] = makers[name]()
            missing[name] = None
        except Exception as error:  # a package that is not there, or that does not fit the others
            missing[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(missing), flush=True)
    for line in sys.stdin:
        name, order, some = line.split()
        chosen = points[order][: int(some)]
        start = time.perf_counter()
        values = ready[name](chosen)
        seconds = time.perf_counter() - start
        print(seconds, *values[0], flush=True)


main()
