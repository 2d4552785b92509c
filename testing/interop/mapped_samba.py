"""Calls by Samba's Python to `interop-echo`, found through the endpoint mapper on port 135.

Usage: mapped_samba.py HOST
"""

import sys

from samba.credentials import Credentials
from samba.dcerpc import echo
from samba.param import LoadParm


def main():
    parameters = LoadParm()
    nobody = Credentials()
    nobody.set_anonymous()
    nobody.guess(parameters)
    server = echo.rpcecho(f"ncacn_ip_tcp:{sys.argv[1]}", parameters, nobody)
    assert server.AddOne(41) == 42
    print("found: good")


if __name__ == "__main__":
    main()
