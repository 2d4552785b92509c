"""Protected calls to scapy's server: `interop-calls` with NTLM and with SPNEGO at each level.

    auth_server.py PATH_OF_INTEROP_CALLS
"""

import itertools
import socket
import subprocess
import sys
import uuid

from scapy.config import conf
from scapy.layers.dcerpc import (
    DceRpcOp, DCERPC_Transport, NDRConfStrLenField, NDRIntField, NDRPacket, RPC_C_AUTHN_LEVEL, register_dcerpc_interface)
from scapy.layers.msrpce.rpcserver import DCERPC_Server
from scapy.layers.ntlm import MD4le, NTLMSSP
from scapy.layers.spnego import SPNEGOSSP

USER, PASSWORD = "user", "a secret"
LEVELS = {
    "connect": RPC_C_AUTHN_LEVEL.CONNECT,
    "integrity": RPC_C_AUTHN_LEVEL.PKT_INTEGRITY,
    "privacy": RPC_C_AUTHN_LEVEL.PKT_PRIVACY,
}


class AddOne_Request(NDRPacket):
    fields_desc = [NDRIntField("number", 0)]


class AddOne_Response(NDRPacket):
    fields_desc = [NDRIntField("number", 0)]


class EchoData_Request(NDRPacket):
    fields_desc = [NDRIntField("length", None), NDRConfStrLenField("data", b"", size_is=lambda packet: packet.length)]


class EchoData_Response(NDRPacket):
    fields_desc = [NDRConfStrLenField("data", b"", size_is=lambda packet: len(packet.data))]


register_dcerpc_interface(
    name="rpcecho", uuid=uuid.UUID("60a15ec5-4de8-11d7-a637-005056a20182"), version="1.0",
    opnums={0: DceRpcOp(AddOne_Request, AddOne_Response), 1: DceRpcOp(EchoData_Request, EchoData_Response)})


class Server(DCERPC_Server):
    """The server that the client calls."""

    def loop(self, sock):
        """Reads one PDU at a time, independent of TCP's segments, and accepts requests of several
        fragments."""
        stream = sock.makefile("rb")
        while len(head := stream.read(10)) == 10:
            unit = head + stream.read(int.from_bytes(head[8:10], "little") - 10)
            try:
                self.recv(unit)
            except AttributeError:
                # Scapy raises this error for all but the last fragment of a request.
                continue
            while answer := self.get_response():
                sock.sendall(bytes(answer))

    @DCERPC_Server.answer(AddOne_Request)
    def add_one(self, request):
        return AddOne_Response(number=request.number + 1)

    @DCERPC_Server.answer(EchoData_Request)
    def echo_data(self, request):
        return EchoData_Response(data=request.data.value, ndr64=False)


# The functions of `rpcecho` that the server lacks.
LEFT_OUT = ["SinkData", "SourceData", "TestCall", "TestCall2", "TestSleep", "TestEnum", "TestSurrounding", "TestDoublePointer"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(program):
    failed = passed = 0
    conf.iface = "lo"
    for kind, level, password in itertools.product(
            ("ntlm", "spnego"), LEVELS, (PASSWORD, "another")):
        if (kind, password) == ("ntlm", "another") and level != "privacy":
            # Scapy does not answer a call after this failure, so each case would be a timeout.
            continue
        inner = NTLMSSP(IDENTITIES={USER: MD4le(PASSWORD)})
        port = free_port()
        server = Server.spawn(
            DCERPC_Transport.NCACN_IP_TCP, port=port, bg=True, verb=False, ndr64=False,
            ssp=inner if kind == "ntlm" else SPNEGOSSP([inner]), min_auth_level=LEVELS[level])
        try:
            client = subprocess.run(
                [program, "--user", USER, password,
                 f"ncacn_ip_tcp:127.0.0.1[{port},transfer=ndr,security={level},auth={kind}]", "1", *LEFT_OUT],
                capture_output=True, text=True, timeout=60)
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
        is_right = password == PASSWORD
        good = (client.returncode == 0) == is_right
        passed, failed = passed + good, failed + (not good)
        print("ok    " if good else "FAILED", kind, "at level", level, "" if is_right else "with a wrong password",
              "" if good else client.stderr)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
