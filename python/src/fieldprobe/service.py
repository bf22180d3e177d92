"""``connect`` opens a service, whose datasets are then found by name."""

from __future__ import annotations

import subprocess
from typing import Any, Dict, Iterator, List, Optional
from urllib.parse import quote

from .dataset import Dataset
from .jobs import Job
from .transport import Transport


class Service:
    """A fieldprobe service. ``service["name"]`` is a dataset; iterating gives the names."""

    #: The program of a service that ``serve`` started.
    process: "Optional[subprocess.Popen[str]]" = None

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._listing: Dict[str, Any] = transport.get("/api/datasets").json()
        self._datasets: Dict[str, Dataset] = {}

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._transport.url

    @property
    def version(self) -> str:
        """The version of the service."""
        return str(self._listing["version"])

    @property
    def datasets(self) -> List[str]:
        """Names of the datasets that are served, as of when the connection was made."""
        return [str(entry["name"]) for entry in self._listing["datasets"]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets)

    def __len__(self) -> int:
        return len(self.datasets)

    def __getitem__(self, name: str) -> Dataset:
        """A dataset by its name or alias.

        Raises:
            ServiceError: with the code ``NotFound`` if the service has no such dataset.
        """
        if name not in self._datasets:
            path = f"/api/datasets/{quote(name, safe='')}"
            description = self._transport.get(path).json()
            limit = int(self._listing.get("points", 100_000))
            self._datasets[name] = Dataset(self._transport, description, limit)
        return self._datasets[name]

    def fetch(self, path: str) -> Any:
        """The JSON at a path of the service."""
        return self._transport.get(path).json()

    def job(self, id: str) -> Job:
        """A job by its id."""
        return Job(self._transport, self._transport.get(f"/api/jobs/{quote(id, safe='')}").json())

    @property
    def jobs(self) -> List[Job]:
        """Your jobs, latest first."""
        return [Job(self._transport, one) for one in self._transport.get("/api/jobs").json()["jobs"]]

    def __repr__(self) -> str:
        return f"<fieldprobe service {self.url}: {', '.join(self.datasets)}>"


def connect(
    url: str = "http://127.0.0.1:8080",
    token: Optional[str] = None,
    *,
    timeout: float = 600.0,
    retries: int = 6,
) -> Service:
    """Connect to a service.

    Args:
        url: its address, with the path in front of ``/api`` if it has one.
        token: the token of a service that asks for one.
        timeout: seconds to wait for an answer.
        retries: how often a request is repeated if the connection breaks or the service is busy.

    Raises:
        ServiceUnreachable: if nothing answers at the address.
        ServiceError: if what answers refuses.
    """
    if retries < 0:
        raise ValueError("retries must not be negative")
    return Service(Transport(url, token, timeout, retries))
