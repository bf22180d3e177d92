"""Calls every operation of the later interface with zeep and prints its numbers: zeep_later.py URL VERSION ARGUMENTS."""
import json
import struct
import sys

import zeep

url, version, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
client = zeep.Client(url + "?wsdl=later")
port = "TurbulenceServiceSoap" if version == "1.1" else "TurbulenceServiceSoap12"
service = client.bind("TurbulenceService", port)
ArrayOfFloat = client.get_type("ns0:ArrayOfFloat")
ArrayOfArrayOfFloat = client.get_type("ns0:ArrayOfArrayOfFloat")


def numbers(answer):
    """The numbers of an answer: bytes of a cutout, floats, or members of records."""
    if isinstance(answer, (bytes, bytearray)):
        return list(struct.unpack(f"<{len(answer) // 4}f", answer))
    found = []
    for record in answer:
        found += [record] if isinstance(record, float) else [record[name] for name in record]
    return found


answers = {}
for operation, members in arguments.items():
    given = dict(members)
    points = given.get("points")
    if points is not None and operation.endswith("_Python"):
        given["points"] = ArrayOfArrayOfFloat([ArrayOfFloat(list(axis)) for axis in zip(*points)])
    elif points is not None:
        given["points"] = {"Point3": [dict(zip("xyz", point)) for point in points]}
    answers[operation] = numbers(service[operation](**given))
print(json.dumps(answers))
