"""Ask a fieldprobe service questions about stored turbulence simulations; the answers are numpy arrays.

>>> import fieldprobe
>>> ds = fieldprobe.connect("http://127.0.0.1:8080")["isotropic32"]
>>> ds.values("u", [1, 2, 3], time=0.5)
array([-0.13712144,  0.04219034,  0.26850626], dtype=float32)
"""

from .asking import Grid, Rows, Table
from .dataset import Dataset
from .errors import DatasetReplaced, FieldprobeError, ServiceError, ServiceUnreachable
from .jobs import Job
from .local import serve
from .service import Service, connect

__all__ = [
    "Dataset",
    "DatasetReplaced",
    "FieldprobeError",
    "Grid",
    "Job",
    "Rows",
    "Service",
    "ServiceError",
    "ServiceUnreachable",
    "Table",
    "connect",
    "serve",
]
