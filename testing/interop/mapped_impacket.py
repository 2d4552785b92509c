"""Calls by impacket to the endpoint mapper and the management interface.

The servers are `obvia epmapper`, and `interop-echo`, which has registered with it.

Usage: mapped_impacket.py HOST MAPPER-PORT ECHO-PORT
"""

import struct
import sys

from impacket.dcerpc.v5 import epm, mgmt, transport
from impacket.uuid import uuidtup_to_bin

ECHO = uuidtup_to_bin(("60a15ec5-4de8-11d7-a637-005056a20182", "1.0"))
LATER = uuidtup_to_bin(("60a15ec5-4de8-11d7-a637-005056a20182", "1.1"))
NDR = uuidtup_to_bin(("8a885d04-1ceb-11c9-9fe8-08002b104860", "2.0"))
NOT_REGISTERED = 0x16C9A0D6
CANNOT_PERFORM = 0x16C9A0CD


def connected(host, port):
    rpc = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{host}[{port}]").get_dce_rpc()
    rpc.connect()
    return rpc


def asked(host, port, question, *arguments, **options):
    # impacket's functions bind by themselves.
    rpc = connected(host, port)
    try:
        return question(*arguments, dce=rpc, **options)
    finally:
        rpc.disconnect()


def call(rpc, opnum, stub):
    rpc.call(opnum, stub)
    return rpc.recv()


def mapped(host, mapper, echo):
    binding = asked(host, mapper, epm.hept_map, host, ECHO, protocol="ncacn_ip_tcp")
    assert binding == f"ncacn_ip_tcp:{host}[{echo}]", binding
    try:
        asked(host, mapper, epm.hept_map, host, LATER, protocol="ncacn_ip_tcp")
    except Exception as error:
        assert "ept_s_not_registered" in str(error) or f"{NOT_REGISTERED:#x}" in str(error), error
    else:
        raise AssertionError("a version that nobody has was found")
    rpc = transport.DCERPCTransportFactory(binding).get_dce_rpc()
    rpc.connect()
    rpc.bind(ECHO)
    assert call(rpc, 0, struct.pack("<I", 41)) == struct.pack("<I", 42)
    rpc.disconnect()


def looked_up(host, mapper):
    entries = asked(host, mapper, epm.hept_lookup, None, inquiry_type=epm.RPC_C_EP_MATCH_BY_IF, ifId=ECHO)
    assert len(entries) == 8, len(entries)
    assert {entry["annotation"] for entry in entries} == {b"rpcecho\0"}
    everything = asked(host, mapper, epm.hept_lookup, None)
    assert len(everything) == 10, len(everything)


def refused(host, mapper):
    """Checks that ept_insert of a tower of `ncacn_ip_tcp` is refused over a network."""

    def floor(left, right):
        return struct.pack("<H", len(left)) + left + struct.pack("<H", len(right)) + right

    # The binary forms of impacket end in the version, its major part first.
    syntaxes = [floor(b"\x0d" + syntax[:18], syntax[18:20]) for syntax in (ECHO, NDR)]
    way = [floor(b"\x0b", bytes(2)), floor(b"\x07", struct.pack(">H", 9999)), floor(b"\x09", bytes(4))]
    tower = struct.pack("<H", 5) + b"".join(syntaxes + way)
    entry = bytes(16) + struct.pack("<III", 1, 0, 4) + b"new\0"
    stub = struct.pack("<II", 1, 1) + entry + struct.pack("<II", len(tower), len(tower)) + tower
    stub += bytes(-len(stub) % 4) + struct.pack("<I", 0)
    rpc = connected(host, mapper)
    rpc.bind(epm.MSRPC_UUID_PORTMAP)
    assert call(rpc, 0, stub) == struct.pack("<I", CANNOT_PERFORM)
    assert call(rpc, 1, stub) == struct.pack("<I", CANNOT_PERFORM)
    rpc.disconnect()


def managed(host, port, *expected):
    rpc = connected(host, port)
    rpc.bind(mgmt.MSRPC_UUID_MGMT)
    identities = mgmt.hinq_if_ids(rpc)["if_id_vector"]["if_id"]
    uuids = {identity["Data"]["Uuid"] for identity in identities}
    assert uuids == {uuid[:16] for uuid in (mgmt.MSRPC_UUID_MGMT, *expected)}, uuids
    before = mgmt.hinq_stats(rpc)["statistics"]
    after = mgmt.hinq_stats(rpc)["statistics"]
    calls, made, came, sent = (after[at] - before[at] for at in range(4))
    # Another client may call at the same time.
    assert calls >= 1 and made == 0 and came >= 1 and sent >= 1, (before, after)
    assert mgmt.his_server_listening(rpc)["status"] == 0
    try:
        mgmt.hstop_server_listening(rpc)
    except Exception as error:
        assert "0x5" in str(error) or "access_denied" in str(error).lower(), error
    else:
        raise AssertionError("a client stopped the server")
    assert mgmt.hinq_princ_name(rpc)["status"] == 0x6D3
    rpc.disconnect()


def main():
    host, mapper, echo = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    mapped(host, mapper, echo)
    looked_up(host, mapper)
    refused(host, mapper)
    managed(host, mapper, epm.MSRPC_UUID_PORTMAP)
    managed(host, echo, ECHO)
    print("mapper and management: good")


if __name__ == "__main__":
    main()
