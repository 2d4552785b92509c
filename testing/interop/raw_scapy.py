"""A DCE/RPC server by scapy for `raw_client HOST:PORT one-at-a-time`, which echoes the arguments.

Usage: raw_scapy.py PORT, until the standard input ends. Prints `ready PORT` when it listens.
"""

import socket
import sys
import threading
import uuid

from scapy.config import conf
from scapy.fields import StrField
from scapy.layers.dcerpc import DCERPC_Transport, DceRpcOp, DceRpcSession, NDRPacket, register_dcerpc_interface
from scapy.layers.msrpce.rpcserver import DCERPC_Server

RAW = uuid.UUID("0b71a000-5e1f-4c0d-9a11-72617763616c")


class EchoRequest(NDRPacket):
    fields_desc = [StrField("stub", b"")]


class EchoResponse(NDRPacket):
    fields_desc = [StrField("stub", b"")]


register_dcerpc_interface("raw", RAW, "1.0", {0: DceRpcOp(EchoRequest, EchoResponse)})


class Association(DceRpcSession):
    def _fragment(self, pkt, body):
        # Without signatures, scapy leaves zeros in the place of each fragment's data.
        for fragment, part in super()._fragment(pkt, body):
            fragment.payload.payload = conf.raw_layer(load=part)
            yield fragment, part


class Server(DCERPC_Server):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.session = Association()

    def loop(self, sock):
        # Scapy would treat the bytes of one read as whole PDUs. This loop reads one PDU at a time.
        stream = sock.makefile("rb")
        while len(head := stream.read(16)) == 16:
            length = int.from_bytes(head[8:10], "little" if head[4] & 0x10 else "big")
            try:
                self.recv(head + stream.read(length - 16))
            except AttributeError as error:
                # Scapy reassembles fragments, and fails because only the last fragment has a
                # result.
                assert error.obj is None, error
            while response := self.get_response():
                sock.sendall(bytes(response))

    @DCERPC_Server.answer(EchoRequest)
    def echo(self, request):
        # A request without arguments has no layer EchoRequest.
        return EchoResponse(stub=request[EchoRequest].stub if EchoRequest in request else b"")


def accept(listener):
    while True:
        client, _ = listener.accept()
        server = Server(DCERPC_Transport.NCACN_IP_TCP, port=listener.getsockname()[1], verb=False)
        threading.Thread(target=server.loop, args=(client,), daemon=True).start()


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print("ready", listener.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
