"""The calls of giverny and pyJHTDB answer what the dataset answers."""

import numpy as np
import pytest

from fieldprobe import giverny
from fieldprobe.pyjhtdb import libJHTDB

POINTS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    "variable, method, operator, ask, columns",
    [
        ("velocity", "lag8", "field", lambda d: d.velocity(POINTS, 0.5, "Lag8"), ["ux", "uy", "uz"]),
        ("velocity", "m2q8", "gradient", lambda d: d.velocity_gradient(POINTS, 0.5, "M2Q8").reshape(2, 9), None),
        ("pressure", "fd4lag4", "gradient", lambda d: d.pressure_gradient(POINTS, 0.5), ["dpdx", "dpdy", "dpdz"]),
        ("velocity", "fd6noint", "laplacian", lambda d: d.velocity_laplacian(POINTS, 0.5, "None_Fd6"), None),
    ],
)
def test_giverny(url, dataset, variable, method, operator, ask, columns):
    (answer,) = giverny.getData(
        giverny.turb_dataset("isotropic32", url=url), variable, 0.5, "pchip", method, operator, POINTS
    )
    np.testing.assert_array_equal(np.asarray(answer), ask(dataset))
    if columns is not None and hasattr(answer, "columns"):
        assert list(answer.columns) == columns


def test_giverny_asks_any_field_by_its_name(url, named):
    asked = giverny.turb_dataset("named", url=url)
    for name, columns in (("sgsenergy", ["sgsenergy"]), ("heatflux", ["heatfluxx", "heatfluxy", "heatfluxz"])):
        (answer,) = giverny.getData(asked, name, 0, "none", "lag4", "field", POINTS / 2)
        values = named.field(name, POINTS / 2, 0, "Lag4", "None").reshape(2, -1)
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
        np.testing.assert_array_equal(np.asarray(answer)[:, 0], dataset.pressure(POINTS, time, "Lag4", "None"))


def test_giverny_refuses_what_it_does_not_know(url):
    dataset = giverny.turb_dataset("isotropic32", url=url)
    with pytest.raises(ValueError, match="variable must be one of"):
        giverny.getData(dataset, "vorticity", 0.5, "pchip", "lag8", "field", POINTS)
    with pytest.raises(ValueError, match="spatial_operator must be"):
        giverny.getData(dataset, "velocity", 0.5, "pchip", "lag8", "curl", POINTS)


def test_pyjhtdb(url, dataset):
    library = libJHTDB(url=url)
    library.initialize()
    np.testing.assert_array_equal(
        library.getData(0.5, POINTS, sinterp=208, tinterp=1, getFunction="getVelocity"), dataset.velocity(POINTS, 0.5, "M2Q8")
    )
    np.testing.assert_array_equal(
        library.getData(0.5, POINTS, sinterp=44, getFunction="getPressureGradient"),
        dataset.pressure_gradient(POINTS, 0.5, time="None"),
    )
    positions, times = library.getPosition(0.0, 0.2, 0.02, POINTS, sinterp=6, steps_to_keep=2)
    assert positions.shape == (3, 2, 3)
    np.testing.assert_allclose(times, [0, 0.1, 0.2], atol=1e-6)
    np.testing.assert_array_equal(positions[-1], dataset.position(POINTS, 0.0, 0.2, 0.02, "Lag6"))
    with pytest.raises(ValueError, match="7 is not the number of an interpolation"):
        library.getData(0.5, POINTS, sinterp=7)
