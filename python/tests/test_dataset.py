"""Values, shapes and errors of a dataset. Expected numbers come from the stored nodes, from README.md, or from numpy."""

import http.server
import json
import threading

import numpy as np
import pytest

import fieldprobe

H = 2 * np.pi / 32


def test_the_call_of_the_readme(dataset):
    answer = dataset.velocity([1, 2, 3], t=0.5, method="lag8", time="pchip")
    assert answer.dtype == np.float32
    np.testing.assert_array_equal(answer, np.float32([-0.13712144, 0.04219034, 0.26850626]))


def test_fields_are_asked_by_name(named):
    points = np.random.default_rng(4).uniform(1, 2, (4, 2, 3)).astype(np.float32)
    x, y, _ = np.moveaxis(points, -1, 0)
    energy = named.field("sgsenergy", points, t=0, time="None")
    assert energy.shape == (4, 2)
    np.testing.assert_allclose(energy, 1 + x * y, rtol=1e-5)
    np.testing.assert_allclose(named.field("heatflux", points, t=0, time="None"), points, rtol=1e-5)
    slope = named.field_gradient("sgsenergy", points, t=0, time="None")
    np.testing.assert_allclose(slope, np.stack([y, x, 0 * x], axis=-1), atol=1e-5)
    tensor = named.field_gradient("heatflux", points, t=0, time="None")
    np.testing.assert_allclose(tensor, np.broadcast_to(np.eye(3), (4, 2, 3, 3)), atol=1e-5)
    nodes = named.cutout("sgsenergy", 1, region={"start": (2, 3, 4), "end": (4, 4, 5)})
    np.testing.assert_allclose(nodes, [[[[1 + 0.5 * 0.75], [1 + 0.75 * 0.75]]]], rtol=1e-6)
    plane = named.slice("heatflux_y - 1", 0, "z", 1, nodes=(3, 5), temporalInterpolation="None")
    np.testing.assert_allclose(plane.values, np.broadcast_to(plane.coordinates[0][:, None] - 1, (5, 3)), atol=1e-5)
    mean = named.statistics([{"moments": "sgsenergy"}], frames=[1])[0]["mean"]
    np.testing.assert_allclose(mean, 1 + (0.25 * 7.5) ** 2)
    at = named.interp(x=points[..., 0], y=points[..., 1], z=points[..., 2], t=0, of="field", name="sgsenergy", time="None")
    np.testing.assert_array_equal(at, energy)
    with pytest.raises(fieldprobe.ServiceError, match="it has heatflux, sgsenergy too") as unknown:
        named.field("soil", points, t=0)
    assert unknown.value.member == "field"


def test_regions_are_the_same_everywhere(dataset):
    whole = np.roll(dataset.cutout("p", frame=4), 2, axis=2)
    box = {"start": (30, 1, 2), "end": (34, 9, 5), "step": (1, 2, 1)}
    np.testing.assert_array_equal(dataset.cutout("p", frame=4, region=box), whole[2:5, 1:9:2, 0:4])
    lengths = {"origin": np.array([30, 1, 2]) * H, "extent": (4 * H, 8 * H, 3 * H)}
    every = dataset.cutout("p", frame=4, region=lengths)
    np.testing.assert_array_equal(every, whole[2:5, 1:9, 0:4])
    at_nodes = {"method": "None", "temporalInterpolation": "None"}
    sampled = dataset.volume("p", dataset.times[3], region={"start": (30, 1, 2), "end": (34, 9, 5)}, **at_nodes)
    np.testing.assert_array_equal(sampled.values, every[..., 0])
    plane = dataset.slice("p", dataset.times[3], "z", 2 * H, region={"start": (30, 1), "end": (34, 9)}, **at_nodes)
    np.testing.assert_array_equal(plane.values, every[0, ..., 0])
    with pytest.raises(TypeError, match="region must be a mapping"):
        dataset.cutout("p", 4, (1, 1, 1))
    with pytest.raises(fieldprobe.ServiceError, match="The region is not in"):
        dataset.cutout("p", 4, {"start": (0, 0, 0), "end": (33, 1, 1)})


def test_values_at_nodes_are_the_stored_ones(dataset):
    stored = dataset.cutout("u", frame=4)
    assert stored.shape == (32, 32, 32, 3)
    z, y, x = np.meshgrid(*[np.arange(32)] * 3, indexing="ij")
    points = np.stack([x, y, z], axis=-1) * H
    np.testing.assert_array_equal(dataset.velocity(points, t=dataset.times[3], method="None", time="None"), stored)


def test_parts_do_not_change_values(dataset, monkeypatch):
    points = np.random.default_rng(7).uniform(0, 2 * np.pi, (11, 7, 3))
    whole = dataset.velocity_gradient(points, 0.73)
    assert whole.shape == (11, 7, 3, 3)
    told = []
    monkeypatch.setattr(dataset, "_points", 10)
    parts = dataset.velocity_gradient(points, 0.73, progress=lambda done, total: told.append((done, total)))
    np.testing.assert_array_equal(parts, whole)
    assert told == [(min(n, 77), 77) for n in range(10, 90, 10)]


def test_a_time_for_each_point(dataset):
    points = np.random.default_rng(8).uniform(0, 2 * np.pi, (3, 1, 3))
    times = np.array([0.1, 0.5, 0.1, 1.3])
    answer = dataset.pressure(points, t=times)
    assert answer.shape == (3, 4)
    for i, time in enumerate(times):
        np.testing.assert_array_equal(answer[:, i], dataset.pressure(points[:, 0], t=time))


def test_tensors_have_their_places(dataset):
    point = np.array([1.0, 2.0, 3.0])
    gradient = dataset.velocity_gradient(point, 0.6, "M2Q8")
    step = 1e-2
    for j in range(3):
        d = np.zeros(3)
        d[j] = step
        slope = (dataset.velocity(point + d, 0.6, "M2Q8") - dataset.velocity(point - d, 0.6, "M2Q8")) / (2 * step)
        np.testing.assert_allclose(gradient[:, j], slope, atol=2e-3)
    hessian = dataset.pressure_hessian(point, 0.6, "M2Q8")
    np.testing.assert_array_equal(hessian, hessian.T)
    for k in range(3):
        d = np.zeros(3)
        d[k] = step
        slope = (dataset.pressure_gradient(point + d, 0.6, "M2Q8") - dataset.pressure_gradient(point - d, 0.6, "M2Q8")) / (2 * step)
        np.testing.assert_allclose(hessian[:, k], slope, atol=5e-3)
    second = dataset.velocity_hessian(point, 0.6)
    assert second.shape == (3, 3, 3)
    np.testing.assert_allclose(np.trace(second, axis1=1, axis2=2), dataset.velocity_laplacian(point, 0.6), rtol=1e-5, atol=1e-5)


def test_box_filters_are_means_of_leaves(dataset):
    """docs/operations.md: a cube of three spacings is cut into 4^3 leaves, interpolated at their centres by Lag4."""
    point, width, time = np.array([1.0, 2.0, 3.0]), 3 * H, dataset.times[3]
    offsets = (np.arange(4) - 1.5) * width / 4
    leaves = point + np.stack(np.meshgrid(offsets, offsets, offsets), axis=-1).reshape(-1, 3)
    u = dataset.velocity(leaves, time, "Lag4", "None").astype(np.float64)
    mean = u.mean(axis=0)
    np.testing.assert_allclose(dataset.filtered_velocity(point, time, width), mean, rtol=1e-5)
    np.testing.assert_allclose(dataset.subgrid_stress(point, time, width), u.T @ u / 64 - np.outer(mean, mean), rtol=1e-4, atol=1e-7)


def test_paths_begin_at_the_seeds_and_end_at_the_positions(dataset):
    seeds = np.random.default_rng(9).uniform(0, 6, (5, 2, 3)).astype(np.float32)
    paths = dataset.trajectories(seeds, 0.0, 0.4, 0.02, every=5)
    assert paths.positions.shape == (5, 2, 5, 3)
    np.testing.assert_allclose(paths.times, [0, 0.1, 0.2, 0.3, 0.4], atol=1e-6)
    np.testing.assert_array_equal(paths.positions[..., 0, :], seeds)
    np.testing.assert_array_equal(paths.positions[..., -1, :], dataset.position(seeds, 0.0, 0.4, 0.02))


def test_samples_know_their_coordinates(dataset):
    sampled = dataset.volume("p", 0.6, nodes=(4, 3, 2), method="Lag8")
    assert sampled.axes == ("z", "y", "x")
    z, y, x = np.meshgrid(*sampled.coordinates, indexing="ij")
    np.testing.assert_array_equal(sampled.values, dataset.pressure(np.stack([x, y, z], axis=-1), 0.6, "Lag8"))
    plane = dataset.slice("p", 0.6, "z", 1.0, nodes=(4, 2), method="Lag8")
    y, x = np.meshgrid(*plane.coordinates, indexing="ij")
    np.testing.assert_array_equal(plane.values, dataset.pressure(np.stack([x, y, np.ones_like(x)], axis=-1), 0.6, "Lag8"))


def test_interp_broadcasts(dataset):
    x = np.array([1.0, 2.0, 3.0])
    by_shape = dataset.interp(x=x, y=2.0, z=3.0, t=0.5)
    np.testing.assert_array_equal(by_shape, dataset.velocity(np.stack([x, 0 * x + 2, 0 * x + 3], axis=-1), 0.5))
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(x, dims="a", coords={"a": [10, 20, 30]})
    named = dataset.interp(x=a, y=xarray.DataArray([2.0, 4.0], dims="b"), z=3.0, t=0.5, of="pressure")
    assert named.dims == ("a", "b")
    np.testing.assert_array_equal(named.sel(a=20).values, dataset.pressure([[2, 2, 3], [2, 4, 3]], 0.5))


@pytest.mark.parametrize("compressed", [False, True])
def test_the_zarr_view_equals_the_cutout(dataset, compressed):
    for name in ("xarray", "zarr", "fsspec", "aiohttp"):
        pytest.importorskip(name)
    opened = dataset.zarr(compressed=compressed)
    assert opened.velocity.dims == ("t", "z", "y", "x", "component")
    np.testing.assert_allclose(opened.t, dataset.times)
    np.testing.assert_array_equal(opened.x, np.arange(32) * (2 * np.pi / 32))
    np.testing.assert_array_equal(opened.velocity.sel(t=0.6, method="nearest").values, dataset.cutout("u", frame=4))
    assert opened.attrs["fieldprobe_manifest"] == dataset.digest
    derived = dataset.zarr("derived", compressed)
    at = np.array([[5 * H, 4 * H, 3 * H]])
    shown = derived.divergence.sel(t=0.6, method="nearest")[3, 4, 5].values
    gradient = dataset.velocity_gradient(at, 0.6, "None_Fd4", "None")[0]
    np.testing.assert_allclose(shown, np.trace(gradient), atol=1e-5)


def test_errors_say_what_is_wrong(dataset, url):
    with pytest.raises(fieldprobe.ServiceError) as out_of_range:
        dataset.velocity([1, 2, 3], t=99)
    assert (out_of_range.value.code, out_of_range.value.member, out_of_range.value.status) == ("OutOfRange", "time", 422)
    with pytest.raises(fieldprobe.ServiceError, match="spatialInterpolation must be one of"):
        dataset.velocity([1, 2, 3], t=0.5, method="Lag9")
    with pytest.raises(ValueError, match=r"points must have the shape \(…, 3\), not \(2,\)"):
        dataset.velocity([1, 2], t=0.5)
    with pytest.raises(ValueError, match="points must hold at least one point"):
        dataset.velocity(np.zeros((0, 3)), t=0.5)
    with pytest.raises(TypeError, match="points must be numbers"):
        dataset.velocity([["a", "b", "c"]], t=0.5)
    with pytest.raises(ValueError, match="time must be one of None, PCHIP"):
        dataset.velocity([1, 2, 3], t=0.5, time="linear")
    with pytest.raises(fieldprobe.ServiceError) as unknown:
        fieldprobe.connect(url)["nope"]
    assert unknown.value.status == 404
    with pytest.raises(ValueError, match="url must be an address"):
        fieldprobe.connect("127.0.0.1:8080")
    with pytest.raises(fieldprobe.ServiceUnreachable, match="http://127.0.0.1:9 could not be reached"):
        fieldprobe.connect("http://127.0.0.1:9", retries=0)


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


def test_jobs_answer_the_bits_of_calls(dataset, url):
    service = fieldprobe.connect(url)
    points = np.random.default_rng(5).uniform(0, 6, (200, 3)).astype(np.float32)
    options = {"time": 0.4, "spatialInterpolation": "Lag8", "temporalInterpolation": "PCHIP"}
    job = service.submit("isotropic32", "GetVelocity", points, **options)
    assert job.state in ("queued", "running")
    np.testing.assert_array_equal(service.job(job.id).result(), dataset.call("GetVelocity", points, **options))
    assert job.id in [one.id for one in service.jobs]
    with pytest.raises(fieldprobe.ServiceError, match="time"):
        service.submit("isotropic32", "GetVelocity", points, **{**options, "time": 99})
    job.look().cancel()
    with pytest.raises(fieldprobe.ServiceError):
        service.job(job.id)
