"""GetVelocity with zeep (pip install zeep): python3 python.py

For the public service, change only URL, the token and the name of the dataset.
"""
import sys

import zeep

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080/service/turbulence.asmx?wsdl"

service = zeep.Client(URL).bind("TurbulenceService", "TurbulenceServiceSoap12")
points = {"Point3": [{"x": 1, "y": 2, "z": 3}]}
for velocity in service.GetVelocity("my-token", "isotropic32", 0.1, "Lag8", "PCHIP", points):
    print(velocity.x, velocity.y, velocity.z)
