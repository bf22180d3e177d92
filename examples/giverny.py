"""getData of givernylocal, the Python client of the public REST interface, against this service: python3 giverny.py [URL]

The client has the public address compiled in; replacing `requests.post` sends its requests here. Nothing else changes.
Version 3 takes the names of this service's own datasets from its metadata; version 2 knows the public names only.
"""
import sys

import numpy as np
import requests
from givernylocal.turbulence_dataset import turb_dataset
from givernylocal.turbulence_toolkit import getData

SERVICE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
PUBLIC = "https://web.idies.jhu.edu"

post = requests.post
requests.post = lambda url, *words, **options: post(url.replace(PUBLIC, SERVICE), *words, **options)

try:
    dataset = turb_dataset("isotropic32", "output", "my-token", SERVICE + "/turbulence-svc/jhtdb_config.json")
except TypeError:
    dataset = turb_dataset("isotropic1024coarse", "output", "my-token")

points = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print(getData(dataset, "velocity", 0.5, "pchip", "lag8", "field", points))
