"""``Job`` is a call that the service runs in idle time: it outlives connections, and its result is a file."""

from __future__ import annotations

import hashlib
import io
import json
import time
from typing import Any, Callable, Dict, Optional

import numpy as np

from .errors import ServiceError
from .transport import Transport

NPY = "application/x-npy"
#: Seconds between two looks at a job, at first and at most.
_FIRST_LOOK, _LAST_LOOK = 0.1, 5.0


class Job:
    """A job of a service. ``dataset.submit(...)`` starts one, ``service.job(id)`` finds it again."""

    def __init__(
        self, transport: Transport, description: Dict[str, Any], decoded: Optional[Callable[[bytes], Any]] = None
    ) -> None:
        self._transport = transport
        self._decoded = decoded
        #: What the service last said of it: state, progress, cost, result.
        self.description = description

    @property
    def id(self) -> str:
        """The id of the job."""
        return str(self.description["id"])

    @property
    def state(self) -> str:
        """queued, running, done, failed or cancelled, as of the last look."""
        return str(self.description["state"])

    def look(self) -> "Job":
        """Ask the service for its state."""
        self.description = self._transport.get(f"/api/jobs/{self.id}").json()
        return self

    def wait(self, timeout: Optional[float] = None) -> "Job":
        """Wait until the job has ended.

        Raises:
            TimeoutError: if that takes more than ``timeout`` seconds; the job continues.
            ServiceError: if it failed or was cancelled.
        """
        until = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_LOOK
        while self._look_again(until).state in ("queued", "running"):
            if until is not None and time.monotonic() + pause > until:
                raise TimeoutError(f"job {self.id} has not ended after {timeout} s")
            time.sleep(pause)
            pause = min(1.5 * pause, _LAST_LOOK)
        if self.state != "done":
            problem = self.description.get("problem") or f"the job was {self.state}"
            raise ServiceError(str(problem), code="JobFailed", status=200)
        return self

    def _look_again(self, until: Optional[float]) -> "Job":
        """Look; while the queue of a cluster cannot be reached, again and again."""
        while True:
            try:
                return self.look()
            except ServiceError as error:
                if error.code != "Busy" or (until is not None and time.monotonic() > until):
                    raise

    def result(self) -> Any:
        """What the call returns, after waiting for it; of a job found by its id, the members of JSON or arrays of NumPy.

        Raises:
            ServiceError: if it failed or was cancelled, or if its file is not what was written.
        """
        self.wait()
        body = self.file()
        if self._decoded is not None:
            return self._decoded(body)
        kind = self.description["result"]["type"].split(";")[0]
        if kind == "application/json":
            return json.loads(body)
        if kind == "application/vnd.zarr+zip":
            from .asking import arrays

            return arrays(body)
        return np.load(io.BytesIO(body)) if kind == NPY else body

    def file(self) -> bytes:
        """The file of a job that is done.

        Raises:
            ServiceError: if it is not what was written.
        """
        body = self._transport.get(f"/api/jobs/{self.id}/result", accept="*/*").body
        written = self.description["result"]
        if hashlib.sha256(body).hexdigest() != written["sha256"]:
            raise ServiceError(f"{written['name']} is not what the job has written", code="DataError", status=200)
        return body

    def cancel(self) -> "Job":
        """End the job, or forget one that has ended, with its result."""
        self.description = self._transport.delete(f"/api/jobs/{self.id}").json()
        return self

    def __repr__(self) -> str:
        return f"<job {self.id}: {self.state}, {100 * float(self.description['progress']):.0f} %>"
