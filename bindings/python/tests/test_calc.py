"""Calls of the example calculator."""

import array
import os
import pathlib
import threading
import time
import unittest
import uuid

import servers

import obvia

IDL = str(servers.ROOT / "examples/calc/calc.idl")


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = servers.start("calc-server", "calc")
        cls.calc = obvia.connect("calc")

    def test_methods_have_the_names_of_python_and_those_of_the_idl(self):
        self.assertEqual(self.calc.add(2, 3), 5)
        self.assertEqual(self.calc.Add(2, b=3), 5)
        self.assertEqual(self.calc.add(a=-2, b=3), 1)
        self.assertIsNone(self.calc.nothing())
        self.assertIn("add", dir(self.calc))
        self.assertEqual(self.calc.add.__doc__, "add(a, b) -> sum")

    def test_a_method_is_made_once(self):
        self.assertIs(self.calc.add, self.calc.add)

    def test_enumerations_are_members_numbers_or_names(self):
        operation = obvia.types(self.calc).Operation
        for divide in (operation.DIVIDE, 4, "DIVIDE"):
            self.assertEqual(self.calc.compute(divide, 1, 4), 0.25)
        with self.assertRaisesRegex(ValueError, "did you mean `DIVIDE`"):
            self.calc.compute("DIVID", 1, 4)

    def test_arrays_are_sequences_or_buffers(self):
        self.assertEqual(self.calc.sum([1, 2, 3]), 6)
        self.assertEqual(self.calc.sum(range(4)), 6)
        self.assertEqual(self.calc.sum(array.array("i", [4, 5])), 9)
        self.assertEqual(self.calc.sum(memoryview(array.array("i", [4, 5, 6]))[1:]), 11)
        self.assertEqual(self.calc.scale(2, [1.5, 2]), [3.0, 4.0])
        self.assertEqual(self.calc.scale(2, array.array("d", [0.5])), [1.0])
        self.assertEqual(self.calc.grid(2, 2, [1, 2, 3, 4]), 10)
        with self.assertRaisesRegex(ValueError, "require 4 elements, but 3 are given"):
            self.calc.grid(2, 2, [1, 2, 3])

    def test_several_results_are_a_named_tuple(self):
        self.assertEqual(self.calc.name("de"), "Taschenrechner \U0001f9ee")
        shouted = self.calc.shout("hello")
        self.assertEqual((shouted.loud, shouted.letters), ("HELLO", 5))
        self.assertEqual(self.calc.shout(None), ("", 0))

    def test_structures_are_objects_or_dictionaries(self):
        entry = obvia.types(self.calc).Entry
        given = entry("ADD", 1, 2, result=50, marked=False)
        self.assertEqual(self.calc.percent(10, given), 5.0)
        self.assertEqual(self.calc.percent(10, vars(given)), 5.0)
        self.assertEqual(self.calc.percent(10, None), 0.0)
        with self.assertRaisesRegex(ValueError, "argument `of`: .*marked"):
            self.calc.percent(10, {"operation": 1, "left": 1, "right": 2, "result": 3})
        with self.assertRaisesRegex(ValueError, "argument `of`: left: expected a number, found str 'x'"):
            self.calc.percent(10, entry("ADD", "x", 2, 3, False))
        with self.assertRaisesRegex(ValueError, "101 is not between 0 and 100"):
            self.calc.percent(101, None)

    def test_objects_are_results_and_arguments(self):
        server = servers.start("calc-server", "tapes")
        calc = obvia.connect("tapes")
        calc.compute("MULTIPLY", 20, 30)
        tape = calc.tape()
        self.assertEqual(tape.length(), 1)
        types = obvia.types(tape)
        printed = types.Entry(types.Operation.MULTIPLY, 20.0, 30.0, 600.0, True)
        self.assertEqual(tape.all(), [printed])
        self.assertIs(tape.all()[0].operation, types.Operation.MULTIPLY)
        self.assertEqual(tape.read(0, 5), ([printed], 1))
        asked = calc.ask(uuid.UUID("5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a11"))
        self.assertEqual(asked.length(), 1)
        self.assertIsNone(tape.watch(None))
        with self.assertRaisesRegex(ValueError, "argument `events`: expected an object of a server, or of a class that has ITapeEvents by `obvia.implements`, found int 7"):
            tape.watch(7)
        # The reference is marshaled for the interface of the parameter, which this object lacks.
        with self.assertRaisesRegex(ValueError, "argument `events`"):
            tape.watch(calc)
        servers.end(server)
        with self.assertRaises(obvia.Error):
            tape.length()

    def test_in_out_parameters_are_arguments_and_results(self):
        calc = obvia.query(self.calc, "ICalc2")
        before = calc.calls(0).calls
        calc.add(1, 1)
        self.assertEqual(calc.calls(10), (before + 11, True))

    def test_errors_have_the_hresult_and_words(self):
        with self.assertRaises(obvia.Error) as caught:
            self.calc.add(2**31 - 1, 1)
        self.assertEqual(caught.exception.hresult, 0x80070057)
        self.assertIsInstance(caught.exception, OSError)
        with self.assertRaises(obvia.Error) as caught:
            self.calc.crash()
        self.assertIn("panic costs only its call", str(caught.exception))
        self.assertEqual(self.calc.add(1, 1), 2)

    def test_wrong_arguments_are_refused_before_the_call(self):
        for wrong in [(), (1,), (1, 2, 3)]:
            with self.assertRaises(TypeError):
                self.calc.add(*wrong)
        with self.assertRaisesRegex(TypeError, "no parameter `c`: add\\(a, b\\) -> sum"):
            self.calc.add(1, c=2)
        with self.assertRaisesRegex(ValueError, "argument `b`: 2147483648 is outside of the range of long"):
            self.calc.add(1, 2**31)
        for wrong in ["1", 1.5, None, [1]]:
            with self.assertRaisesRegex(ValueError, "argument `a`: expected an integer"):
                self.calc.add(wrong, 2)
        with self.assertRaisesRegex(AttributeError, "did you mean `add`"):
            self.calc.addd

    def test_a_timeout_ends_a_call(self):
        calc = obvia.with_timeout(self.calc, 0.1)
        begin = time.monotonic()
        with self.assertRaises(TimeoutError) as caught:
            calc.wait(600_000)
        self.assertLess(time.monotonic() - begin, 300)
        self.assertIsInstance(caught.exception, obvia.Error)
        self.assertIsNone(obvia.with_timeout(calc, 20).wait(1))
        for wrong in (0, -1, float("nan")):
            with self.assertRaises(ValueError):
                obvia.with_timeout(calc, wrong)

    def test_other_threads_run_while_a_call_waits(self):
        def rounds_while_waiting(milliseconds):
            begun, rounds = threading.Event(), 0

            def call():
                begun.set()
                self.calc.wait(milliseconds)

            caller = threading.Thread(target=call)
            caller.start()
            begun.wait()
            while caller.is_alive():
                rounds += 1
                caller.join(0.001)
            return rounds

        # On a busy machine a round may take long.
        self.assertTrue(any(rounds_while_waiting(time) > 20 for time in (300, 3_000, 20_000)))

    def test_closed_objects_make_no_calls(self):
        with obvia.connect("calc") as calc:
            add = calc.add
            self.assertEqual(add(1, 2), 3)
        with self.assertRaisesRegex(obvia.Error, "the object was closed"):
            add(1, 2)
        obvia.close(calc)

    def test_interfaces_come_from_servers_and_from_files(self):
        self.assertEqual(obvia.connect("calc", "ICalc2").add(2, 2), 4)
        self.assertEqual(obvia.connect("calc", "ICalc", idl=IDL).add(2, 2), 4)
        self.assertIn("ICalc2", dict(obvia.interfaces("calc")))
        self.assertIn("calc", obvia.names())
        self.assertIn("HRESULT Add([in] long a, [in] long b", obvia.describe(self.calc))
        with self.assertRaisesRegex(ValueError, "select one"):
            obvia.connect("calc", idl=IDL)
        with self.assertRaisesRegex(obvia.Error, "knows no interface `ICalc9`; it knows"):
            obvia.connect("calc", "ICalc9")
        with self.assertRaises(FileNotFoundError):
            obvia.connect("calc", idl="nowhere.idl")

    def test_another_text_for_an_interface_leaves_the_interface_usable(self):
        other = pathlib.Path(servers.FOLDER, "other.idl")
        other.write_text("""import "unknwn.idl";
            [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a12)]
            interface ICalc : IUnknown { HRESULT Add([in] hyper a, [out, retval] hyper *sum); }""")
        with self.assertRaises(obvia.Error) as caught:
            obvia.connect("calc", idl=str(other))
        self.assertEqual(caught.exception.hresult, 0x80010110)
        self.assertEqual(obvia.connect("calc", "ICalc").add(2, 2), 4)
        self.assertEqual(obvia.query(obvia.connect("calc"), "ICalc2").add(2, 2), 4)

    def test_children_of_a_fork_make_no_calls(self):
        calc = obvia.connect("calc")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                calc.add(1, 2)
            except obvia.Error as error:
                status = 0 if "forked" in str(error) else 2
            finally:
                del calc
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(calc.add(1, 2), 3)

    def test_names_without_a_server_are_reported(self):
        with self.assertRaises(obvia.Error) as caught:
            obvia.connect("nothing-of-this-name")
        self.assertEqual(caught.exception.hresult, 0x800706BA)
