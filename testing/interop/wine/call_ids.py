"""Relays a client with one call at a time to a server of Wine 8.0, which answers with call ID 1.

Usage: call_ids.py LISTENING-PORT HOST PORT, until the standard input ends. Prints `ready PORT` when
it listens. Responses and faults get the call ID of the request before them; the rest is unchanged.
"""

import socket
import struct
import sys
import threading

REQUEST, RESPONSE, FAULT = 0, 2, 3
HEADER = 16


def units(source):
    """Yields the PDUs from a socket (C706 12.6.3.1), which are little-endian here."""
    came = b""
    while chunk := source.recv(65536):
        came += chunk
        while len(came) >= HEADER and len(came) >= (length := struct.unpack_from("<H", came, 8)[0]):
            yield bytearray(came[:length])
            came = came[length:]


def requests(client, server, numbers):
    for unit in units(client):
        if unit[2] == REQUEST:
            numbers[0] = unit[12:16]
        server.sendall(unit)
    server.shutdown(socket.SHUT_WR)


def responses(server, client, numbers):
    for unit in units(server):
        if unit[2] in (RESPONSE, FAULT):
            unit[12:16] = numbers[0]
        client.sendall(unit)
    client.shutdown(socket.SHUT_WR)


def accept(listener, address):
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(address)
        numbers = [bytes(4)]
        threading.Thread(target=requests, args=(client, server, numbers), daemon=True).start()
        threading.Thread(target=responses, args=(server, client, numbers), daemon=True).start()


def main():
    port, host, server_port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    listener = socket.create_server(("127.0.0.1", port))
    print("ready", listener.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listener, (host, server_port)), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
