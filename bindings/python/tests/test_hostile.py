"""Servers that are hostile, and failures while a call is made."""

import collections
import dataclasses
import pathlib
import sys
import time
import unittest

import servers

import obvia

IDL = """
import "unknwn.idl";

typedef struct Inner { long token; } Inner;
typedef struct Outer { Inner held; } Outer;
typedef struct Hidden { long _token; } Hidden;
typedef union Choice switch (long kind) chosen { case 1: long token; } Choice;
typedef struct Two { long values[2]; } Two;
typedef struct Node { [unique] struct Node *a; [unique] struct Node *b; } Node;

[object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a40)]
interface IGrab : IUnknown {
    HRESULT Inner([in] const Inner *given, [out, retval] long *token);
    HRESULT Outer([in] const Outer *given, [out, retval] long *token);
    HRESULT Hidden([in] const Hidden *given, [out, retval] long *token);
    HRESULT Choice([in] const Choice *given, [out, retval] long *token);
    HRESULT Key([in] const GUID *given);
    HRESULT Pair([in] const Two *given);
    HRESULT Nodes([in] const Node *given);
    HRESULT Narrow([in] float number, [out, retval] float *same);
    HRESULT Text([in, string, utf8] const char *text, [out, retval, string, utf8] char **same);
    HRESULT Slow([in] long count, [in, size_is(count)] const long *values);
    HRESULT Itself([in] long count, [in, size_is(count)] const long *values, [out, retval] IGrab **itself);
    HRESULT Sink([in] IUnknown *sink, [in] IGrab *grab);
}
"""

SERVER = """
import sys
import time
import obvia

@obvia.implements(idl=sys.argv[1])
class Grab:
    def inner(self, given):
        return given.token

    def outer(self, given):
        return given.held.token

    def hidden(self, given):
        return given._token

    def choice(self, given):
        return given.value

    def narrow(self, number):
        return number

    def text(self, text):
        return {"zero": "a\\0b", "half": "\\ud800"}.get(text, text)

    def slow(self, values):
        time.sleep(values[0])

    def itself(self, values):
        return self

    def key(self, *given):
        pass

    nodes = pair = sink = key

with obvia.serve(sys.argv[2], Grab()):
    if len(sys.argv) > 3:
        print(obvia.listen(sys.argv[3]), flush=True)
    else:
        print("ready", flush=True)
    sys.stdin.read()
"""

FILE = pathlib.Path(servers.FOLDER, "grab.idl")
FILE.write_text(IDL)


def start(name, *words, **options):
    return servers.start(sys.executable, "-c", SERVER, str(FILE), name, *words, **options)


class Plain:
    """An object of the program, with data that is of no concern to servers."""

    def __init__(self, token):
        self.token = self._token = self.int = token
        self.arm, self.value, self.case = "token", token, 1

    def method(self):
        pass


@obvia.implements("ITapeEvents", idl=str(servers.ROOT / "examples/calc/calc.idl"))
@dataclasses.dataclass
class Sink:
    token: int

    def printed(self, entry):
        pass

    hint = printed


@dataclasses.dataclass
class Data:
    token: int
    _token: int = 2


Named = collections.namedtuple("Named", "token")


class Iterator:
    """Values whose iteration first calls a function of the program."""

    def __init__(self, work, values):
        self.work, self.values = work, values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        self.work()
        return iter(self.values)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start("grab")
        cls.grab = obvia.connect("grab")
        cls.types = obvia.types(cls.grab)

    def test_only_declared_members_of_data_are_read(self):
        for given in {"token": 7}, self.types.Inner(7), Data(7), Named(7):
            self.assertEqual(self.grab.inner(given), 7)
            self.assertEqual(self.grab.outer({"held": given}), 7)
        undeclared = Data(7)
        undeclared.held = Data(8)
        plain = Plain(8)
        plain.held = plain.method.__func__.held = Plain(9)
        refused = [
            (self.grab.inner, (Plain(7), Sink(7), Plain, Data, plain.method, sys, 7, [7], b"\7")),
            (self.grab.outer, (plain, plain.method, plain.method.__func__, undeclared, {"held": Plain(8)})),
            (self.grab.hidden, (Data(7), plain)),
            (self.grab.choice, (plain, Named(7))),
            (self.grab.key, (plain, Data(7))),
        ]
        for method, values in refused:
            for value in values:
                with self.assertRaises(ValueError, msg=f"{method} {value!r}"):
                    method(value)

    def test_results_that_cannot_be_sent_fail_the_call(self):
        for text in "zero", "half":
            with self.assertRaises(obvia.Error, msg=text):
                self.grab.text(text)
        self.assertEqual(self.grab.text("\u20ac"), "\u20ac")

    def test_iterators_are_not_emptied(self):
        numbers = iter([1, 2])
        with self.assertRaises(ValueError):
            self.grab.pair({"values": numbers})
        self.assertEqual(list(numbers), [1, 2])
        self.assertIsNone(self.grab.pair({"values": {1: 3, 2: 4}.keys()}))

    def test_values_with_exponentially_many_parts_are_refused(self):
        node = self.types.Node()
        for _ in range(200):
            node = self.types.Node(node, node)
        with self.assertRaisesRegex(ValueError, "the value has too many parts"):
            self.grab.nodes(node)

    def test_a_server_describes_a_limited_number_of_interfaces(self):
        # Each of 60 interfaces extends 49 others. A server may describe 2,500 over all connections.
        interface = "[object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f8{:03})] interface {} : {} {{ {} }}\n"
        text = 'import "unknwn.idl";\n' + interface.format(100, "IBase0", "IUnknown", "")
        text += "".join(interface.format(100 + at, f"IBase{at}", f"IBase{at - 1}", "") for at in range(1, 49))
        text += "".join(interface.format(200 + at, f"ILeaf{at}", "IBase48", "HRESULT Do();") for at in range(60))
        params = ", ".join(f"[in] ILeaf{at} *leaf{at}" for at in range(60))
        text += interface.format(0, "IHub", "IUnknown", f"HRESULT Do({params});")
        file = pathlib.Path(servers.FOLDER, "hub.idl")
        file.write_text(text)
        code = """
import sys
import obvia

@obvia.implements("IHub", idl=sys.argv[1])
class Hub:
    def do(self, *leaves):
        pass

with obvia.serve(sys.argv[2], Hub()):
    print("ready", flush=True)
    sys.stdin.read()
"""
        for name in "hub", "other":
            servers.start(sys.executable, "-c", code, str(file), name)

        def failure(name, leaf):
            with self.assertRaises(obvia.Error) as caught:
                obvia.connect(name, interface=f"ILeaf{leaf}")
            return caught.exception.hresult

        failures = [failure("hub", leaf) for leaf in range(60)]
        self.assertEqual(failures, [0x80004002] * 50 + [0x8007000E] * 10)
        self.assertEqual(failure("other", 59), 0x80004002)


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start("failing")
        cls.grab = obvia.connect("failing")

    def test_the_time_limit_includes_the_arguments(self):
        with self.assertRaises(obvia.TimeoutError):
            obvia.with_timeout(self.grab, 1).slow(Iterator(lambda: time.sleep(1.2), [0]))

    def test_exceptions_of_the_program_arrive_unchanged(self):
        def work():
            raise KeyError("unchanged")

        with self.assertRaisesRegex(KeyError, "unchanged"):
            self.grab.slow(Iterator(work, [1]))

    def test_lost_connections_are_no_wrong_values(self):
        server = servers.start("calc-server", "lost")
        calc = obvia.connect("lost")
        with self.assertRaisesRegex(ValueError, "argument `grab`"):
            self.grab.sink(calc, calc)
        servers.end(server)
        with self.assertRaises(obvia.Error):
            self.grab.sink(None, calc)

    def test_numbers_beyond_the_range_of_float_are_refused(self):
        self.assertEqual(self.grab.narrow(0.5), 0.5)
        self.assertEqual(self.grab.narrow(float("inf")), float("inf"))
        with self.assertRaisesRegex(ValueError, "argument `number`: 1e300 is outside of the range of float"):
            self.grab.narrow(1e300)

    def test_results_of_an_object_that_was_closed_meanwhile_arrive(self):
        grab = obvia.connect("failing")
        itself = grab.itself(Iterator(lambda: obvia.close(grab), [1]))
        self.assertEqual(itself.narrow(0.5), 0.5)


class Users(unittest.TestCase):
    def test_descriptions_are_asked_for_with_the_credentials_of_the_connection(self):
        accounts = pathlib.Path(servers.FOLDER, "accounts")
        accounts.write_text("anna = 8846f7eaee8fb117ad06bdd830b7586c\n")
        accounts.chmod(0o600)
        binding = "ncacn_ip_tcp:127.0.0.1[0,security=privacy]"
        server = start("private", binding, environment={"OBVIA_ACCOUNTS": str(accounts)})
        name = server.line.replace("]", ",name=private]")
        grab = obvia.connect(name, user="anna", password="password", timeout=20)
        self.assertEqual(grab.narrow(0.5), 0.5)
        self.assertEqual(grab.itself([1]).narrow(2), 2)
        self.assertEqual(obvia.query(grab, "IGrab").narrow(2), 2)
        with self.assertRaises(obvia.Error):
            obvia.connect(name, user="anna", password="wrong", timeout=20)
