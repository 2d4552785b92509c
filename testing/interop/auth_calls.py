"""Calls by impacket with authentication and protection, to `interop-echo`.

    auth_calls.py HOST PORT USER PASSWORD none       a server that accepts every level
    auth_calls.py HOST PORT USER PASSWORD LEVEL      a server that refuses calls at a lower level
"""

import struct
import sys

from impacket.dcerpc.v5 import rpcrt, transport
from impacket.uuid import uuidtup_to_bin

RPCECHO = uuidtup_to_bin(("60a15ec5-4de8-11d7-a637-005056a20182", "1.0"))
LEVELS = {
    "none": rpcrt.RPC_C_AUTHN_LEVEL_NONE,
    "connect": rpcrt.RPC_C_AUTHN_LEVEL_CONNECT,
    "integrity": rpcrt.RPC_C_AUTHN_LEVEL_PKT_INTEGRITY,
    "privacy": rpcrt.RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
}


def bound(host, port, user, password, level, fragment=0):
    """Returns a connection that is authenticated and bound."""
    rpc = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{host}[{port}]")
    rpc.set_credentials(user, password, "DOMAIN")
    rpc.set_connect_timeout(20)
    dce = rpc.get_dce_rpc()
    dce.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)
    dce.set_auth_level(level)
    dce.connect()
    if fragment:
        dce.set_max_fragment_size(fragment)
    dce.bind(RPCECHO)
    return dce


def call(dce, opnum, stub):
    dce.call(opnum, stub)
    return dce.recv()


def add_one(dce, number):
    return struct.unpack("<I", call(dce, 0, struct.pack("<I", number))[:4])[0] == number + 1


def echo(dce, data):
    answer = call(dce, 1, struct.pack("<II", len(data), len(data)) + data)
    return answer[:4 + len(data)] == struct.pack("<I", len(data)) + data


def source(dce, length):
    answer = call(dce, 3, struct.pack("<I", length))
    return answer[:4 + length] == struct.pack("<I", length) + (bytes(range(256)) * (length // 256 + 1))[:length]


def fault_then_call(dce):
    try:
        call(dce, 99, b"")
    except rpcrt.DCERPCException as error:
        return "nca_s_op_rng_error" in str(error) and add_one(dce, 7)
    return False


def altered(dce):
    """Calls on another presentation context with its own security context, then on the first."""
    other = dce.alter_ctx(RPCECHO)
    return add_one(other, 1) and echo(other, b"x" * 3000) and add_one(other, 2)


def wrong_password(host, port, user, password, level):
    try:
        dce = bound(host, port, user, password + "!", level)
        add_one(dce, 1)
    except Exception as error:  # a fault, or the end of the connection
        return "denied" in str(error).lower() or "reset" in str(error).lower()
    return False


def refused(login):
    """Checks that calls end in a fault, whether the method exists or not."""
    for opnum, stub in ((0, bytes(4)), (1, bytes(8)), (99, b"")):
        try:
            call(bound(*login), opnum, stub)
            return False
        except rpcrt.DCERPCException as error:
            if "rpc_s_access_denied" not in str(error):
                raise
    # The server must drop all fragments of a call.
    try:
        echo(bound(*login, fragment=16), b"fragments" * 100)
    except (rpcrt.DCERPCException, ConnectionError):
        return True
    return False


def main(host, port, user, password, least):
    failed = passed = 0

    def report(name, function):
        nonlocal failed, passed
        try:
            good, why = function(), ""
        except Exception as error:  # whatever a peer makes of it
            good, why = False, f": {type(error).__name__} {error}"
        print("ok    " if good else "FAILED", name, why)
        passed, failed = passed + bool(good), failed + (not good)

    names = list(LEVELS)
    for name, level in LEVELS.items():
        login = (host, port, user, password, level)
        if names.index(name) < names.index(least):
            report(f"{name}: refused", lambda: refused(login))
            continue
        dce = bound(*login)
        report(f"{name}: many calls", lambda: all(add_one(dce, number) for number in range(50)))
        report(f"{name}: arguments and results of every length up to 40",
               lambda: all(echo(dce, bytes(range(length))) for length in range(40)))
        report(f"{name}: results of 200000 bytes", lambda: source(dce, 200_000))
        report(f"{name}: arguments of 20000 bytes", lambda: echo(dce, b"abc" * 6667))
        report(f"{name}: a fault, and calls after it", lambda: fault_then_call(dce))
        report(f"{name}: another context on the same connection", lambda: altered(dce))
        report(f"{name}: fragments of 16 bytes", lambda: echo(bound(*login, fragment=16), b"fragments" * 100))
        if name != "none":
            report(f"{name}: a wrong password", lambda: wrong_password(*login))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6]))
