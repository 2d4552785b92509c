"""Calls by impacket's DCOM client to `interop-objects`.

    dcom_impacket.py HOST USER PASSWORD LEVEL [--only TEST] [--except TEST]... [--started SOCKET] COMMAND ...

starts the server by its command. The server listens on port 135 of the host, because impacket uses
no other. With `--started` the command starts the host's service for activation, which starts the
server on demand, and the server writes the number of its objects to the socket. `--only` runs one
test. `--except` leaves out a test that the server does not support. The test `pings` needs a server
with a ping period of 500 ms.
"""

import socket
import subprocess
import sys
import threading
import time

from impacket.dcerpc.v5 import dcomrt, rpcrt
from impacket.dcerpc.v5.dcomrt import (
    DCERPCSessionError,  # noqa: F401: impacket looks for it where a request's class is
    DCOMANSWER,
    DCOMCALL,
    IActivation,
    INTERFACE,
    IObjectExporter,
    IRemoteSCMActivator,
    IRemUnknown2,
    PMInterfacePointer,
)
from impacket.dcerpc.v5.dtypes import BYTE, GUID, LONG, LPWSTR, ULONG, WSTR
from impacket.dcerpc.v5.ndr import NDRHYPER, NDRUniConformantArray
from impacket.uuid import string_to_bin, uuidtup_to_bin

CLASS = string_to_bin("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b01")
CLOSED_CLASS = string_to_bin("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b02")
FORBIDDEN_CLASS = string_to_bin("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b03")
FACTORED_CLASS = string_to_bin("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b04")
UNKNOWN_CLASS = string_to_bin("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2bff")
COUNTER = uuidtup_to_bin(("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b10", "0.0"))
NAMED = uuidtup_to_bin(("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b11", "0.0"))
FACTORY = uuidtup_to_bin(("00000001-0000-0000-c000-000000000046", "0.0"))
UNKNOWN_INTERFACE = uuidtup_to_bin(("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2bfe", "0.0"))
LEVELS = {
    "none": rpcrt.RPC_C_AUTHN_LEVEL_NONE,
    "connect": rpcrt.RPC_C_AUTHN_LEVEL_CONNECT,
    "integrity": rpcrt.RPC_C_AUTHN_LEVEL_PKT_INTEGRITY,
    "privacy": rpcrt.RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
}
# The time after which silent clients are dropped, this time with a margin, and the time limit of
# expected events, all in seconds.
SILENCE = 3 * 0.5
PATIENCE = SILENCE + 1.5
LATEST = 60


class Add(DCOMCALL):
    opnum = 3
    structure = (("number", LONG),)


class AddResponse(DCOMANSWER):
    structure = (("sum", LONG), ("ErrorCode", ULONG))


class Mixed(DCOMCALL):
    opnum = 4
    structure = (("narrow", BYTE), ("wide", NDRHYPER), ("text", WSTR))


class MixedResponse(DCOMANSWER):
    structure = (("sum", NDRHYPER), ("ErrorCode", ULONG))


class Make(DCOMCALL):
    opnum = 5
    structure = ()


class MakeResponse(DCOMANSWER):
    structure = (("made", PMInterfacePointer), ("ErrorCode", ULONG))


class AddTo(DCOMCALL):
    opnum = 6
    structure = (("other", PMInterfacePointer), ("number", LONG))


class AddToResponse(DCOMANSWER):
    structure = (("sum", LONG), ("ErrorCode", ULONG))


class Words(NDRUniConformantArray):
    item = "<L"


class MoveData(DCOMCALL):
    opnum = 7
    structure = (("count", ULONG), ("data", Words))


class MoveDataResponse(DCOMANSWER):
    structure = (("data", Words), ("ErrorCode", ULONG))


class CreateInstance(DCOMCALL):
    opnum = 3
    structure = (("riid", GUID),)


class CreateInstanceResponse(DCOMANSWER):
    structure = (("made", PMInterfacePointer), ("ErrorCode", ULONG))


class LockServer(DCOMCALL):
    opnum = 4
    structure = (("lock", LONG),)


class LockServerResponse(DCOMANSWER):
    structure = (("ErrorCode", ULONG),)


class Name(DCOMCALL):
    opnum = 3
    structure = ()


class NameResponse(DCOMANSWER):
    structure = (("name", LPWSTR), ("ErrorCode", ULONG))


def call(pointer, iid, request, **parameters):
    for name, value in parameters.items():
        request[name] = value
    return pointer.request(request, iid, uuid=pointer.get_iPid())


def add(pointer, number):
    return call(pointer, COUNTER, Add(), number=number)["sum"]


def let_go(pointer, references=5):
    """Releases the references that came with a pointer."""
    for _ in range(references):
        pointer.RemRelease()


def failure(work):
    """Returns the text of the failure."""
    try:
        work()
    except Exception as error:  # impacket has several
        return str(error)
    return "nothing"


class Server:
    def __init__(self, command):
        self.command = command
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.binding = self.process.stdout.readline().strip()

    def objects(self):
        """Returns the number of objects, without the one that always exists."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) - 1

    def restart(self):
        """Restarts the server without the tracer, because the tracer writes each file only once."""
        self.end()
        self.command = self.command[self.command.index("--") + 1 :]
        self.start()

    def becomes(self, count):
        deadline = time.monotonic() + LATEST
        while self.objects() != count and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.objects() == count

    def end(self):
        self.process.kill()
        self.process.wait()


class Started(Server):
    """A server that the host's service for activation starts on demand."""

    def __init__(self, command, count):
        super().__init__(command)
        self.count = count

    def objects(self):
        with socket.socket(socket.AF_UNIX) as asker:
            try:
                asker.connect(self.count)
                count = asker.makefile().readline()
            except (FileNotFoundError, ConnectionRefusedError, ConnectionResetError):
                return 0
            # A server that is ending sends no answer.
            return int(count) - 1 if count else 0


class Client:
    def __init__(self, host, user, password, level):
        self.host, self.login = host, (host, user, password, level)
        # The older activation needs the host's name in this argument.
        self.dcom = dcomrt.DCOMConnection(host, user, password, "", authLevel=level, remoteHost=host)

    def another(self):
        """Returns another connection, because impacket can activate only once on a connection."""
        return Client(*self.login)

    def scm(self):
        return IRemoteSCMActivator(self.dcom.get_dce_rpc())

    def exporter(self):
        return IObjectExporter(self.dcom.get_dce_rpc())

    def create(self):
        return self.dcom.CoCreateInstanceEx(CLASS, COUNTER)


def calls(client, server):
    counter = client.create()
    is_right = add(counter, 5) == 5 and add(counter, 37) == 42
    # ORPCTHIS, which precedes the arguments, must not change their alignment.
    mixed = call(counter, COUNTER, Mixed(), narrow=1, wide=1 << 40, text="four\0")
    is_right &= mixed["sum"] == (1 << 40) + 5
    moved = call(counter, COUNTER, MoveData(), count=20_000, data=list(range(20_000)))
    is_right &= moved["data"] == list(range(1, 20_001))
    why = failure(lambda: add(counter, 0))
    is_right &= "E_INVALIDARG" in why or "0x80070057" in why
    let_go(counter)
    return is_right and server.becomes(0)


def further_interfaces(client, server):
    counter = client.create()
    named = counter.RemQueryInterface(1, (NAMED,))
    is_right = call(named, NAMED, Name())["name"] == "a counter\0"
    why = failure(lambda: counter.RemQueryInterface(1, (UNKNOWN_INTERFACE,)))
    is_right &= "E_NOINTERFACE" in why or "80004002" in why
    # An IPID accepts calls of its own interface only.
    why = failure(lambda: call(counter, NAMED, Name()))
    is_right &= "nca_s_unk_if" in why
    let_go(counter)
    is_right &= server.objects() == 1
    let_go(named, 1)
    return is_right and server.becomes(0)


def references(client, server):
    counter = client.create()
    counter.RemAddRef()
    let_go(counter)
    is_right = server.objects() == 1 and add(counter, 3) == 3
    let_go(counter, 1)
    is_right &= server.becomes(0)
    why = failure(lambda: add(counter, 3))
    is_right &= "RPC_E_DISCONNECTED" in why
    return is_right and "CO_E_OBJNOTREG" in failure(counter.RemAddRef)


def made_by_methods(client, server):
    counter = client.create()
    made = call(counter, COUNTER, Make())["made"]
    reference = b"".join(made["abData"])
    other = IRemUnknown2(INTERFACE(counter.get_cinstance(), reference, counter.get_ipidRemUnknown(), target=client.host))
    is_right = other.get_iPid() != counter.get_iPid() and add(other, 7) == 7
    is_right &= server.objects() == 2
    # The server unmarshals its own object as itself, and takes the references in the OBJREF. No
    # other references to the object are left.
    is_right &= call(counter, COUNTER, AddTo(), other=made, number=4)["sum"] == 11
    is_right &= server.becomes(1)
    let_go(counter)
    return is_right and server.becomes(0)


def class_objects(client, server):
    counter = client.scm().RemoteGetClassObject(CLASS, COUNTER)
    is_right = add(counter, 1) > 0
    let_go(counter)
    return is_right and server.objects() == 0


def class_factories(client, server):
    factory = client.scm().RemoteGetClassObject(FACTORED_CLASS, FACTORY)
    call(factory, FACTORY, LockServer(), lock=1)
    made = call(factory, FACTORY, CreateInstance(), riid=COUNTER[:16])["made"]
    reference = b"".join(made["abData"])
    counter = IRemUnknown2(INTERFACE(factory.get_cinstance(), reference, factory.get_ipidRemUnknown(), target=client.host))
    is_right = add(counter, 7) == 7 and server.objects() == 1
    create = CreateInstance()
    why = failure(lambda: call(factory, FACTORY, create, riid=UNKNOWN_INTERFACE[:16]))
    is_right &= "E_NOINTERFACE" in why and server.objects() == 1
    let_go(counter)
    call(factory, FACTORY, LockServer(), lock=0)
    let_go(factory)
    return is_right and server.becomes(0)


def older_activation(client, server):
    counter = IActivation(client.dcom.get_dce_rpc()).RemoteActivation(CLASS, COUNTER)
    # impacket's default is the highest level, whatever the client's level is.
    counter.get_cinstance().set_auth_level(client.login[-1])
    is_right = add(counter, 9) == 9
    let_go(counter)
    return is_right and server.becomes(0)


def unknown_classes(client, server):
    scm = client.scm()
    is_right = "REGDB_E_CLASSNOTREG" in failure(lambda: scm.RemoteCreateInstance(UNKNOWN_CLASS, COUNTER))
    why = failure(lambda: client.another().scm().RemoteCreateInstance(CLASS, UNKNOWN_INTERFACE))
    return is_right and "E_NOINTERFACE" in why and server.objects() == 0


def who_may_not(client, server):
    """Checks that forbidden calls end in a fault, and that forbidden activation makes no object."""
    closed = client.dcom.CoCreateInstanceEx(CLOSED_CLASS, COUNTER)
    is_right = server.objects() == 1 and "rpc_s_access_denied" in failure(lambda: add(closed, 5))
    # References can be added and released without the permission to call.
    closed.RemAddRef()
    let_go(closed)
    let_go(closed, 1)
    is_right &= server.becomes(0)
    for scm in ("RemoteCreateInstance", "RemoteGetClassObject"):
        ask = getattr(client.another().scm(), scm)
        is_right &= "E_ACCESSDENIED" in failure(lambda: ask(FORBIDDEN_CLASS, COUNTER))
    # After a failed activation, impacket reads the missing bindings, and so raises an error of its
    # own.
    older = IActivation(client.another().dcom.get_dce_rpc())
    is_right &= failure(lambda: older.RemoteActivation(FORBIDDEN_CLASS, COUNTER)) != "nothing"
    return is_right and server.objects() == 0


def resolving(client, server):
    counter = client.create()
    exporter = client.exporter()
    is_right = all(
        any(client.host in binding["aNetworkAddr"] for binding in resolve(counter.get_oxid(), (7,)))
        for resolve in (exporter.ResolveOxid, exporter.ResolveOxid2)
    )
    is_right &= bool(failure(lambda: exporter.ResolveOxid2(1234, (7,))) != "nothing")
    exporter.ServerAlive()
    is_right &= any(client.host in binding["aNetworkAddr"] for binding in exporter.ServerAlive2())
    let_go(counter)
    return is_right and server.becomes(0)


class Late(Exception):
    """The client could not ping in time, so the test shows nothing about the server."""


class Pinger:
    """Sends pings, and checks that each is answered before the previous one expires."""

    def __init__(self):
        self.began = time.monotonic()

    def meanwhile(self, work, *arguments):
        try:
            return work(*arguments)
        finally:
            if time.monotonic() - self.began >= SILENCE:
                raise Late

    def __call__(self, ping, *arguments):
        began = time.monotonic()
        answer = self.meanwhile(ping, *arguments)
        self.began = began
        return answer

    def go_on(self, ping, *arguments):
        """Pings for longer than an object without pings is kept."""
        end = time.monotonic() + PATIENCE
        self.until(lambda: time.monotonic() >= end, ping, *arguments)

    def until(self, condition, ping, *arguments):
        """Pings until a condition holds, and returns whether it holds in time."""
        end = time.monotonic() + LATEST
        while not self.meanwhile(condition):
            if time.monotonic() >= end:
                return False
            self(ping, *arguments)
            time.sleep(0.3)
        return True


def pings(client, server):
    """Checks that pinged objects stay, and that objects are collected once no set has them."""
    again = client.another()
    exporter, ping = client.exporter(), Pinger()
    one, other = ping.meanwhile(client.create), ping.meanwhile(again.create)
    made = ping(exporter.ComplexPing, 0, 0, [one.get_oid(), other.get_oid()])["pSetId"]
    ping.go_on(exporter.SimplePing, made)
    is_right = ping.meanwhile(server.objects) == 2 and ping.meanwhile(add, one, 1) == 1
    ping(exporter.ComplexPing, made, 1, [], [other.get_oid()])
    is_right &= ping.until(lambda: server.objects() == 1, exporter.SimplePing, made)
    is_right &= ping.meanwhile(add, one, 1) == 2
    # From here on no client pings.
    is_right &= server.becomes(0)
    return is_right and failure(lambda: exporter.SimplePing(made)) != "nothing"


def restarted(client, server):
    """Restarts the service: the server and its client's objects must stay."""
    counter = client.create()
    client.exporter().ComplexPing(0, 0, [counter.get_oid()])
    add(counter, 5)
    server.restart()
    again = client.another()
    # The new service does not know earlier sets, so the client makes a new one.
    exporter = again.exporter()
    is_right = failure(lambda: exporter.SimplePing(1)) != "nothing"
    exporter.ComplexPing(0, 0, [counter.get_oid()])
    is_right &= add(counter, 1) == 6
    let_go(counter)
    return is_right and server.becomes(0)


TESTS = [
    calls,
    further_interfaces,
    references,
    made_by_methods,
    class_objects,
    class_factories,
    older_activation,
    unknown_classes,
    who_may_not,
    resolving,
    pings,
    restarted,
]


def in_time(test, login, server):
    """Repeats a test until its client has pinged in time, and returns the test's result."""
    deadline = time.monotonic() + LATEST
    while True:
        client = Client(*login)
        try:
            good = test(client, server)
            client.dcom.disconnect()
            return good
        except Late:
            if time.monotonic() >= deadline:
                raise
        client.dcom.disconnect()
        INTERFACE.CONNECTIONS.clear()
        server.becomes(0)


def main(host, user, password, level, *command):
    tests = TESTS
    while command[0] in ("--only", "--except"):
        is_only, name, command = command[0] == "--only", command[1], command[2:]
        if name not in [test.__name__ for test in TESTS]:
            return f"there is no test {name}"
        tests = [test for test in tests if (test.__name__ == name) == is_only]
    if command[0] == "--started":
        server = Started(command[2:], command[1])
    else:
        server, tests = Server(command), [test for test in tests if test is not restarted]
    failed = 0
    try:
        for test in tests:
            try:
                good, why = in_time(test, (host, user, password, LEVELS[level]), server), ""
            except Exception as error:  # whatever a peer makes of it
                good, why = False, f": {type(error).__name__} {error}"
            INTERFACE.CONNECTIONS.clear()
            print("ok    " if good else "FAILED", f"{level}: {test.__name__.replace('_', ' ')}", why, flush=True)
            failed += not good
            if not good:
                server.becomes(0)
    finally:
        server.end()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
