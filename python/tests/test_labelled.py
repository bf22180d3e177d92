"""Points, coordinates and times of numpy, pandas, xarray and netCDF4: read by their labels, in the dataset's units, or refused."""

import datetime
import inspect
import re
from collections import UserList, deque, namedtuple

import numpy as np
import pytest

from fieldprobe import giverny
from fieldprobe.calls import Calls
from fieldprobe.labelled import points_of
from fieldprobe.pyjhtdb import libJHTDB
from fieldprobe.units import contradicts

#: Three, so that an array that is taken for its transpose has the same shape.
POINTS = np.array([[1.0, 2.0, 3.0], [2.5, 1.5, 0.5], [3.0, 3.5, 2.0]])
Turned = namedtuple("Turned", "z y x")


def containers(points):
    """Containers of points by the names of what holds them, each with its labels in another order than x, y, z."""
    turned = points[:, ::-1]
    yield "namedtuples", [Turned(*row) for row in turned]
    yield "nested namedtuples", [[Turned(*row)] for row in turned]
    yield "a namedtuple of arrays", Turned(*turned.T)
    yield "a dict", dict(zip("zyx", turned.T))
    structured = np.rec.fromarrays(turned.T, names="z,y,x")
    yield "a structured array", structured.view(np.ndarray)
    yield "a record array", structured
    yield "records", list(structured)
    yield "a deque of namedtuples", deque(Turned(*row) for row in turned)
    yield "a list of a user", UserList(Turned(*row) for row in turned)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(turned, columns=list("zyx"))
    yield "a table", table
    yield "a table of other letters", table.set_axis(["Z", "pos_y", "Points:0"], axis=1)
    yield "its transpose", table.T
    yield "its rows", [row for _, row in table.iterrows()]
    yield "its columns", [table["z"], table["y"], table["x"]]
    yield "its columns as a tuple", tuple(table[name] for name in "zyx")
    yield "levels of columns", table.set_axis(pandas.MultiIndex.from_product([["a"], list("zyx")]), axis=1)
    yield "an index of levels", pandas.MultiIndex.from_frame(table)
    yield "octets", table.set_axis([b"z", b"y", b"x"], axis=1)
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(turned, dims=("n", "axis"), coords={"axis": list("zyx")})
    yield "an array", array
    yield "its transpose too", array.T
    yield "an array whose names are no index", xarray.DataArray(turned, dims=("n", "axis"), coords={"name": ("axis", list("zyx"))})
    dataset = xarray.Dataset({name: ("n", column) for name, column in zip("zyx", turned.T)})
    yield "a dataset", dataset
    yield "its variables", [dataset.z, dataset.y, dataset.x]
    yield "its array", dataset.to_array()


def test_points_are_read_by_their_labels_everywhere(dataset, url):
    u = dataset.values("u", POINTS, time=0.4)
    track = {"time": slice(0.4, 0.5), "step": 0.05, "last": True}
    ends = dataset.paths(points=POINTS, **track)["x"]
    asked, library = giverny.turb_dataset("isotropic32", url=url), libJHTDB(url=url)
    for name, points in containers(POINTS):
        shape = (3, 1, 3) if name.startswith("nested") else (3, 3)
        np.testing.assert_array_equal(dataset.values("u", points, time=0.4), u.reshape(shape), err_msg=name)
        np.testing.assert_array_equal(dataset.paths(points=points, **track)["x"], ends, err_msg=name)
        answer = library.getData(0.4, points, sinterp=8, tinterp=1)
        np.testing.assert_array_equal(answer, u.reshape(shape), err_msg=name)
        (answer,) = giverny.getData(asked, "velocity", 0.4, "pchip", "lag8", "field", points)
        np.testing.assert_array_equal(np.asarray(answer), u, err_msg=name)


def test_jobs_and_the_older_libraries_keep_the_shape_of_labelled_points(dataset, url):
    xarray = pytest.importorskip("xarray")
    points = np.random.default_rng(1).uniform(0, 6, (3, 2, 4))
    array = xarray.DataArray(points, dims=("axis", "a", "b"), coords={"axis": list("xyz")})
    expected = dataset.values("u", np.moveaxis(points, 0, -1), time=0.4)
    assert expected.shape == (2, 4, 3)
    np.testing.assert_array_equal(dataset.values("u", array, time=0.4), expected)
    np.testing.assert_array_equal(dataset.submit("values", "u", points=array, time=0.4).result(), expected)
    library = libJHTDB(url=url)
    np.testing.assert_array_equal(library.getData(0.4, array, sinterp=8, tinterp=1), expected)
    assert library.getBoxFilter(0.4, array, filter_width=1.0).shape == (2, 4, 3)
    places, _ = library.getPosition(0.4, 0.5, 0.05, array, sinterp=8)
    np.testing.assert_array_equal(places[0], np.moveaxis(points, 0, -1).astype(np.float32))


def test_pairs_and_velocities_are_read_by_their_labels(dataset):
    pandas = pytest.importorskip("pandas")
    names = ["vz", "vy", "vx", "z", "y", "x"]
    start = np.c_[POINTS, 0.1 * POINTS]
    table = pandas.DataFrame(start[:, ::-1], columns=names)
    track = {"time": slice(0.4, 0.5), "step": 0.05, "drag": 0.5}
    np.testing.assert_array_equal(dataset.paths(points=table, **track)["x"], dataset.paths(points=start, **track)["x"])
    pairs = np.r_[POINTS[:2], POINTS[1:]]
    by_name = pandas.DataFrame(pairs[:, ::-1], columns=list("zyx"))
    track = {"time": slice(0.4, 0.5), "step": 0.05}
    tables = [dataset.dispersion({"pairs": one}, **track)["mean_square"] for one in (pairs, by_name)]
    np.testing.assert_array_equal(*tables)


def test_one_record_and_numbers_of_samples_are_read_by_their_names(dataset):
    record = np.rec.fromarrays(POINTS[:1, ::-1].T, names="z,y,x")[0]
    track = {"time": slice(0.4, 0.5), "step": 0.05}
    np.testing.assert_array_equal(dataset.paths(points=record, **track)["x"], dataset.paths(points=POINTS[0], **track)["x"])
    asked = [dataset.ask("values", "p", points=one, time=0.4, format="csv") for one in (record, POINTS[:1])]
    assert asked[0] == asked[1]
    assert dataset.grid("p", time=0.4, samples=Turned(2, 3, 4))["p"].shape == (2, 3, 4)
    times = [0.8, 0.4, 0.6]
    by_place = dataset.values("p", POINTS, time=pytest.importorskip("pandas").Series(times, index=list("zyx")))
    np.testing.assert_array_equal(by_place, dataset.values("p", POINTS, time=times))
    xarray = pytest.importorskip("xarray")
    labelled = xarray.DataArray([2, 3, 4], dims="a", coords={"a": list("zyx")})
    assert dataset.grid("p", time=0.4, samples=labelled)["p"].shape == (2, 3, 4)


def test_points_that_are_not_finite_are_refused(dataset):
    points = [[1.0, np.nan, 2.0], [1.0, 1.0, 2.0]]
    for asked in (points, {"pairs": points}):
        with pytest.raises(ValueError, match="points must be finite"):
            dataset.dispersion(points=asked, time=slice(0, 0.2), step=0.1)


def test_units_are_compared_by_their_powers():
    for stated in ("m s-1", "m s**-1", "m*s-1", "m.s-1", "meters/second", "metre / s"):
        assert not contradicts(stated, "m/s")
    for stated, own in (("mm/s", "m/s"), ("m", "m/s"), ("m s", "m/s"), ("10 m", "m"), ("m2", "m"), ("m/s", None), ("(m", "m")):
        assert contradicts(stated, own)
    for stated in ("kg/(m s2)", "kg / (m s**2)", "kg m-1 s-2", "kg/m/s^2", "kilo gram", "kg m^-1 s⁻²", "kg m/(m s)^2"):
        assert contradicts(stated, "kg/(m s²)") == (stated == "kilo gram")
    assert not contradicts("meter ** 2 / second ** 2", "m²/s²")
    assert not contradicts("mins", "min") and not contradicts("kg m-3", "kg/m3")


def test_tables_of_many_points_have_frames_of_pandas(dataset):
    pytest.importorskip("pandas")
    points = np.random.default_rng(3).uniform(0, 6, (1500, 3))
    for table in (
        dataset.statistics("NA = p, null = u.x", points=points, time=0.4),
        dataset.submit("statistics", "NA = p, null = u.x", points=points, time=0.4).result(),
        dataset.statistics("NA = p, null = u.x", points=points[:5], time=0.4),
    ):
        frame = table.to_pandas()
        assert list(frame["of"]) == ["NA", "null"]
        np.testing.assert_allclose(frame["mean"], [one["mean"] for one in table["results"]])


def test_tables_of_many_pairs_have_frames_of_pandas(dataset):
    pytest.importorskip("pandas")
    pairs = np.random.default_rng(3).uniform(0, 6, (1500, 3))
    table = dataset.dispersion(points={"pairs": pairs}, time=slice(0.4, 0.5), step=0.05)
    np.testing.assert_allclose(table.to_pandas()["mean_square"], table["mean_square"])


def test_points_of_other_names_are_refused(dataset):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    table = pandas.DataFrame(POINTS, columns=list("xyz"))
    for wrong in (
        table.rename(columns={"z": "w"}),
        table.assign(id=1),
        table[["x", "y"]],
        xarray.DataArray(POINTS, dims=("n", "axis"), coords={"axis": ["r", "phi", "z"]}),
        {"x": [1.0], "y": [2.0]},
        [table["x"], table["y"]],
    ):
        with pytest.raises(ValueError, match="points are named x, y, z"):
            dataset.values("u", wrong, time=0.4)
    with pytest.raises(ValueError, match="different rows"):
        dataset.values("u", [table["x"], table["y"].iloc[::-1], table["z"]], time=0.4)
    with pytest.raises(ValueError, match="more than one dimension"):
        dataset.values("u", xarray.DataArray(POINTS, coords={"a": list("xyz"), "b": list("zyx")}), time=0.4)
    for wrong in ([["1", "2", "3"]], np.array([[1, 2, None]]), [[True, False, True]], np.ones((1, 3), complex)):
        for call in (lambda: dataset.values("u", wrong, time=0.4), lambda: dataset.paths(points=wrong, time=slice(0.4, 0.5))):
            with pytest.raises(TypeError, match="points must be numbers"):
                call()


def test_masked_numbers_are_refused_wherever_they_are(dataset, tmp_path):
    masked = np.ma.masked_array(POINTS, mask=[[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    structured = np.ma.array([(1.0, 2.0, 3.0)], mask=[(0, 1, 0)], dtype=[(name, float) for name in "xyz"])
    points = [masked, list(masked), [list(masked)], deque(masked), structured]
    dask, xarray = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    lazy = dask.ma.masked_less(dask.from_array(POINTS), 1.2)
    points += [lazy, xarray.DataArray(lazy, dims=("n", "axis"))]
    with pytest.raises(ValueError, match="masked"):
        dataset.interp("u", x=xarray.DataArray(lazy[:, 0], dims="n"), y=1.0, z=1.0, t=0.4)
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "masked.nc", "w") as file:
        file.createDimension("n", 3)
        file.createDimension("c", 3)
        variable = file.createVariable("points", "f8", ("n", "c"), fill_value=-999)
        times = file.createVariable("times", "f8", ("n",), fill_value=0.4)
        variable[:], times[:] = masked, [0.4, 0.6, 0.8]
        for one in (*points, variable):
            for call in (
                lambda: dataset.values("u", one, time=0.4),
                lambda: dataset.paths(points=one, time=slice(0.4, 0.5)),
                lambda: dataset.submit("values", "u", points=one, time=0.4),
            ):
                with pytest.raises(ValueError, match="masked"):
                    call()
        for time in (times, [times], np.ma.masked, [0.4, np.ma.masked]):
            with pytest.raises(ValueError, match="masked"):
                dataset.values("u", POINTS, time=time)


@pytest.mark.parametrize("type", ["timedelta64", "datetime64"])
def test_dates_and_their_differences_are_no_numbers(dataset, type):
    one = np.array([2], f"{type}[ns]")
    for time in (one, one[0], [one[0]], slice(one[0], 3)):
        for members in ({"time": time}, {"frame": time}, {"time": 0.4, "x": time}):
            with pytest.raises(ValueError, match="is no number"):
                dataset.grid("u", **members)


class Quantity:
    """A number with a unit, as astropy and pint have them."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __array__(self, dtype=None):
        return np.asarray(self.value, dtype)


def test_units_are_those_of_the_dataset(named):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    expected = named.values("sgsenergy", POINTS, frame=0)

    def array(unit, name="units"):
        return xarray.DataArray(POINTS, dims=("n", "axis"), coords={"axis": list("xyz")}, attrs={name: unit})

    table = pandas.DataFrame(POINTS, columns=["x [m]", "y", "z (metres)"])
    for points in (array("m"), array("metre"), array(b"m", "unit"), array(np.array(["m"])), array(""), table, Quantity(POINTS, "m")):
        np.testing.assert_array_equal(named.values("sgsenergy", points, frame=0), expected)
    in_mm = table.set_axis(["x [m]", "y", "z [mm]"], axis=1)
    series = [pandas.Series(column, name=f"{name} [mm]") for name, column in zip("xyz", POINTS.T)]
    for points in (array("mm"), array("millimetres"), array(b"mm", "unit"), array("1"), in_mm, series, Quantity(POINTS, "mm")):
        for call in (
            lambda: named.values("sgsenergy", points, frame=0),
            lambda: named.submit("values", "sgsenergy", points=points, frame=0),
            lambda: named.ask("values", "sgsenergy", points=points, frame=0),
            lambda: giverny.getData(asked, "sgsenergy", 1, "none", "lag4", "field", points),
        ):
            asked = giverny.turb_dataset("named", url=named._transport.url)
            with pytest.raises(ValueError, match='lengths of "named" are in m'):
                call()
    places = {"x": 1.0, "y": 1.0, "z": 1.0}
    for name in "xyz":
        for stated in (xarray.DataArray([1.0], dims="a", attrs={"units": "mm"}), pandas.Series([1.0], name="r [mm]")):
            with pytest.raises(ValueError, match="mm is stated, and lengths"):
                named.interp("sgsenergy", **{**places, name: stated}, frame=0)
            with pytest.raises(ValueError, match="mm is stated, and lengths"):
                named.grid("sgsenergy", **{name: slice(stated, 2)}, frame=0)
    with pytest.raises(ValueError, match='ms is stated, and times of "named" are in s'):
        named.values("sgsenergy", POINTS, time=xarray.DataArray(0.0, attrs={"units": "ms"}))
    asked, library, ms = giverny.turb_dataset("named", url=named._transport.url), libJHTDB(url=named._transport.url), Quantity(1, "ms")
    for call, text in (
        (lambda: giverny.getData(asked, "sgsenergy", ms, "none", "lag4", "field", POINTS), "ms is stated, and a number of a frame has no unit"),
        (lambda: giverny.getData(asked, "sgsenergy", 1, "none", "lag4", "field", POINTS, (1, ms)), "a number of a frame has no unit"),
        (lambda: library.getData(ms, POINTS, data_set="named", getFunction="getPressure"), "ms is stated, and times"),
        (lambda: library.getBoxFilter(ms, POINTS, data_set="named"), "ms is stated, and times"),
        (lambda: library.getBoxFilter(0, POINTS, data_set="named", filter_width=Quantity(1, "mm")), "mm is stated, and lengths"),
        (lambda: library.getPosition(0, ms, 0.1, POINTS, data_set="named"), "ms is stated, and times"),
        (lambda: library.getPosition(0, 1, ms, POINTS, data_set="named"), "ms is stated, and times"),
        (lambda: library.getPosition(0, 1, 0.1, POINTS, steps_to_keep=ms, data_set="named"), "steps_to_keep has no unit"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    in_mm = Quantity(0.5, "mm")
    for call, members, text in (
        ("paths", {"points": {"pairs": 2, "distance": in_mm}}, 'mm is stated, and lengths of "named" are in m'),
        ("structure_functions", {"what": "sgsenergy", "separations": {"lengths": Quantity([0.5], "mm"), "pairs": 9}}, "mm is stated, and lengths"),
        ("statistics", {"reduce": {"extremes": "sgsenergy", "apart": in_mm}}, "mm is stated, and lengths"),
        ("statistics", {"reduce": {"histogram": "heatflux.x", "bins": 2, "range": Quantity([0, 1], "mm")}}, "mm is stated, and numbers of heatflux.x"),
        ("nodes", {"what": "sgsenergy", "isovalue": Quantity(1.5, "J")}, "J is stated, and numbers of sgsenergy"),
    ):
        with pytest.raises(ValueError, match=text):
            named.ask(call, **members)
    assert [contradicts(one, own) for one, own in (("m", None), ("1", None), ("", "m"), ("1", "m"), ("µm", "um"))] == [True, False, False, True, False]


#: Numbers of nodes with names.
Lag = namedtuple("Lag", "x y z")


#: Members that take numbers in units, by what the units are.
WITH_UNITS = {
    "length": {"points", "x", "y", "z", "tolerance"},
    "time": {"time", "mean_time", "step", "drag"},
    "velocity": {"u_tau"},
    "diffusivity": {"diffusivity"},
    "quantity": {"isovalue", "range"},
}


def test_members_without_a_unit_refuse_units(named):
    methods = {name: one for name, one in vars(Calls).items() if not name.startswith("_")}
    members = sorted({name for one in methods.values() for name in inspect.signature(one).parameters} - {"self", "progress"})
    assert set.union(*WITH_UNITS.values()) < set(members)
    for name in members:
        for stated in (Quantity(1, "K"), Quantity([[1, 2, 3]], "K")):
            of = "are in" if any(name in some for some in WITH_UNITS.values()) else f"and {name} has no unit"
            with pytest.raises(ValueError, match=f"^K is stated, .*{of}"):
                named.ask("nodes", **{"what": "sgsenergy", name: stated})
        if name not in {*WITH_UNITS["length"], "what", "reduce", "events", "separations", "residence", "exit_from"}:
            with pytest.raises(ValueError, match="K is stated"):
                named.ask("nodes", **{"what": "sgsenergy", name: [Quantity(1, "K"), 2]})
    for outer, inner in (
        ("points", {"random": Quantity(9, "m")}),
        ("points", {"pairs": 2, "distance": 1, "seed": Quantity(1, "m")}),
        ("separations", {"lengths": 1, "pairs": Quantity(2, "m")}),
        ("events", {"highest": "sgsenergy", "count": Quantity(2, "m")}),
        ("reduce", [{"histogram": "sgsenergy", "bins": Quantity(2, "m")}]),
        ("lag", Lag(Quantity(1, "m"), 0, 0)),
        ("residence", {"x": slice(0, Quantity(2, "s"))}),
    ):
        with pytest.raises(ValueError, match="[ms] is stated, and"):
            named.ask("nodes", **{outer: inner})


def test_units_of_quantities_are_those_that_the_service_knows(monkeypatch, named):
    what = [
        {"name": "u", "shape": "vector", "formula": "velocity"},
        {"name": "p", "shape": "scalar", "formula": "pressure", "unit": "m²/s²"},
        {"name": "omega", "shape": "vector", "unit": "1/s"},
        {"name": "c", "shape": "scalar"},
        {"name": "velocity", "shape": "vector"},
        {"name": "speed", "shape": "scalar", "formula": "norm(u)"},
        {"name": "Q", "shape": "scalar"},
        {"name": "x", "shape": "scalar", "unit": "m"},
    ]
    for units, ratio in (({"length": "m", "time": "s"}, ""), ({"length": "m", "time": "s", "velocity": "mm/s"}, "m")):
        described = {**named.description, "units": units, "what": what}
        described["fields"] = [{"name": "velocity"}, {"name": "pressure"}, {"name": "c"}]
        monkeypatch.setattr(type(named), "description", described)
        speed = f"{ratio}m/s"
        taken = (
            ("p", "m2/s2"), ("q = p", "m^2 s-2"), (["p"], "m2/s2"), (" pressure ", "(m/s)^2"), ("u[0]", speed), ("u.x", speed),
            ("velocity.y", speed), ("norm(u)", speed), (None, speed), ("omega.z", "1/s"), ("c", "1"), ("c", ""),
        )
        for asked, unit in taken:
            assert named._given({"what": asked, "isovalue": Quantity(0.5, unit)}) == {**({"what": asked} if asked else {}), "isovalue": 0.5}
        for members, text in (
            ({"what": "p", "isovalue": Quantity(1, "m/s")}, 'm/s is stated, and numbers of p of "named" are in m²/s²'),
            ({"what": "u[0]", "range": Quantity([0, 1], "m")}, f'm is stated, and numbers of u[0] of "named" are in {speed}'),
            ({"what": "p, omega", "range": Quantity([0, 1], "m2/s2")}, 'm2/s2 is stated, and numbers of omega of "named" are in 1/s'),
            ({"what": "c", "isovalue": Quantity(1, "K")}, 'K is stated, and numbers of c of "named" are in no stated unit'),
            ({"what": "norm(u)*2", "isovalue": Quantity(1, "m/s")}, "m/s is stated, and the unit of norm(u)*2 is not known to the package; give a number"),
            ({"what": "Q", "isovalue": Quantity(1, "1/s2")}, "1/s2 is stated, and the unit of Q is not known to the package; give a number"),
            ({"what": "q = ddot(A,A)", "isovalue": Quantity(1, "1")}, "1 is stated, and the unit of ddot(A,A) is not known to the package; give a number"),
            ({"u_tau": Quantity(30, "cm/s")}, f'cm/s is stated, and velocities of "named" are in {speed}'),
            ({"diffusivity": Quantity(1, "cm^2/s")}, 'cm^2/s is stated, and diffusivities of "named" are in m^2/s'),
        ):
            with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
                named._given(members)
        named._given({"u_tau": Quantity(30, speed), "diffusivity": Quantity(1, "m2 s-1"), "step": Quantity(1, "s")})
        ranges = [[0, 1], Quantity([0, 1], "1/s")]
        named._given({"reduce": [{"joint": ["p", "omega.z"], "bins": [2, 2], "range": ranges}]})
        named._given({"reduce": {"conditional": "p", "on": "omega.x", "bins": 2, "range": ranges[1]}})
        for of in ({"joint": ["omega.z", "p"], "range": ranges}, {"conditional": "omega.z", "on": "p", "range": ranges[1]}):
            with pytest.raises(ValueError, match="1/s is stated, and numbers of p"):
                named._given({"reduce": of})
        named._given({"range": Quantity([0, 1], "m")}, "dispersion")
    monkeypatch.setattr(type(named), "description", {**described, "units": {}})
    with pytest.raises(ValueError, match=r"m is stated, and numbers of norm\(u\) of \"named\" are in no stated unit"):
        named._given({"what": "norm(u)", "isovalue": Quantity(1, "m")})
    named._given({"what": "norm(u)", "isovalue": Quantity(1, "1")})


def test_durations_and_objects_are_refused_in_one_line(named):
    pandas = pytest.importorskip("pandas")
    second = pandas.Timedelta(1, "s")
    for stated in (second, [second], slice(0, second), {"x": second}, datetime.timedelta(1)):
        with pytest.raises(ValueError, match="^[Tt]imedelta is no number: divide it by the unit of time of the dataset$"):
            named.ask("nodes", time=stated)
    for stated, name in ((pandas.Timestamp(0), "Timestamp"), ({1}, "set"), (object(), "object")):
        with pytest.raises(ValueError, match=f"^{name} is neither a number nor a text nor a list of these$"):
            named.ask("nodes", time=stated)


def test_datasets_of_a_file_are_columns_by_their_names(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "points.h5", "w") as file:
        columns = [file.create_dataset(f"group/{name}", data=column) for name, column in zip("zyxw", [*POINTS.T, POINTS[0]])]
        np.testing.assert_array_equal(points_of(columns[:3]), POINTS[:, ::-1])
        with pytest.raises(ValueError, match="points are named x, y, z"):
            points_of(columns[1:])


def test_interp_names_times_of_labelled_arrays(dataset):
    xarray, pandas = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    x = xarray.DataArray([2.0, 3.0, 4.0], dims="p", coords={"p": [10, 20, 30]})
    for members in ({"frame": [0, 1, 2]}, {"time": slice(0.4, 0.6)}, {"time": [0.4]}, {"time": "all"}, {"frame": range(3)}):
        with pytest.raises(ValueError, match="give several times as t"):
            dataset.interp("p", x=x, y=1.0, z=2.0, **members)
    series = dataset.interp("p", x=x, y=1.0, z=2.0, t=xarray.DataArray([0.4, 0.6], dims="t"))
    assert series.dims == ("p", "t")
    np.testing.assert_array_equal(series[:, 1], dataset.interp("p", x=x, y=1.0, z=2.0, time="0.6"))
    with pytest.raises(ValueError, match="rename the dim component"):
        dataset.interp("u", x=x.rename(p="component"), y=1.0, z=2.0, time=0.4)
    columns = pandas.Series([1.0, 2.0]), pandas.Series([1.0, 2.0], index=[1, 0])
    with pytest.raises(ValueError, match="different rows"):
        dataset.interp("p", x=columns[0], y=columns[1], z=1.0, t=0.4)
