"""The tests ask a running service, whose address FIELDPROBE_URL gives; ``npm run test:python`` starts one."""

import json
import os
import signal

import numpy as np
import pytest

import fieldprobe


@pytest.fixture(scope="session")
def url():
    return os.environ["FIELDPROBE_URL"]


@pytest.fixture(scope="session")
def dataset(url):
    return fieldprobe.connect(url)["isotropic32"]


@pytest.fixture(scope="session")
def named(url):
    """A dataset without a velocity: sgsenergy = 1 + x y and heatflux = (x, y, z) on 16 nodes every 0.25."""
    return fieldprobe.connect(url)["named"]


@pytest.fixture
def replaced(monkeypatch, tmp_path):
    """The address of a service with a dataset whose u and p are 1 everywhere, and what replaces it: there they are 2."""
    if "SERVICE_PROGRAM" not in os.environ:
        pytest.skip("SERVICE_PROGRAM names no program")
    h5py = pytest.importorskip("h5py")
    axis = {"nodes": 8, "origin": 0, "spacing": 1, "periodic": True}
    for value in (1, 2):
        folder = tmp_path / str(value)
        folder.mkdir()
        with h5py.File(folder / "c.h5", "w") as file:
            file["u"], file["p"] = np.full((2, 8, 8, 8, 3), value, "f4"), np.full((2, 8, 8, 8), value, "f4")
        fields = {
            "velocity": {"file": "c.h5", "path": "/u", "dimensions": ["t", "z", "y", "x", "c"]},
            "pressure": {"file": "c.h5", "path": "/p", "dimensions": ["t", "z", "y", "x"]},
        }
        grid = {"axes": {name: axis for name in "xyz"}, "time": {"values": [0, 1]}}
        (folder / "dataset.json").write_text(json.dumps({"schemaVersion": 1, "name": "c", **grid, "fields": fields}))
    data = tmp_path / "data"
    data.mkdir()
    (data / "c").symlink_to(tmp_path / "1")
    monkeypatch.setenv("FIELDPROBE", os.environ["SERVICE_PROGRAM"])
    monkeypatch.delenv("FIELDPROBE_URL")  # The service knows no such setting.
    service = fieldprobe.serve(data, state=tmp_path / "state")

    def replace():
        before = fieldprobe.connect(service.url)["c"].digest
        (tmp_path / "next").symlink_to(tmp_path / "2")
        (tmp_path / "next").rename(data / "c")
        service.process.send_signal(signal.SIGHUP)
        while fieldprobe.connect(service.url)["c"].digest == before:
            pass

    yield service.url, replace
    service.process.terminate()
    service.process.wait(20)
