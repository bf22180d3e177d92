"""Ask a fieldprobe service for values of stored turbulence simulations, as numpy arrays.

>>> import fieldprobe
>>> fp = fieldprobe.connect("http://127.0.0.1:8080")
>>> fp["isotropic32"].velocity([1, 2, 3], t=0.5, method="Lag8")
array([-0.13712144,  0.04219034,  0.26850626], dtype=float32)
"""

from .dataset import Dataset, Region
from .errors import FieldprobeError, ServiceError, ServiceUnreachable
from .jobs import Job
from .service import Service, connect

__all__ = ["Dataset", "FieldprobeError", "Job", "Region", "Service", "ServiceError", "ServiceUnreachable", "connect"]
