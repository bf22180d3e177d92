"""The calls of giverny and pyJHTDB answer what the dataset answers."""

from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
import pytest

from fieldprobe import DatasetReplaced, ServiceError, former, giverny, transport
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
        (answer,) = giverny.getData(asked, name, 1, "none", "lag4", "field", POINTS / 2)
        values = named.values(name, POINTS / 2, frame=0, method="Lag4").reshape(2, -1)
        np.testing.assert_array_equal(np.asarray(answer), values)
        if hasattr(answer, "columns"):
            assert list(answer.columns) == columns
    (slope,) = giverny.getData(asked, "heatflux", 1, "none", "fd4lag4", "gradient", POINTS / 2)
    np.testing.assert_allclose(np.asarray(slope), np.tile(np.eye(3).ravel(), (2, 1)), atol=1e-5)
    with pytest.raises(ValueError, match="position, heatflux, sgsenergy, not 'soil'"):
        giverny.getData(asked, "soil", 0, "none", "lag4", "field", POINTS)


def test_giverny_counts_frames_where_its_clients_do(url, dataset):
    asked = giverny.turb_dataset("named", url=url)
    with pytest.raises(ValueError, match="time is 0, but this dataset takes numbers of frames, 1 to 1"):
        giverny.getData(asked, "sgsenergy", 0, "none", "lag4", "field", POINTS / 2)
    counted = giverny.turb_dataset("isotropic32", url=url)
    assert (asked.counts_frames, counted.counts_frames) == (True, False)
    counted.counts_frames = True
    answers, times = giverny.getData(counted, "pressure", 2, "none", "lag4", "field", POINTS, (4, 2), True)
    for answer, time, frame in zip(answers, times, (1, 3)):
        assert time == frame + 1
        np.testing.assert_array_equal(np.asarray(answer)[:, 0], dataset.values("p", POINTS, frame=frame, method="Lag4"))
    with pytest.raises(ValueError, match="time is 2.5, but"):
        giverny.getData(counted, "pressure", 2.5, "none", "lag4", "field", POINTS)
    with pytest.raises(ValueError, match="has no tracks"):
        giverny.getData(counted, "position", 1, "none", "lag4", "field", POINTS, (2, 0.1))


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
    for option in ((0.0, 0.25), (0.9, -0.25), (0.9, 0)):
        with pytest.raises(ValueError, match="option must lead from the time 0.5"):
            giverny.getData(dataset, "velocity", 0.5, "pchip", "lag8", "field", POINTS, option)
    for option in ((np.nan, 0.1), (0.8, np.inf), (0.8,), 0.8, (0.8, 0.1, 0.1), ("end", 0.1), (None, 0.1)):
        for variable in ("velocity", "position"):
            with pytest.raises(ValueError, match="option must be an end time and an interval, not "):
                giverny.getData(dataset, variable, 0.5, "pchip", "lag8", "field", POINTS, option)
    backwards = giverny.getData(giverny.turb_dataset("isotropic32", url=url), "pressure", 0.6, "none", "lag4", "field", POINTS, (0.2, -0.25), True)
    np.testing.assert_allclose(backwards[1], [0.6, 0.35])


@pytest.mark.parametrize("library", ["giverny", "pyjhtdb", "box"])
def test_an_answer_of_several_requests_is_of_one_version(replaced, monkeypatch, library):
    url, replace = replaced
    monkeypatch.setattr("fieldprobe.dataset.POINTS_PER_REQUEST", 1)
    series, both = giverny.turb_dataset("c", url=url), libJHTDB(url=url)
    ask = {
        "giverny": lambda: giverny.getData(series, "pressure", 0, "none", "lag4", "field", POINTS, (1, 1)),
        "pyjhtdb": lambda: both.getData(0, POINTS, data_set="c", getFunction="getVelocityAndPressure"),
        "box": lambda: both.getBoxFilter(0, POINTS, data_set="c", filter_width=1),
    }[library]
    assert (np.asarray(ask()) == 1).all()
    post, posts = transport.Transport.post, []

    def replacing(self, *given):
        posts.append(post(self, *given))
        if len(posts) == 1:
            replace()
        return posts[-1]

    monkeypatch.setattr(transport.Transport, "post", replacing)
    with pytest.raises(DatasetReplaced):
        ask()
    assert (np.asarray(ask()) == 2).all()


@pytest.mark.parametrize(
    "method, operator",
    [(method, operator) for operator in ("gradient", "hessian", "laplacian") for method in ("none", "lag4", "lag8")]
    + [("fd4lag4", "field"), ("fd6noint", "field"), ("m1q4", "hessian"), ("m2q8", "laplacian")],
)
def test_a_method_that_does_not_fit_is_refused_as_by_the_service(url, method, operator):
    asked = giverny.turb_dataset("isotropic32", url=url)
    with pytest.raises(ValueError, match=f"^{operator} takes the spatial methods .*, not "):
        giverny.getData(asked, "velocity", 0.5, "pchip", method, operator, POINTS)
    query = {"dataset": "isotropic32", "function": "GetVariable", "var": "velocity", "t": 0.5, "tint": "pchip"}
    values = f"{url}/turbulence-svc/values?{urlencode({**query, 'authToken': 'T', 'sint': method, 'sop': operator})}"
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(values, data=b"1\t2\t3"))
    assert refused.value.code == 400


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
    legs, times = library.getPosition(0.0, 0.2, 0.03, POINTS, sinterp=6, steps_to_keep=2)
    np.testing.assert_allclose(times, [0, 0.1, 0.2])
    rows = dataset.paths(points=legs[1], time="0.1:0.2", step=0.03, method="Lag6", integrator="heun", last=True)
    np.testing.assert_array_equal(legs[2], np.stack([rows["x"], rows["y"], rows["z"]], axis=-1).astype(np.float32))
    for function in ("getVelocityGradient", "getPressureHessian"):
        with pytest.raises(ValueError, match="takes the spatial methods None_Fd4, None_Fd6, None_Fd8, Fd4Lag4, splines from M"):
            library.getData(0.5, POINTS, sinterp=4, getFunction=function)
    with pytest.raises(ValueError, match="7 is not the number of an interpolation"):
        library.getData(0.5, POINTS, sinterp=7)
    for steps, dt in ((0, 0.02), (-1, 0.02), (1.5, 0.02), (1, 0), (1, np.nan)):
        with pytest.raises(ValueError, match=f"steps_to_keep={steps} must be a whole number from 1, dt={dt} not 0"):
            library.getPosition(0.0, 0.2, dt, POINTS, sinterp=6, steps_to_keep=steps)
    with pytest.raises(ValueError, match="getFunction must be a name"):
        library.getData(0.5, POINTS, getFunction="getInvariants")


@pytest.mark.parametrize("field, what", [("velocity", "u"), ("pressure", "p")])
@pytest.mark.parametrize("cells, nodes", [(0, 1), (0.4, 1), (1.99, 1), (2.01, 3), (3, 3), (4.2, 5)])
def test_the_box_filter_is_the_mean_over_nodes(url, dataset, field, what, cells, nodes):
    spacing = 2 * np.pi / 32
    points = np.array([[3, 4, 31], [0, 7, 5]]) * spacing + 0.3 * spacing
    found = libJHTDB(url=url).getBoxFilter(0.4, points, field=field, filter_width=cells * spacing)
    every = np.asarray(dataset.nodes(what, time=0.4)).reshape(32, 32, 32, -1)
    reach = np.arange(nodes) - nodes // 2
    for row, (i, j, k) in zip(found, [(3, 4, 31), (0, 7, 5)]):
        cube = every[np.ix_((k + reach) % 32, (j + reach) % 32, (i + reach) % 32)]
        mean = cube.reshape(nodes**3, -1).mean(axis=0, dtype=np.float64)
        np.testing.assert_allclose(row, np.pad(mean, (0, 3 - mean.size)), rtol=0, atol=2e-7)


@pytest.mark.parametrize("field, width, text", [("none", 1, "Invalid field specified! "), ("u", 99, "The filter width is "), ("u", -1, "")])
def test_refusals_of_the_box_filter_are_those_of_the_service(url, field, width, text):
    with pytest.raises(ServiceError, match=text) as refused:
        libJHTDB(url=url).getBoxFilter(0.4, POINTS, field=field, filter_width=width)
    assert (refused.value.status, refused.value.member) == (400, "field" if field == "none" else "filterwidth")


@pytest.mark.parametrize("page", [b"<html><errors>no list</errors><member>m</member></html>", b"<a>" + b"<b/>" * 99999 + b"</a>", b"<not"])
def test_other_xml_is_no_fault(page):
    refused = transport._refusal(502, transport.Answer(page, {}))
    assert (str(refused), refused.errors) == ("the service answered with status 502", [])


@pytest.mark.parametrize("time", [[0.4, 0.6], np.array([0.4]), "0.4:0.6", "all", slice(0.4, 0.6), None])
def test_pyjhtdb_takes_one_time(url, time):
    library = libJHTDB(url=url)
    for call in (library.getData, library.getBoxFilter):
        with pytest.raises(ValueError, match="time must be one number"):
            call(time, POINTS)


def test_points_by_columns_are_refused(dataset):
    by_columns = np.ones((3, 4))
    with pytest.raises(ValueError, match=r"not \(3, 4\)"):
        former.places(dataset, by_columns)
    np.testing.assert_array_equal(former.places(dataset, np.ones((2, 2, 3))), np.ones((2, 2, 3)))
