"""Calls every operation with suds and prints the numbers: suds_client.py URL VERSION ARGUMENTS (suds speaks SOAP 1.1)."""
import json
import sys

from suds.client import Client

url, version, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
client = Client(url + "?wsdl", cache=None)


def numbers(record):
    if isinstance(record, (int, float)):
        return [record]
    return [value for _name, value in record]


answers = {}
for operation, members in arguments.items():
    given = dict(members)
    for name, item in (("points", "Point3"), ("InitialV", "Vector3")):
        if name in given:
            array = client.factory.create("ArrayOf" + item)
            for x, y, z in given[name]:
                record = client.factory.create(item)
                record.x, record.y, record.z = x, y, z
                getattr(array, item).append(record)
            given[name] = array
    method = getattr(client.service["TurbulenceServiceSoap"], operation)
    result = method(**given)
    answers[operation] = [numbers(record) for record in result[0]]
print(json.dumps(answers))
