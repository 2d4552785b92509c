"""Calls by impacket to `raw_server`: binds, fragments, faults, the endpoint mapper, and management.

Usage: raw_impacket.py HOST PORT [REGISTERED-PORT]

REGISTERED-PORT is the server's own port, if PORT is that of a capturing relay.
"""

import struct
import sys

from impacket.dcerpc.v5 import epm, mgmt, transport
from impacket.dcerpc.v5.rpcrt import DCERPCException
from impacket.uuid import uuidtup_to_bin

RAW = uuidtup_to_bin(("0b71a000-5e1f-4c0d-9a11-72617763616c", "1.0"))
UNKNOWN = uuidtup_to_bin(("0b71a001-5e1f-4c0d-9a11-72617763616c", "1.0"))
NDR64 = ("71710533-beba-4937-8319-b5dbef9ccc36", "1.0")
FLAT = ("8f3c51d2-7a0e-4d6b-b1e4-90c725ad6e18", "1.0")


def connected(host, port):
    rpc = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{host}[{port}]").get_dce_rpc()
    rpc.connect()
    return rpc


def call(rpc, opnum, stub):
    rpc.call(opnum, stub)
    return rpc.recv()


def refused(action, *texts):
    try:
        action()
    except Exception as error:  # impacket raises several kinds.
        assert any(text in str(error) for text in texts), f"refused for another reason: {error}"
    else:
        raise AssertionError(f"not refused, although {texts[0]} was expected")


def calls(host, port):
    rpc = connected(host, port)
    rpc.bind(RAW)
    for length in (0, 1, 100, 4280, 5840, 200_000):
        stub = bytes(at % 251 for at in range(length))
        assert call(rpc, 0, stub) == stub, f"{length} bytes came back changed"
    for length in (1000, 200_000, 3_000_000):
        answer = call(rpc, 1, struct.pack("<I", length))
        assert answer == bytes(at % 256 for at in range(length)), f"{length} bytes came wrong"
    rpc.disconnect()


def fragments(host, port):
    rpc = connected(host, port)
    rpc.bind(RAW)
    rpc.set_max_fragment_size(16)
    stub = bytes(at % 251 for at in range(1000))
    assert call(rpc, 0, stub) == stub
    rpc.disconnect()


def objects(host, port):
    rpc = connected(host, port)
    rpc.bind(RAW)
    rpc.call(0, b"for an object", uuid=bytes(range(16)))
    assert rpc.recv() == b"for an object"
    rpc.disconnect()


def contexts(host, port):
    rpc = connected(host, port)
    refused(lambda: rpc.bind(UNKNOWN), "abstract_syntax_not_supported")
    rpc.disconnect()

    rpc = connected(host, port)
    refused(lambda: rpc.bind(RAW, transfer_syntax=FLAT), "proposed_transfer_syntaxes_not_supported")
    rpc.disconnect()

    rpc = connected(host, port)
    rpc.bind(RAW, transfer_syntax=NDR64)
    assert call(rpc, 0, b"NDR64") == b"NDR64"
    rpc.disconnect()

    rpc = connected(host, port)
    rpc.bind(RAW)
    second = rpc.alter_ctx(mgmt.MSRPC_UUID_MGMT)
    assert mgmt.hinq_if_ids(second)["if_id_vector"]["count"] == 3
    assert call(rpc, 0, b"first again") == b"first again"
    third = second.alter_ctx(RAW)
    assert call(third, 0, b"third") == b"third"
    rpc.disconnect()


def faults(host, port):
    rpc = connected(host, port)
    rpc.bind(RAW)
    refused(lambda: call(rpc, 99, b""), "nca_s_op_rng_error", "0x1c010002")
    refused(lambda: call(rpc, 2, struct.pack("<I", 0x1C00001B)), "nca_s_fault_remote_no_memory", "0x1c00001b")
    refused(lambda: call(rpc, 2, struct.pack("<I", 5)), "rpc_s_access_denied", "0x00000005", "0x5")
    refused(lambda: call(rpc, 1, b""), "rpc_x_bad_stub_data", "0x6f7", "0x000006f7")
    assert call(rpc, 0, b"after faults") == b"after faults"
    rpc.disconnect()


def mapper(host, port, registered):
    def asked(question, *arguments, **options):
        # impacket's functions bind by themselves.
        rpc = connected(host, port)
        try:
            return question(*arguments, dce=rpc, **options)
        finally:
            rpc.disconnect()

    binding = f"ncacn_ip_tcp:{host}[{registered}]"
    assert asked(epm.hept_map, host, RAW, protocol="ncacn_ip_tcp") == binding
    unknown = lambda: asked(epm.hept_map, host, UNKNOWN, protocol="ncacn_ip_tcp")
    refused(unknown, "ept_s_not_registered", "0x16c9a0d6")
    entries = asked(epm.hept_lookup, None)
    annotations = sorted(entry["annotation"].rstrip(b"\0") for entry in entries)
    assert annotations == [b"", b"endpoint mapper", b"raw calls"] + 6 * [b"raw object"] + [b"stands in"], annotations
    floors = entries[0]["tower"]["Floors"]
    assert floors[0]["InterfaceUUID"] == RAW[:16]
    assert epm.PrintStringBinding(floors) == binding
    assert len(asked(epm.hept_lookup, None, inquiry_type=epm.RPC_C_EP_MATCH_BY_IF, ifId=RAW)) == 7


def management(host, port):
    rpc = connected(host, port)
    rpc.bind(mgmt.MSRPC_UUID_MGMT)
    identities = mgmt.hinq_if_ids(rpc)["if_id_vector"]["if_id"]
    uuids = [identity["Data"]["Uuid"] for identity in identities]
    assert RAW[:16] in uuids and len(uuids) == 3
    assert mgmt.hinq_stats(rpc)["count"] == 4
    assert mgmt.his_server_listening(rpc)["status"] == 0
    refused(lambda: mgmt.hstop_server_listening(rpc), "0x5", "rpc_s_access_denied", "ERROR_ACCESS_DENIED")
    assert mgmt.hinq_princ_name(rpc)["status"] == 0x6D3
    rpc.disconnect()


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    registered = sys.argv[3] if len(sys.argv) > 3 else port
    for test in (calls, fragments, objects, contexts, faults, mapper, management):
        try:
            test(host, port, registered) if test is mapper else test(host, port)
        except DCERPCException as error:
            raise AssertionError(f"{test.__name__}: {error}") from error
        print(f"{test.__name__}: good")


if __name__ == "__main__":
    main()
