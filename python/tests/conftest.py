"""The tests ask a running service, whose address FIELDPROBE_URL gives; ``npm run test:python`` starts one."""

import os

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
