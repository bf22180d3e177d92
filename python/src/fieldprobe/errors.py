"""The errors that this package raises in addition to ValueError and TypeError, which name a wrong argument."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence


class FieldprobeError(Exception):
    """The base of the other errors."""


class ServiceUnreachable(FieldprobeError):
    """The service could not be reached, or its connection broke too often."""


class DatasetReplaced(FieldprobeError):
    """The dataset was replaced between the requests of one answer, which would have been of two versions: ask again."""


class ServiceError(FieldprobeError):
    """The service refused or failed a request.

    Attributes:
        code: the service's name of the error, for example ``InvalidRequest``.
        status: the HTTP status.
        member: the parameter that is wrong, if the service named one.
        errors: everything that is wrong with a question, each with code, member, detail and perhaps nearest.
        request_id: what the service's log knows the request by.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        member: Optional[str] = None,
        request_id: Optional[str] = None,
        errors: Sequence[Dict[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.member = member
        self.request_id = request_id
        self.errors: List[Dict[str, Any]] = list(errors)

    def __reduce__(self) -> Any:
        return _service_error, (str(self), dict(self.__dict__))


def _service_error(message: str, members: Dict[str, Any]) -> ServiceError:
    """An error that was pickled, as processes of a pool do."""
    return ServiceError(message, **members)
