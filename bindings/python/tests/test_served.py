"""Objects in Python, which other processes call."""

import gc
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import servers

import obvia

IDL = str(servers.ROOT / "examples/calc/calc.idl")


@obvia.implements("ITapeEvents", idl=IDL)
class Sink:
    """Receives what a tape prints."""

    def __init__(self):
        self.entries, self.hints, self.done = [], [], threading.Event()

    def printed(self, entry):
        self.entries.append(entry)
        self.done.set()

    def hint(self, code):
        self.hints.append(code)


@obvia.implements("ITape", idl=IDL)
class Tape:
    def __init__(self):
        self.events = None

    def length(self):
        return 2

    def read(self, first, room):
        return self.all()[first : first + room], 1

    def all(self):
        entry = {"operation": "ADD", "left": 1, "right": 2, "result": 3, "marked": True}
        return [entry, entry | {"right": 3, "result": 4}]

    def watch(self, events):
        self.events = events

    def watcher(self):
        return self.events


class Coded(Exception):
    """An exception of a library that has an HRESULT for other purposes."""

    hresult = 0x80070057


class Calc:
    """A calculator in Python. The other methods of its interface are never called."""

    def __init__(self):
        self.own_tape = Tape()

    def add(self, a, b):
        return a + b

    def name(self, language):
        return f"python, {language}"

    def shout(self, text):
        return text.upper(), len(text)

    def tape(self):
        return self.own_tape

    def percent(self, percent, of):
        raise obvia.Error(0x80070057, f"no {percent} % of {of.operation.name}")

    def sum(self, values):
        return sum(values)

    def scale(self, by, values):
        return [by * value for value in values]

    def ask(self, iid):
        raise KeyError(str(iid))

    def compute(self, operation, left, right):
        return "nonsense"

    def nothing(self):
        pass

    def grid(self, width, height, cells):
        raise (obvia.Error(0, "no failure"), obvia.Error(-0x7FF8FFA9, "signed"), Coded("code"))[width]

    crash = wait = None


CLIENT = f"""
import obvia

@obvia.implements("ITapeEvents", idl={IDL!r})
class Sink:
    def printed(self, entry):
        pass

    def hint(self, code):
        pass

calc = obvia.connect("python")
print(calc.add(2, 3), calc.name("de"), *calc.shout("hi"), calc.sum([1, 2]), calc.scale(2.0, [1, 2]), calc.nothing())
tape = calc.tape()
print(tape.length(), tape.all()[1].result, [entry.right for entry in tape.read(1, 5).entries])
sink = Sink()
tape.watch(sink)
print(tape.watcher() is sink)
entry, iid = tape.all()[0], "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10"
for method, arguments in (calc.percent, (5, entry)), (calc.ask, (iid,)), (calc.compute, ("ADD", 1, 2)), *((calc.grid, (kind, 0, [])) for kind in range(3)):
    try:
        method(*arguments)
    except obvia.Error as error:
        print(hex(error.hresult), error.message)
"""

PRINTED = """\
5 python, de HI 2 3 [2.0, 4.0] None
2 4.0 [3.0]
True
0x80070057 no 5 % of ADD
0x80004005 KeyError: '5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10'
0x80004005 ValueError: the result of compute: result: expected a number, found str 'nonsense'
0x80004005 no failure
0x80070057 signed
0x80004005 Coded: code
"""

WHOLE = """import "unknwn.idl";
    [object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a30)]
    interface IPart : IUnknown {{ HRESULT Value([out, retval] {value} *value); }}
    [object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a31)]
    interface IWhole : IPart {{ HRESULT Part([out, retval] IPart **part); }}"""

WHOLE_SERVER = """
import sys
import obvia

@obvia.implements("IWhole", idl=sys.argv[1])
class Whole:
    def value(self):
        return int(sys.argv[3])

    def part(self):
        return self

with obvia.serve(sys.argv[2], Whole()):
    print("ready", flush=True)
    sys.stdin.read()
"""


class Served(unittest.TestCase):
    def test_sinks_are_called_back(self):
        server = servers.start("calc-server", "watched")
        calc, sink = obvia.connect("watched"), Sink()
        calc.tape().watch(sink)
        self.assertIs(calc.tape().watcher(), sink)
        calc.compute("MULTIPLY", 20, 30)
        self.assertTrue(sink.done.wait(10))
        self.assertEqual([entry.result for entry in sink.entries], [600.0])
        self.assertEqual(sink.hints, [3])
        servers.end(server)

    def test_a_sink_lives_as_long_as_others_refer_to_it(self):
        server = servers.start("calc-server", "kept")
        tape = obvia.connect("kept").tape()
        sink = Sink()
        alive, ended = weakref.ref(sink), threading.Event()
        weakref.finalize(sink, ended.set)
        tape.watch(sink)
        del sink
        gc.collect()
        self.assertIsNotNone(alive())
        tape.watch(None)
        self.assertTrue(ended.wait(10))
        servers.end(server)

    def test_objects_in_python_are_called_from_other_processes(self):
        with obvia.serve("python", Calc(), "ICalc", idl=IDL):
            self.assertIsInstance(obvia.connect("python"), Calc)
            client = [sys.executable, "-c", CLIENT]
            done = subprocess.run(client, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, PRINTED, done.stderr)
        with self.assertRaises(obvia.Error):
            obvia.connect("python")

    def test_objects_without_the_methods_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected an object with ITapeEvents, whose method `printed` is missing"):
            obvia.serve("incomplete", object(), "ITapeEvents", idl=IDL)

    def test_only_objects_of_declared_classes_are_passed(self):
        server = servers.start("calc-server", "undeclared")
        tape = obvia.connect("undeclared").tape()

        class Undeclared:
            def printed(self, entry):
                pass

            hint = printed

        for refused in (Undeclared(), Sink, len, unittest, {"printed": 1, "hint": 2}, "text"):
            with self.assertRaisesRegex(ValueError, "a class that has ITapeEvents by `obvia.implements`"):
                tape.watch(refused)

        class Derived(Sink):
            pass

        self.assertIsNone(tape.watch(Derived()))
        servers.end(server)

    def test_classes_declare_an_interface_of_the_servers_version(self):
        events = """import "unknwn.idl";
            [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]
            interface ITapeEvents : IUnknown { HRESULT Printed([in] long entry); }"""
        with self.assertRaisesRegex(obvia.Error, "has declared another interface with the IID of ITapeEvents"):
            obvia.implements(idl=written(events))

    def test_servers_have_different_versions_of_an_interface(self):
        versions = ("narrow", "long", 7), ("broad", "hyper", 1 << 40)
        for name, kind, value in versions:
            servers.start(sys.executable, "-c", WHOLE_SERVER, written(WHOLE.format(value=kind)), name, str(value))
        wholes = [obvia.connect(name) for name, _, _ in versions]
        for whole, (_, _, value) in zip(wholes, versions):
            self.assertEqual((whole.value(), whole.part().value()), (value, value))

    def test_methods_whose_names_python_reserves_are_not_served(self):
        hidden = """import "unknwn.idl";
            [object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]
            interface IHidden : IUnknown { HRESULT __Getattribute__([in, string] char *name); }"""
        with self.assertRaisesRegex(ValueError, "objects in Python serve no method `__Getattribute__`"):
            obvia.implements(idl=written(hidden))

    def test_methods_that_no_language_supports_are_refused(self):
        for parameters, reason in (
            ("[in] long n, [in, string, size_is(n)] char *a", "a string that has a size"),
            ("[in, unique, range(1, 5)] long *a", "a pointer that may be null that \\[range\\] limits"),
            ("[in] long n, [in, size_is(2, n)] long **a", "an array whose size depends on a parameter"),
            ("[in, unique] long *n, [in, size_is(*n)] long *a", "size is behind a pointer that may be null"),
        ):
            text = f"""import "unknwn.idl";
                [object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)]
                interface IRefused : IUnknown {{ HRESULT Take({parameters}); }}"""
            for use in (obvia.implements, lambda idl: obvia.connect("python", idl=idl)):
                with self.assertRaisesRegex(ValueError, reason):
                    use(idl=written(text))

    def test_interfaces_of_the_runtime_are_refused(self):
        marshal = """import "unknwn.idl";
            [object, uuid(00000003-0000-0000-c000-000000000046)]
            interface IMarshal : IUnknown { HRESULT Number([out, retval] long *number); }"""
        for use in (obvia.implements, lambda idl: obvia.connect("python", idl=idl)):
            with self.assertRaisesRegex(obvia.Error, "belongs to COM's IMarshal"):
                use(idl=written(marshal))


def written(text):
    """Writes an IDL file, and returns its path."""
    folder = tempfile.mkdtemp(prefix="obvia-idl-", dir=servers.FOLDER)
    file = pathlib.Path(folder, "test.idl")
    file.write_text(text)
    return str(file)
