"""Values, shapes and errors of the calls. Expected numbers come from the stored nodes, from README.md, or from numpy."""

import http.server
import importlib.util
import json
import multiprocessing
import pickle
import socket
import threading

import numpy as np
import pytest

import fieldprobe
from fieldprobe import transport

H = 2 * np.pi / 32


def test_the_call_of_the_readme(dataset):
    answer = dataset.values("u", [1, 2, 3], time=0.5, method="lag8", time_method="pchip")
    assert answer.dtype == np.float32
    np.testing.assert_array_equal(answer, np.float32([-0.13712144, 0.04219034, 0.26850626]))


def test_one_quantity_is_an_array_and_several_are_a_dict(dataset):
    points = np.random.default_rng(3).uniform(0, 6, (4, 2, 3))
    several = dataset.values(["u", "Q", "s = ddot(S, S)", "A", "2*s"], points, time=0.6)
    assert {name: array.shape for name, array in several.items()} == {
        "u": (4, 2, 3),
        "Q": (4, 2),
        "s": (4, 2),
        "A": (4, 2, 3, 3),
        "2*s": (4, 2),
    }
    assert list(dataset.values("u, p", points, time=0.6)) == ["u", "p"]
    assert list(dataset.values(["p"], points, time=0.6)) == ["p"]
    np.testing.assert_array_equal(dataset.values("Q", points, time=0.6), several["Q"])
    a = several["A"].astype(np.float64)
    np.testing.assert_allclose(several["Q"], -np.trace(a @ a, axis1=-2, axis2=-1) / 2, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(several["2*s"], 2 * several["s"])


def test_fields_are_asked_by_name(named):
    points = np.random.default_rng(4).uniform(1, 2, (4, 2, 3)).astype(np.float32)
    x, y, _ = np.moveaxis(points, -1, 0)
    energy = named.values("sgsenergy", points, frame=0)
    np.testing.assert_allclose(energy, 1 + x * y, rtol=1e-5)
    np.testing.assert_allclose(named.values("heatflux", points, frame=0), points, rtol=1e-5)
    slope = named.values("grad(sgsenergy)", points, frame=0)
    np.testing.assert_allclose(slope, np.stack([y, x, 0 * x], axis=-1), atol=1e-5)
    nodes = named.nodes("sgsenergy", frame=0, i=range(2, 4), j=3, k=4)
    np.testing.assert_allclose(nodes["sgsenergy"], [1 + 0.5 * 0.75, 1 + 0.75 * 0.75], rtol=1e-6)
    mean = named.statistics("sgsenergy", frame=0)["results"][0]["mean"]
    np.testing.assert_allclose(mean, 1 + (0.25 * 7.5) ** 2)
    with pytest.raises(fieldprobe.ServiceError, match="soil") as unknown:
        named.values("soil", points, frame=0)
    assert unknown.value.member == "what"


def test_values_at_nodes_are_the_stored_ones(dataset):
    stored = dataset.nodes("u", frame=2)
    assert stored.dims == ("z", "y", "x")
    assert stored["u"].shape == (32, 32, 32, 3)
    z, y, x = np.meshgrid(*(stored.coords[axis] for axis in "zyx"), indexing="ij")
    points = np.stack([x, y, z], axis=-1)
    values = dataset.values("u", points, frame=2, method="nearest", time_method="nearest")
    np.testing.assert_array_equal(values, stored["u"])


def test_regions_are_ranges_slices_and_numbers(dataset):
    whole = np.roll(dataset.nodes("p", frame=2)["p"], 2, axis=2)
    by_slice = dataset.nodes("p", frame=2, i=slice(30, 34), j=slice(1, 9, 2), k=slice(2, 5))
    np.testing.assert_array_equal(by_slice["p"], whole[2:5, 1:9:2, 0:4])
    by_text = dataset.nodes("p", frame=np.int64(2), i="30:34", j="1:9:2", k="2:5")
    np.testing.assert_array_equal(by_text["p"], by_slice["p"])
    plane = dataset.nodes("p", frame=2, z=np.float64(2 * H))
    assert plane.dims == ("y", "x") and plane.coords["z"] == pytest.approx(2 * H)
    np.testing.assert_array_equal(np.asarray(plane), np.roll(whole, -2, axis=2)[2])
    lengths = dataset.nodes("p", frame=2, x=slice(0, 3 * H), y=slice(H, 8 * H), z=2 * H)
    np.testing.assert_array_equal(lengths["p"], whole[2, 1:9, 2:6])


def test_parts_do_not_change_values(dataset, monkeypatch):
    points = np.random.default_rng(7).uniform(0, 2 * np.pi, (11, 7, 3))
    whole = dataset.values(["A", "p"], points, time=0.73)
    assert whole["A"].shape == (11, 7, 3, 3)
    told = []
    monkeypatch.setattr(dataset, "_points", 10)
    parts = dataset.values(["A", "p"], points, time=0.73, progress=lambda done, total: told.append((done, total)))
    for name in whole:
        np.testing.assert_array_equal(parts[name], whole[name])
    assert told == [(min(n, 77), 77) for n in range(10, 90, 10)]
    for times in ([0.6, 0.8], "0.6:0.8:0.2"):
        several = dataset.values("p", points, time=times, progress=lambda done, total: told.append(done))
        assert several.shape == (2, 11, 7) and told[-2:] == [75, 77]
        np.testing.assert_array_equal(several[1], dataset.values("p", points, time=0.8))
    assert dataset.values("p", points[0, :3], frame="all", time_method="nearest").shape == (len(dataset.times), 3)


def test_times_are_numbers(dataset):
    with pytest.raises(ValueError, match="is no number"):
        dataset.values("p", [[1, 2, 3]], time=np.array([1], "timedelta64[s]"))


def test_times_may_be_repeated(dataset):
    points = [[1, 2, 3], [4, 5, 6]]
    for times in ({"time": [0.4, 0.4, 0.8]}, {"frame": [2, 2, 4]}):
        rows = dataset.values("p", points, **times)
        np.testing.assert_array_equal(dataset.values("p", "1,2,3;4,5,6", **times), rows)
        assert rows.shape == (3, 2) and rows[0, 0] == rows[1, 0] != rows[2, 0]
    assert dataset.values("p", {"random": 5}, time=[0.4, 0.4]).shape == (2, 5)


def test_t_names_the_time_and_nothing_else(dataset):
    points = [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(fieldprobe.ServiceError, match="t is a quantity of isotropic32"):
        dataset.values("t = p", points, time=0.4)
    np.testing.assert_array_equal(dataset.values("t", points, time=0.5), [0.5, 0.5])


def test_more_times_than_an_address_holds(dataset):
    times = np.linspace(0, 1.2, 1001)
    points = np.random.default_rng(7).uniform(0, 6, (3, 3))
    answer = dataset.values(["u", "p"], points, time=times)
    assert answer["u"].shape == (1001, 3, 3) and answer["p"].shape == (1001, 3)
    for i in (0, 149, 150, 1000):
        np.testing.assert_array_equal(answer["u"][i], dataset.values("u", points, time=times[i]))
    with pytest.raises(ValueError, match="time must be finite"):
        dataset.values("u", points, time=[0.4, np.nan])


def test_a_time_for_each_point(dataset):
    points = np.random.default_rng(8).uniform(0, 2 * np.pi, (4, 3))
    times = np.array([0.1, 0.5, 0.1, 1.3])
    answer = dataset.values("p", np.column_stack([points, times]), time="each")
    for i, time in enumerate(times):
        np.testing.assert_array_equal(answer[i], dataset.values("p", points[i], time=time))


def test_tensors_have_their_places(dataset):
    point = np.array([1.0, 2.0, 3.0])
    step = 1e-2
    found = dataset.values(["A", "hess(p)", "hess(u)", "lap(u)"], point, time=0.6, method="M2Q8", derivatives="Fd4Lag4")
    smooth = dataset.values(["A", "hess(p)"], point, time=0.6, method="M2Q8")
    for j in range(3):
        d = np.zeros(3)
        d[j] = step
        ahead, behind = (dataset.values(["u", "grad(p)"], point + sign * d, time=0.6, method="M2Q8") for sign in (1, -1))
        np.testing.assert_allclose(smooth["A"][:, j], (ahead["u"] - behind["u"]) / (2 * step), atol=2e-3)
        np.testing.assert_allclose(smooth["hess(p)"][:, j], (ahead["grad(p)"] - behind["grad(p)"]) / (2 * step), atol=5e-3)
    np.testing.assert_array_equal(found["hess(p)"], found["hess(p)"].T)
    assert found["hess(u)"].shape == (3, 3, 3)
    np.testing.assert_allclose(np.trace(found["hess(u)"], axis1=1, axis2=2), found["lap(u)"], rtol=1e-5, atol=1e-5)


def test_box_filters_are_means_over_cubes(dataset):
    """A cube of three spacings is cut into 4^3 leaves, interpolated at their centres by Lag4 (docs/operations.md)."""
    point, width = np.array([1.0, 2.0, 3.0]), 3 * H
    offsets = (np.arange(4) - 1.5) * width / 4
    leaves = point + np.stack(np.meshgrid(offsets, offsets, offsets), axis=-1).reshape(-1, 3)
    how = {"frame": 2, "time_method": "nearest"}
    u = dataset.values("u", leaves, method="Lag4", **how).astype(np.float64)
    filtered = dataset.values(["filter(u)", "tau"], point, filter=f"box:{width}", **how)
    np.testing.assert_allclose(filtered["filter(u)"], u.mean(axis=0), rtol=1e-5)
    tau = u.T @ u / 64 - np.outer(u.mean(axis=0), u.mean(axis=0))
    np.testing.assert_allclose(filtered["tau"], tau, rtol=1e-4, atol=1e-7)


def test_paths_begin_at_the_points_and_carry_values(dataset):
    seeds = np.random.default_rng(9).uniform(0, 6, (5, 3)).astype(np.float32)
    rows = dataset.paths("p", seeds, time=slice(0.0, 0.4), step=0.02, every=5)
    places = np.stack([rows["x"], rows["y"], rows["z"]], axis=-1).reshape(5, 5, 3)
    np.testing.assert_allclose(rows["t"].reshape(5, 5)[0], [0, 0.1, 0.2, 0.3, 0.4], atol=1e-6)
    np.testing.assert_array_equal(places[:, 0], seeds)
    assert np.isnan(rows["exit"]).all()
    np.testing.assert_array_equal(rows["p"].reshape(5, 5)[:, 2], dataset.values("p", places[:, 2], time=0.2))
    last = dataset.paths(points=seeds, time="0:0.4", step=0.02, last=True)
    np.testing.assert_array_equal(last["x"], places[:, -1, 0])
    many = np.random.default_rng(1).uniform(0, 6, (1500, 3))
    assert len(dataset.paths(points=many, time=slice(0, 0.02), step=0.02, last=True)["x"]) == 1500


def test_grids_know_their_coordinates(dataset):
    grid = dataset.grid(["p", "u"], time=0.6, samples=[2, 3, 4])
    assert grid.dims == ("z", "y", "x") and grid["p"].shape == (4, 3, 2)
    z, y, x = np.meshgrid(*(grid.coords[axis] for axis in grid.dims), indexing="ij")
    np.testing.assert_array_equal(grid["p"], dataset.values("p", np.stack([x, y, z], axis=-1), time=0.6))
    assert grid["u"].shape == (4, 3, 2, 3)
    assert grid.question["call"] == "grid" and grid.question["method"] == "Lag8"
    assert repr(grid) == "<grid of p, u along z, y, x>"
    with pytest.raises(TypeError, match="name one of p, u"):
        np.asarray(grid)


def test_grids_become_xarray_and_plots(dataset):
    xarray = pytest.importorskip("xarray")
    grid = dataset.grid(["norm(omega)", "A"], z=3.0, time=[0.6, 0.8], samples=4)
    opened = grid.to_xarray()
    assert isinstance(opened, xarray.Dataset)
    assert opened["norm(omega)"].dims == ("t", "y", "x") and opened["A"].dims == ("t", "y", "x", "component", "direction")
    assert opened.z == 3.0
    assert json.loads(opened.attrs["question"])["call"] == "grid"
    np.testing.assert_array_equal(opened["norm(omega)"].sel(t=0.8, method="nearest"), grid["norm(omega)"][1])
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    dataset.grid("Q", z=3.0, time=0.6, samples=4).plot(cmap="magma")
    dataset.grid("p", z=3.0, y=1, time=0.6, samples=4).plot()
    with pytest.raises(ValueError, match="a plot shows a scalar on a line or a plane"):
        grid.plot()


def test_a_single_node_is_a_grid_without_dimensions(dataset):
    node = dataset.nodes(["u", "p"], frame=2, i=5, j=4, k=3)
    assert node.dims == () and node["p"].shape == () and node["u"].shape == (3,)
    assert node.coords["x"] == pytest.approx(5 * H)


def test_flow_maps_are_grids(dataset):
    grid = dataset.flow_map(z=1.5, samples=4, time="0.4:0.6", step=0.05)
    assert grid["map"].shape == (4, 4, 3) and grid["gradient"].shape == (4, 4, 3, 3) and grid["ftle"].shape == (4, 4)
    stretch = np.sqrt(np.linalg.eigvalsh(np.swapaxes(grid["gradient"], -1, -2) @ grid["gradient"])[..., -1])
    np.testing.assert_allclose(grid["ftle"], np.log(stretch) / 0.2, rtol=1e-4, atol=1e-5)


def test_find_lists_the_strongest_first(dataset):
    rows = dataset.find("Q, p", where="Q > 4*rms(Q)", frame=2, limit=5)
    assert list(rows) == ["i", "j", "k", "x", "y", "z", "Q", "p"]
    assert (np.diff(rows["Q"]) <= 0).all() and len(rows["Q"]) == 5
    q = dataset.nodes("Q", frame=2)["Q"]
    assert rows.total == (q > 4 * np.sqrt(np.mean(q.astype(np.float64) ** 2))).sum()
    np.testing.assert_allclose(rows["Q"], np.sort(q.ravel())[::-1][:5], rtol=1e-5)


def test_tables_are_the_members_of_json(dataset):
    p = dataset.nodes("p", frame=2)["p"].astype(np.float64)
    results = dataset.statistics(reduce=[{"moments": "p", "order": np.int64(2)}, {"histogram": "p", "bins": 4, "range": "auto"}], frame=2)
    moments, histogram = results["results"]
    np.testing.assert_allclose(moments["mean"], p.mean(), atol=1e-7)
    assert histogram["counts"].sum() == p.size and isinstance(histogram["edges"], np.ndarray)
    profile = dataset.statistics("u.x", over=["x", "z"], frame=2)["results"][0]
    np.testing.assert_allclose(profile["mean"], dataset.nodes("u.x", frame=2)["u.x"].mean(axis=(0, 2), dtype=np.float64), atol=1e-6)
    spectrum = dataset.spectrum(frame=2)
    np.testing.assert_allclose(spectrum["E"].sum(), (dataset.nodes("u", frame=2)["u"].astype(np.float64) ** 2).sum(axis=-1).mean() / 2, rtol=1e-6)
    increments = dataset.structure_functions(frame=2, separations=np.array([1, 2]), axis="x")
    assert increments["question"]["call"] == "structure_functions"
    correlation = dataset.correlation("u.x", axis="x", frame=2)
    assert correlation["question"]["call"] == "correlation"
    events = dataset.around("p", where="Q > 4*rms(Q)", lag="1,0,0", frame=2)
    assert events["events"] == (dataset.find(where="Q > 4*rms(Q)", frame=2)).total
    pandas = pytest.importorskip("pandas")
    table = spectrum.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    np.testing.assert_allclose(table["E"], spectrum["E"])


def test_structures_have_labels(dataset):
    found = dataset.structures("p", where="norm(omega) > 2*rms(norm(omega))", frame=2, labels=True)
    labels = found["labels"]
    assert labels.shape == (32, 32, 32)
    assert [one["nodes"] for one in found["structures"]] == [(labels == n + 1).sum() for n in range(len(found["structures"]))]


def test_dispersion_of_pairs(dataset):
    table = dataset.dispersion({"pairs": 20, "distance": 0.2, "seed": 1}, time="0.4:0.6", step=0.05)
    np.testing.assert_allclose(table["times"], [0.4, 0.45, 0.5, 0.55, 0.6])
    assert table["particles"].tolist() == [40] * 5


def test_jobs_return_what_calls_return(dataset, url):
    points = np.random.default_rng(5).uniform(0, 6, (200, 3)).astype(np.float32)
    # As after a pause: the service has closed the connection.
    dataset._transport._connection().connect()
    dataset._transport._connection().sock.shutdown(socket.SHUT_RDWR)
    job = dataset.submit("values", ["u", "Q"], points=points, time=0.4)
    assert job.state in ("queued", "running", "done")
    answer, direct = job.result(), dataset.values(["u", "Q"], points, time=0.4)
    for name in direct:
        np.testing.assert_array_equal(answer[name], direct[name])
    service = fieldprobe.connect(url)
    assert job.id in [one.id for one in service.jobs]
    again = service.job(job.id).result()
    np.testing.assert_array_equal(again["Q"], direct["Q"])
    for places, time in ((points[0], 0.4), (points[:6].reshape(2, 3, 3), [0.4, 0.6]), (points.reshape(20, 10, 3), [0.4])):
        one = dataset.submit("values", "u", points=places, time=time).result()
        np.testing.assert_array_equal(one, dataset.values("u", places, time=time))
    found = dataset.submit("find", "Q", where="Q > 4*rms(Q)", frame=2, limit=5).result()
    assert found.total == dataset.find("Q", where="Q > 4*rms(Q)", frame=2, limit=5).total > 5
    grid = dataset.submit("grid", "p", z=1, time=0.4, samples=4).result()
    np.testing.assert_array_equal(grid["p"], dataset.grid("p", z=1, time=0.4, samples=4)["p"])
    table = dataset.submit("dispersion", points={"pairs": 20, "distance": 0.2}, time=slice(0.4, 0.6), step=0.05).result()
    direct = dataset.dispersion({"pairs": 20, "distance": 0.2}, time=slice(0.4, 0.6), step=0.05)
    np.testing.assert_array_equal(table["mean_square"], direct["mean_square"])
    with pytest.raises(fieldprobe.ServiceError, match="time"):
        dataset.submit("values", "u", points=points, time=99).result()
    job.look().cancel()
    with pytest.raises(fieldprobe.ServiceError):
        service.job(job.id)


FORKED = []


def _is_right(case):
    points, expected = case
    return all(np.array_equal(FORKED[0].values("p", points, time=0.6), expected) for _ in range(30))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_processes_of_a_fork_do_not_share_a_connection(dataset):
    points = np.random.default_rng(6).uniform(0, 6, (4, 50, 3))
    FORKED[:] = [dataset]
    cases = [(some, dataset.values("p", some, time=0.6)) for some in points]
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert all(pool.map(_is_right, cases, chunksize=1))
    assert _is_right(cases[0])


def test_datasets_and_errors_pass_between_processes(dataset):
    again = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(again.values("p", [1, 2, 3], time=0.6), dataset.values("p", [1, 2, 3], time=0.6))
    with pytest.raises(fieldprobe.ServiceError) as refused:
        dataset.grid("u", time="x", method="Lag9")
    error = pickle.loads(pickle.dumps(refused.value))
    assert (str(error), error.__dict__) == (str(refused.value), refused.value.__dict__)


def test_any_form_as_bytes(dataset):
    picture = dataset.ask("grid", "Q", z=3.14, time=0.6, samples=16, range=[-50, 50], format="png")
    assert picture[:4] == b"\x89PNG"
    assert dataset.ask("values", "u", points=[[1, 2, 3]], time=0.5, format="csv").decode().splitlines()[0] == "x,y,z,u.x,u.y,u.z"


def test_interp_broadcasts(dataset):
    xarray = pytest.importorskip("xarray")
    with pytest.raises(TypeError, match="must all be DataArrays, or numbers"):
        dataset.interp("p", x=xarray.DataArray([1.0, 2.0, 3.0], dims="a"), y=np.ones(3), z=1.0, t=0.5)
    x = np.array([1.0, 2.0, 3.0])
    by_shape = dataset.interp("u", x=x, y=2.0, z=3.0, t=0.5)
    np.testing.assert_array_equal(by_shape, dataset.values("u", np.stack([x, 0 * x + 2, 0 * x + 3], axis=-1), time=0.5))
    own = dataset.interp(["u", "p"], x=x, y=2.0, z=3.0, t=np.array([0.5, 0.6, 0.7]))
    np.testing.assert_array_equal(own["p"][1], dataset.values("p", [2, 2, 3], time=0.6))
    a = xarray.DataArray(x, dims="a", coords={"a": [10, 20, 30]})
    named = dataset.interp("p", x=a, y=xarray.DataArray([2.0, 4.0], dims="b"), z=3.0, t=0.5)
    assert named.dims == ("a", "b") and named.name == "p"
    np.testing.assert_array_equal(named.sel(a=20).values, dataset.values("p", [[2, 2, 3], [2, 4, 3]], time=0.5))


@pytest.mark.parametrize("compressed", [False, True])
def test_the_zarr_view_equals_the_nodes(dataset, compressed):
    for name in ("xarray", "zarr", "fsspec", "aiohttp"):
        pytest.importorskip(name)
    opened = dataset.zarr(compressed=compressed)
    assert opened.velocity.dims == ("t", "z", "y", "x", "component")
    np.testing.assert_allclose(opened.t, dataset.times)
    np.testing.assert_array_equal(opened.x, np.arange(32) * (2 * np.pi / 32))
    np.testing.assert_array_equal(opened.velocity.sel(t=0.6, method="nearest").values, dataset.nodes("u", time=0.6)["u"])
    assert opened.attrs["fieldprobe_manifest"] == dataset.digest
    derived = dataset.zarr("derived", compressed)
    shown = derived.divergence.sel(t=0.6, method="nearest")[3, 4, 5].values
    np.testing.assert_allclose(shown, dataset.nodes("tr(A)", time=0.6, i=5, j=4, k=3)["tr(A)"], atol=1e-5)


def test_the_zarr_view_is_of_the_version_that_was_opened(replaced):
    for name in ("xarray", "zarr", "fsspec", "aiohttp"):
        pytest.importorskip(name)
    url, replace = replaced
    dataset = fieldprobe.connect(url)["c"]
    opened = dataset.zarr()
    assert (opened.pressure[0].values == 1).all()
    replace()
    try:
        later = opened.pressure[1].values
    except Exception as error:
        assert "412" in str(error)
    else:
        assert np.isnan(later).all()  # zarr 2 takes what is refused for missing.
    assert (dataset.zarr().pressure.values == 2).all()


def test_errors_say_what_is_wrong(dataset, url):
    with pytest.raises(fieldprobe.ServiceError) as out_of_range:
        dataset.values("u", [1, 2, 3], time=99)
    assert (out_of_range.value.code, out_of_range.value.member, out_of_range.value.status) == ("OutOfRange", "time", 422)
    with pytest.raises(fieldprobe.ServiceError, match="omega") as misnamed:
        dataset.values("w", [1, 2, 3], time=0.5)
    assert misnamed.value.member == "what"
    with pytest.raises(fieldprobe.ServiceError) as several:
        dataset.grid("u", time="x", method="Lag9")
    assert [one["member"] for one in several.value.errors] == ["time", "method"]
    with pytest.raises(TypeError, match="tim"):
        dataset.grid("u", tim=0.5)
    with pytest.raises(ValueError, match=r"points must have the shape \(…, 3\), not \(2,\)"):
        dataset.values("u", [1, 2], time=0.5)
    for empty in ({"time": []}, {"time": np.array([])}, {"frame": []}):
        with pytest.raises(ValueError, match="(time|frame) must hold at least one item"):
            dataset.values("u", [[1, 2, 3]], **empty)
    with pytest.raises(ValueError, match="points must hold at least one point"):
        dataset.values("u", np.zeros((0, 3)), time=0.5)
    with pytest.raises(TypeError, match="points must be numbers"):
        dataset.values("u", [["a", "b", "c"]], time=0.5)
    with pytest.raises(fieldprobe.ServiceError) as unknown:
        fieldprobe.connect(url)["nope"]
    assert unknown.value.status == 404
    with pytest.raises(ValueError, match="url must be an address"):
        fieldprobe.connect("127.0.0.1:8080")
    with pytest.raises(fieldprobe.ServiceUnreachable, match="http://127.0.0.1:9 could not be reached"):
        fieldprobe.connect("http://127.0.0.1:9", retries=0)


def test_serve_starts_a_service_and_says_why_it_cannot(monkeypatch, tmp_path):
    monkeypatch.setenv("FIELDPROBE", "no-such-program-of-fieldprobe")
    with pytest.raises(fieldprobe.FieldprobeError, match="is not on PATH"):
        fieldprobe.serve()


@pytest.mark.skipif("SERVICE_PROGRAM" not in __import__("os").environ, reason="SERVICE_PROGRAM names no program")
def test_serve_serves_a_folder(monkeypatch, tmp_path):
    import os

    monkeypatch.setenv("FIELDPROBE", os.environ["SERVICE_PROGRAM"])
    monkeypatch.delenv("FIELDPROBE_URL")  # The service knows no such setting.
    service = fieldprobe.serve(os.environ["SERVICE_DATA"], state=tmp_path)
    assert service.datasets == ["isotropic32"]
    assert service["isotropic32"].values("u", [1, 2, 3], time=0.5).shape == (3,)
    service.process.terminate()
    assert service.process.wait(20) == 0
    with pytest.raises(fieldprobe.FieldprobeError, match="none-of-these"):
        fieldprobe.serve(tmp_path, none_of_these=1)


def test_jobs_whose_answer_is_lost_are_started_once(dataset, url, monkeypatch):
    exchange, lost = transport.Transport._exchange, []

    def losing(self, method, *given):
        answer = exchange(self, method, *given)
        if not lost:
            lost.append(answer)
            raise ConnectionResetError
        return answer

    before = len(fieldprobe.connect(url).jobs)
    monkeypatch.setattr(transport.Transport, "_exchange", losing)
    many = np.random.default_rng(2).uniform(0, 6, (1500, 3))
    for points in ([[1, 2, 3]], many):
        lost.clear()
        job = dataset.submit("values", "p", points=points, time=0.4)
        np.testing.assert_array_equal(job.result(), dataset.values("p", points, time=0.4))
        assert job.id == json.loads(lost[0][1].body)["id"]
    assert len(fieldprobe.connect(url).jobs) == before + 2


def test_an_answer_that_is_changed_on_its_way_is_an_error_of_the_package(dataset, monkeypatch):
    monkeypatch.setattr(transport.Transport, "post", lambda *_: transport.Answer(b"<html>Sign in</html>", {}))
    with pytest.raises(fieldprobe.FieldprobeError, match="<html>Sign in"):
        dataset.values("p", [1, 2, 3], time=0.4)


class Flaky(http.server.BaseHTTPRequestHandler):
    """Breaks the first connection, is busy once, and then lists no datasets."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def do_GET(self):
        Flaky.asked += 1
        if Flaky.asked == 1:
            self.connection.close()
            self.close_connection = True
            return
        status, body = (503, b"{}") if Flaky.asked == 2 else (200, json.dumps({"version": "1", "datasets": []}).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_broken_connections_and_busy_services_are_asked_again():
    server = http.server.HTTPServer(("127.0.0.1", 0), Flaky)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        assert list(fieldprobe.connect(f"http://127.0.0.1:{server.server_port}")) == []
        assert Flaky.asked == 3
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_points_keep_their_labels_and_masks(dataset):
    points = np.random.default_rng(5).uniform(0, 6, (5, 3))
    expected = dataset.values("u", points, time=0.6)
    for other in (points.astype(">f8"), np.asfortranarray(points), np.repeat(points, 2, axis=0)[::2]):
        np.testing.assert_array_equal(dataset.values("u", other, time=0.6), expected)
    masked = np.ma.masked_array(points, mask=False)
    np.testing.assert_array_equal(dataset.values("u", masked, time=0.6), expected)
    masked[2, 1] = np.ma.masked
    for call in (dataset.values, dataset.paths):
        with pytest.raises(ValueError, match="masked"):
            call("u", masked, time=slice(0.4, 0.6) if call == dataset.paths else 0.6)
    with pytest.raises(ValueError, match="masked"):
        dataset.interp("u", x=masked[:, 0], y=masked[:, 1], z=1.0, t=0.6)


def test_points_of_pandas_and_xarray_are_taken_by_name(dataset):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    points = np.random.default_rng(6).uniform(0, 6, (5, 3))
    expected = dataset.values("u", points, time=0.6)
    table = pandas.DataFrame(points, columns=list("xyz"))
    for other in (table, table[list("zxy")], pandas.DataFrame(points)):
        np.testing.assert_array_equal(dataset.values("u", other, time=0.6), expected)
    with pytest.raises(ValueError, match="not i, x, y"):
        dataset.values("u", table.rename(columns={"x": "i", "y": "x", "z": "y"}), time=0.6)
    array = xarray.DataArray(points[:, ::-1], dims=("n", "axis"), coords={"axis": list("zyx")})
    turned = table[list("zyx")]
    levels = turned.set_axis(pandas.MultiIndex.from_product([["place"], list("zyx")]), axis=1)
    rows = [one for _, one in turned.iterrows()]
    apart = xarray.DataArray(points[:, ::-1], dims=("n", "axis"), coords={"name": ("axis", list("zyx"))})
    octets = turned.set_axis([b"z", b"y", b"x"], axis=1)
    for other in (array, array.T, rows, list(turned.itertuples(index=False)), turned.T, levels, apart, octets):
        np.testing.assert_array_equal(dataset.values("u", other, time=0.6), expected)
    np.testing.assert_array_equal(dataset.values("u", table[list("zyx")].iloc[0], time=0.6), expected[0])
    paths = [dataset.paths(points=one, time=slice(0.4, 0.5), step=0.05)["x"] for one in (points[:1], [table[list("zyx")].iloc[0]])]
    np.testing.assert_array_equal(*paths)
    with pytest.raises(ValueError, match="masked"):
        dataset.values("u", [np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])], time=0.6)


def test_a_time_asked_twice_is_answered_twice(dataset):
    answer = dataset.values("p", [[1, 2, 3], [4, 5, 6]], time=[0.6, 0.4, 0.6])
    assert answer.shape == (3, 2)
    np.testing.assert_array_equal(answer[0], answer[2])


@pytest.mark.parametrize("members", [{"time": [0.5]}, {"time": np.array([0.4])}, {"frame": [2]}])
def test_a_list_of_one_time_is_a_dimension_as_longer_ones_are(dataset, members):
    points = np.random.default_rng(5).uniform(0, 6, (4, 2, 3))
    (name, (only,)) = next(iter(members.items()))
    answer = dataset.values("u", points, **members)
    assert answer.shape == (1, 4, 2, 3)
    np.testing.assert_array_equal(answer[0], dataset.values("u", points, **{name: only}))


def test_many_particles_have_initial_velocities(dataset):
    start = np.c_[np.random.default_rng(6).uniform(0, 6, (1200, 3)), np.full((1200, 3), 0.1)]
    options = {"time": slice(0.4, 0.6), "step": 0.1, "drag": 0.5, "last": True}
    many = dataset.paths(points=start, **options)
    few = dataset.paths(points=start[:7], **options)
    np.testing.assert_array_equal(many["x"][:7], few["x"])


def test_an_answer_is_of_one_version_of_other_datasets(dataset):
    pytest.importorskip("pandas")
    table = dataset.statistics("field(p, 'isotropic32') - p", frame=0)
    assert len(table.to_pandas()) == 1
    table["manifests"] = {"isotropic32": "0"}
    with pytest.raises(fieldprobe.DatasetReplaced):
        table.to_pandas()


def test_an_answer_is_of_one_version_of_the_data(replaced, monkeypatch):
    url, replace = replaced
    dataset = fieldprobe.connect(url)["c"]
    table, before = dataset.statistics("u", frame=0), dataset.digest
    monkeypatch.setattr(dataset, "_points", 10)
    with pytest.raises(fieldprobe.DatasetReplaced, match="c was replaced"):
        dataset.values("u", np.zeros((30, 3)), frame=0, progress=lambda done, total: replace() if done == 10 else None)
    if importlib.util.find_spec("pandas"):
        with pytest.raises(fieldprobe.DatasetReplaced):
            table.to_pandas()
    assert (dataset.values("u", np.zeros((30, 3)), frame=0) == 2).all()
    assert before == table["manifest"] and dataset.digest == dataset.statistics("u", frame=0)["manifest"] != before
