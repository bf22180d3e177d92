"""Calls every operation with zeep and prints the numbers: zeep_client.py URL VERSION ARGUMENTS."""
import json
import sys

import zeep

url, version, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
client = zeep.Client(url + "?wsdl")
port = "TurbulenceServiceSoap" if version == "1.1" else "TurbulenceServiceSoap12"
service = client.bind("TurbulenceService", port)


def numbers(record):
    if isinstance(record, float):
        return [record]
    return [record[name] for name in record]


answers = {}
for operation, members in arguments.items():
    given = dict(members)
    for name, item in (("points", "Point3"), ("InitialV", "Vector3")):
        if name in given:
            given[name] = {item: [dict(zip("xyz", point)) for point in given[name]]}
    answers[operation] = [numbers(record) for record in service[operation](**given)]
print(json.dumps(answers))
