"""Calls by Samba to `raw_server`: raw calls in both byte orders, and a query of the mapper.

Usage: raw_samba.py HOST PORT, with the Python of Debian's package python3-samba.
"""

import struct
import sys

from samba.credentials import Credentials
from samba.dcerpc import ClientConnection
from samba.param import LoadParm

RAW = ("0b71a000-5e1f-4c0d-9a11-72617763616c", 1)


def connected(host, port, options=""):
    settings = LoadParm()
    settings.load_default()
    nobody = Credentials()
    nobody.set_anonymous()
    return ClientConnection(f"ncacn_ip_tcp:{host}[{port}{options}]", RAW, settings, nobody)


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    for options, order in (("", "<"), (",bigendian", ">")):
        connection = connected(host, port, options)
        for length in (0, 1, 1000, 5840, 200_000):
            stub = bytes(at % 251 for at in range(length))
            assert connection.request(0, stub) == stub, f"{length} bytes came back changed"
        answer = connection.request(1, struct.pack(order + "I", 200_000))
        assert answer == bytes(at % 256 for at in range(200_000))
        assert connection.request(0, b"for an object", "00112233-4455-6677-8899-aabbccddeeff") == b"for an object"
        print(f"calls{options}: good")


if __name__ == "__main__":
    main()
