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
