"""Relays connections to a server, and writes their bytes to a file for Wireshark and tshark.

Usage: capture.py LISTENING-PORT HOST PORT FILE.pcap, until the standard input ends. Prints
`ready PORT` when it listens. The packets are generated around the bytes, not captured from an
interface, so no privileges are needed.
"""

import socket
import struct
import sys
import threading
import time

CLIENT, SERVER = socket.inet_aton("127.0.0.2"), socket.inet_aton("127.0.0.1")
# The server port in the captured packets: the one at which dissectors recognize the protocol.
SERVER_PORT = 135
PIECE = 1400
PUSH, SYN, ACK = 0x18, 0x02, 0x10


class Capture:
    def __init__(self, path):
        # Unbuffered, because the process may be killed at any time.
        self.file = open(path, "wb", buffering=0)
        # The format's magic number and version; packets begin with their IP header.
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 101))
        self.lock = threading.Lock()

    def packet(self, source, target, flags, sequence, acknowledged, payload=b""):
        tcp = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, acknowledged, 0x50, flags, 0xFFFF, 0, 0)
        length = 20 + len(tcp) + len(payload)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0x4000, 64, 6, 0, source[0], target[0])
        now = time.time()
        head = struct.pack("<IIII", int(now), int(now % 1 * 1e6), length, length)
        self.file.write(head + ip + tcp + payload)


class Connection:
    def __init__(self, capture, client, address, number):
        self.capture = capture
        self.sockets = {"client": client, "server": socket.create_connection(address)}
        self.ends = {"client": (CLIENT, 20000 + number % 40000), "server": (SERVER, SERVER_PORT)}
        self.sent = {"client": 1, "server": 1}
        with capture.lock:
            capture.packet(self.ends["client"], self.ends["server"], SYN, 0, 0)
            capture.packet(self.ends["server"], self.ends["client"], SYN | ACK, 0, 1)
            capture.packet(self.ends["client"], self.ends["server"], ACK, 1, 1)
        for one, other in (("client", "server"), ("server", "client")):
            threading.Thread(target=self.run, args=(one, other), daemon=True).start()

    def run(self, one, other):
        try:
            while chunk := self.sockets[one].recv(65536):
                self.write(one, other, chunk)
                self.sockets[other].sendall(chunk)
            self.sockets[other].shutdown(socket.SHUT_WR)
        except OSError:
            self.sockets[other].close()

    def write(self, one, other, chunk):
        with self.capture.lock:
            for start in range(0, len(chunk), PIECE):
                piece = chunk[start : start + PIECE]
                ends = self.ends[one], self.ends[other]
                self.capture.packet(*ends, PUSH, self.sent[one] & 0xFFFFFFFF, self.sent[other] & 0xFFFFFFFF, piece)
                self.sent[one] += len(piece)


def accept(listener, capture, address):
    number = 0
    while True:
        client, _ = listener.accept()
        number += 1
        Connection(capture, client, address, number)


def main():
    port, host, server_port, path = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    capture = Capture(path)
    listener = socket.create_server(("127.0.0.1", port))
    print("ready", listener.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listener, capture, (host, server_port)), daemon=True).start()
    sys.stdin.read()
    with capture.lock:
        capture.file.close()


if __name__ == "__main__":
    main()
