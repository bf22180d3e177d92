"""The calls of giverny and pyJHTDB answer what the dataset answers."""

import numpy as np
import pytest

from fieldprobe import former, giverny
from fieldprobe.pyjhtdb import libJHTDB

POINTS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
PAIRS = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    "variable, method, operator, what, how, columns",
    [
        ("velocity", "lag8", "field", "u", {"method": "Lag8"}, ["ux", "uy", "uz"]),
        ("velocity", "m2q8", "gradient", "A", {"method": "M2Q8"}, None),
        ("pressure", "fd4lag4", "gradient", "grad(p)", {"derivatives": "Fd4Lag4"}, ["dpdx", "dpdy", "dpdz"]),
        ("velocity", "fd6noint", "laplacian", "lap(u)", {"derivatives": "Fd6"}, None),
    ],
)
def test_giverny(url, dataset, variable, method, operator, what, how, columns):
    asked = giverny.turb_dataset("isotropic32", url=url)
    (answer,) = giverny.getData(asked, variable, 0.5, "pchip", method, operator, POINTS)
    np.testing.assert_array_equal(np.asarray(answer), dataset.values(what, POINTS, time=0.5, **how).reshape(2, -1))
    if columns is not None and hasattr(answer, "columns"):
        assert list(answer.columns) == columns


def test_giverny_hessians_have_six_columns_for_each_component(url, dataset):
    asked = giverny.turb_dataset("isotropic32", url=url)
    (answer,) = giverny.getData(asked, "velocity", 0.5, "pchip", "m2q8", "hessian", POINTS)
    hessian = dataset.values("hess(u)", POINTS, time=0.5, method="M2Q8")
    columns = [hessian[:, c, i, j] for c in range(3) for i, j in PAIRS]
    np.testing.assert_array_equal(np.asarray(answer), np.stack(columns, axis=-1))


def test_giverny_asks_any_field_by_its_name(url, named):
    asked = giverny.turb_dataset("named", url=url)
    for name, columns in (("sgsenergy", ["sgsenergy"]), ("heatflux", ["heatfluxx", "heatfluxy", "heatfluxz"])):
        (answer,) = giverny.getData(asked, name, 0, "none", "lag4", "field", POINTS / 2)
        values = named.values(name, POINTS / 2, frame=0, method="Lag4").reshape(2, -1)
        np.testing.assert_array_equal(np.asarray(answer), values)
        if hasattr(answer, "columns"):
            assert list(answer.columns) == columns
    (slope,) = giverny.getData(asked, "heatflux", 0, "none", "fd4lag4", "gradient", POINTS / 2)
    np.testing.assert_allclose(np.asarray(slope), np.tile(np.eye(3).ravel(), (2, 1)), atol=1e-5)
    with pytest.raises(ValueError, match="position, heatflux, sgsenergy, not 'soil'"):
        giverny.getData(asked, "soil", 0, "none", "lag4", "field", POINTS)


def test_giverny_series_of_times(url, dataset):
    answers, times = giverny.getData(
        giverny.turb_dataset("isotropic32", url=url), "pressure", 0.2, "none", "lag4", "field", POINTS, (0.6, 0.2), True
    )
    np.testing.assert_allclose(times, [0.2, 0.4, 0.6])
    for answer, time in zip(answers, times):
        values = dataset.values("p", POINTS, time=time, method="Lag4", time_method="nearest")
        np.testing.assert_array_equal(np.asarray(answer)[:, 0], values)


def test_giverny_refuses_what_it_does_not_know(url):
    dataset = giverny.turb_dataset("isotropic32", url=url)
    with pytest.raises(ValueError, match="variable must be one of"):
        giverny.getData(dataset, "vorticity", 0.5, "pchip", "lag8", "field", POINTS)
    with pytest.raises(ValueError, match="spatial_operator must be"):
        giverny.getData(dataset, "velocity", 0.5, "pchip", "lag8", "curl", POINTS)


def test_positions_are_those_of_heun_steps(url, dataset):
    (answer,) = giverny.getData(
        giverny.turb_dataset("isotropic32", url=url), "position", 0.0, "none", "lag6", "field", POINTS, (0.2, 0.02)
    )
    rows = dataset.paths(points=POINTS, time="0:0.2", step=0.02, method="Lag6", integrator="heun", last=True)
    np.testing.assert_array_equal(np.asarray(answer), np.stack([rows["x"], rows["y"], rows["z"]], axis=-1))


def test_pyjhtdb(url, dataset):
    library = libJHTDB(url=url)
    library.initialize()
    spline = {"time": 0.5, "method": "M2Q8"}
    np.testing.assert_array_equal(
        library.getData(0.5, POINTS, sinterp=208, tinterp=1, getFunction="getVelocity"), dataset.values("u", POINTS, **spline)
    )
    both = library.getData(0.5, POINTS, sinterp=208, tinterp=1, getFunction="getVelocityAndPressure")
    np.testing.assert_array_equal(both[:, 3], dataset.values("p", POINTS, **spline))
    np.testing.assert_array_equal(
        library.getData(0.5, POINTS, sinterp=44, getFunction="getPressureGradient"),
        dataset.values("grad(p)", POINTS, time=0.5, time_method="nearest"),
    )
    positions, times = library.getPosition(0.0, 0.2, 0.02, POINTS, sinterp=6, steps_to_keep=2)
    assert positions.shape == (3, 2, 3)
    np.testing.assert_allclose(times, [0, 0.1, 0.2], atol=1e-6)
    np.testing.assert_array_equal(positions[0], POINTS.astype(np.float32))
    filtered = library.getBoxFilter(0.4, POINTS, field="velocity", filter_width=0.6)
    np.testing.assert_array_equal(filtered, dataset.values("filter(u)", POINTS, time=0.4, filter="box:0.6", time_method="nearest"))
    with pytest.raises(ValueError, match="7 is not the number of an interpolation"):
        library.getData(0.5, POINTS, sinterp=7)
    with pytest.raises(ValueError, match="getFunction must be a name"):
        library.getData(0.5, POINTS, getFunction="getInvariants")


def test_points_by_columns_are_refused():
    by_columns = np.ones((3, 4))
    with pytest.raises(ValueError, match=r"not \(3, 4\)"):
        former.places(by_columns)
    np.testing.assert_array_equal(former.places(np.ones((2, 2, 3))), np.ones((4, 3)))
