"""``Transport`` sends requests over kept connections, and repeats those that a broken connection or a busy service cost.

Requests only read, so repeating one changes nothing; the ones that start jobs have a key.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import uuid
from typing import Any, Dict, Mapping, NamedTuple, Optional
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

from .errors import ServiceError, ServiceUnreachable

#: Statuses of a service that is busy or restarting, or of a token that has asked too often.
BUSY = (429, 502, 503, 504)
#: Longest time in seconds that one repetition waits, whatever ``Retry-After`` says.
LONGEST_WAIT = 60.0
#: Most bytes of a text that is read as a SOAP fault.
LONGEST_FAULT = 65536


class Answer(NamedTuple):
    """The body and the headers (by lower-case names) of an answer."""

    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        return json.loads(self.body)


class Transport:
    """The connections to one service, one for each thread of each process that asks."""

    def __init__(self, url: str, token: Optional[str], timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be an address such as http://127.0.0.1:8080, not {url!r}")
        if parts.query or parts.fragment:
            raise ValueError(f"url must end with the path of the service, not {url!r}")
        self.url = url.rstrip("/")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._base = parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self._local = threading.local()

    def __reduce__(self) -> Any:
        return Transport, (self.url, self._token, self._timeout, self._retries)

    @property
    def authorization(self) -> Dict[str, str]:
        """The header that carries the token; nothing without one."""
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    def get(self, path: str, query: Optional[Mapping[str, Any]] = None, accept: str = "application/json") -> Answer:
        return self._ask("GET", path, query, None, {"Accept": accept})

    def post(
        self,
        path: str,
        body: bytes,
        content_type: str,
        query: Optional[Mapping[str, Any]] = None,
        accept: str = "application/json",
    ) -> Answer:
        return self._ask("POST", path, query, body, {"Accept": accept, "Content-Type": content_type})

    def submit(
        self, path: str, body: Optional[bytes], content_type: str, query: Optional[Mapping[str, Any]], accept: str
    ) -> Answer:
        """Start a job. By its key, a repetition after a broken connection does not start it twice."""
        headers = {"Accept": accept, "Prefer": "respond-async", "Idempotency-Key": uuid.uuid4().hex}
        if body is not None:
            headers["Content-Type"] = content_type
        return self._ask("POST", path, query, body, headers)

    def delete(self, path: str) -> Answer:
        return self._ask("DELETE", path, None, None, {"Accept": "application/json"})

    def _ask(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[bytes],
        headers: Dict[str, str],
    ) -> Answer:
        target = self._base + path + (f"?{urlencode(query)}" if query else "")
        headers.update(self.authorization)
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                status, answer = self._exchange(method, target, body, headers)
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if last:
                    reason = str(error) or type(error).__name__
                    raise ServiceUnreachable(f"{self.url} could not be reached: {reason}") from error
                time.sleep(_pause(attempt, None))
                continue
            if status in BUSY and not last:
                time.sleep(_pause(attempt, answer.headers.get("retry-after")))
                continue
            if status >= 400:
                raise _refusal(status, answer)
            return answer
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, method: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> "tuple[int, Answer]":
        connection = self._connection()
        connection.request(method, target, body=body, headers=dict(headers))
        response = connection.getresponse()
        content = response.read()
        return response.status, Answer(content, {name.lower(): value for name, value in response.getheaders()})

    def _connection(self) -> http.client.HTTPConnection:
        connection: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        # After a fork the connection is that of the parent, whose answers arrive on it.
        if connection is None or self._local.process != os.getpid():
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            connection = kind(self._host, self._port, timeout=self._timeout)
            self._local.connection, self._local.process = connection, os.getpid()
        return connection

    def _close(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            # What a fork has left is closed in this process only: its parent goes on using it.
            connection.close()
            self._local.connection = None


def _pause(attempt: int, retry_after: Optional[str]) -> float:
    """Seconds to wait before the next attempt: what the service says, or else twice as long each time."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), LONGEST_WAIT)
    return min(0.1 * 2.0**attempt, LONGEST_WAIT)


def _refusal(status: int, answer: Answer) -> ServiceError:
    try:
        problem = answer.json()
    except ValueError:
        problem = _fault(answer.body)
    if not isinstance(problem, dict):
        problem = {}
    errors = problem.get("errors") or []
    details = [str(one["detail"]) + (f" (did you mean {one['nearest']}?)" if one.get("nearest") else "") for one in errors]
    return ServiceError(
        "\n".join(details) or str(problem.get("detail") or f"the service answered with status {status}"),
        code=str(problem.get("code") or "HttpError"),
        status=status,
        member=problem.get("member"),
        request_id=problem.get("requestId"),
        errors=errors,
    )


def _fault(body: bytes) -> Dict[str, Any]:
    """The problem in a SOAP fault; nothing of other texts."""
    try:
        parts = {part.tag.rpartition("}")[2]: part.text for part in ElementTree.fromstring(body[:LONGEST_FAULT]).iter()}
    except ElementTree.ParseError:
        return {}
    return {"detail": parts.get("Text"), **{name: parts.get(name) for name in ("code", "member", "requestId")}}
