"""Calls of the matrix's objects, which use every construct of the IDL."""

import math
import unittest
import uuid

import servers

import obvia

IDL = str(servers.ROOT / "testing/interop/idl/rpcecho.idl")


def setUpModule():
    servers.start("matrix", "m")


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.values = obvia.connect("m-values")
        cls.types = obvia.types(cls.values)

    def line(self, **changes):
        point = self.types.Point
        ends = [point(1.5, -2, "SLOW", True, b"\1\2\3"), point(-1, 7, "FAST", False, [4, 5, 6])]
        line = {"ends": ends, "key": uuid.UUID(int=7), "id": -(2**40), "width": 0.5, "s": -3, "w": "é"}
        return self.types.Line(**(line | changes))

    def test_integers_have_their_whole_range(self):
        least = [-(2**7), -(2**15), -(2**31), -(2**63)]
        most = [2**8 - 1, 2**16 - 1, 2**32 - 1, 2**64 - 1]
        self.assertEqual(self.values.integers(*least), (2**7 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1))
        self.assertEqual(self.values.unsigned(*most), (0, 0, 0, 0))
        for at in range(4):
            beyond = list(most)
            beyond[at] += 1
            with self.assertRaises(ValueError):
                self.values.unsigned(*beyond)

    def test_every_base_type_is_a_value_of_python(self):
        key = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
        result = self.values.others(True, 65, "w", 0.25, math.inf, 0x80004005, key)
        inverted = uuid.UUID(int=key.int ^ 2**128 - 1)
        self.assertEqual(result, (False, 190, 0xFFFF - ord("w"), -0.25, -math.inf, 0x7FFFBFFA, inverted))
        kinds = [type(value) for value in result]
        self.assertEqual(kinds, [bool, int, int, float, float, int, uuid.UUID])

    def test_structures_are_inside_structures(self):
        sum = self.values.structure(self.line(), self.line(id=1), None)
        self.assertIsInstance(sum, self.types.Line)
        self.assertIsInstance(sum.ends[0], self.types.Point)
        self.assertIsInstance(sum.ends[0].raw, bytes)
        with self.assertRaisesRegex(ValueError, r"argument `given`: ends\[1\].y: 40000 is outside"):
            ends = [self.line().ends[0], self.types.Point(1, 40000, 0, True, b"abc")]
            self.values.structure(self.line(ends=ends), self.line(), None)

    def test_arrays_have_elements_of_any_type(self):
        mode = self.types.Mode
        turned = self.values.modes([mode.SLOW, "NORMAL"])
        self.assertTrue(all(isinstance(value, mode) for value in turned))
        self.assertEqual(len(self.values.lines([self.line(), self.line()])), 2)
        self.assertEqual(self.values.matrix([[1, 2], [3, 4], [5, 6]]), [[1, 3, 5], [2, 4, 6]])
        self.assertEqual(self.values.fill(3, 7), (3, [7, 8, 9]))
        self.assertEqual(self.values.made(3), [0.0, 0.5, 1.0])
        self.assertEqual(self.values.expression(1, 3, b"\1\2\3\4"), 8)

    def test_texts_are_str(self):
        self.assertEqual(self.values.texts("narrow", "weit \U0001f9ee", None), ("narrow|weit \U0001f9ee|-", ""))
        with self.assertRaisesRegex(ValueError, "must not contain a zero"):
            self.values.texts("a\0b", "", None)

    def test_strings_are_written_to_arrays_of_the_caller(self):
        wide, length, narrow = self.values.caption(3, 2, "a")
        self.assertEqual((length, list(wide), list(narrow)), (1, [97, 97, 0], [97, 0]))
        for rooms in (3, 0), (0, 2):
            with self.assertRaises(obvia.Error):
                self.values.caption(*rooms, "x")
        self.assertEqual(self.values.caption(1, 1, "a").wide[0], 0, "the connection goes on")

    def test_values_that_may_be_null_are_changed(self):
        point = self.line().ends[0]
        one, turned, given = self.values.negate(5, point)
        self.assertEqual((one, turned.x, turned.y, given), (-5, -1.5, 2, 2))
        self.assertEqual(self.values.negate(None, None), (None, None, 0))
        self.assertEqual(self.values.halve([6, -7], False), ([3, -3], True))
        self.assertEqual(self.values.halve(None, True), (None, False))

    def test_strings_in_utf8_are_str(self):
        self.assertEqual(self.values.greet("\u00c9va", "Dr \u20ac"), ("Dr \u20ac \u00c9va", 4))
        self.assertEqual(self.values.greet("", None), ("", 0))
        self.assertEqual(self.values.sign("\U0001f980", None), "\U0001f980")
        for text in "a\0b", "\ud800":
            for method, arguments in (self.values.greet, ("", text)), (self.values.sign, (text, None)):
                with self.assertRaises(ValueError, msg=repr(text)):
                    method(*arguments)
        # The method returns a string with a zero.
        with self.assertRaises(obvia.Error) as caught:
            self.values.sign("wrong", None)
        self.assertEqual(caught.exception.hresult, 0x80070057)

    def test_objects_are_passed_in_both_directions(self):
        iid = dict(obvia.interfaces("m-values"))["IValues"]
        back = self.values.same(iid, self.values)
        self.assertEqual(back.ranged(3), self.values.ranged(3))
        with self.assertRaises(obvia.Error) as caught:
            self.values.fail(0x80004005)
        self.assertEqual(caught.exception.hresult, 0x80004005)


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shapes = obvia.connect("m-shapes")
        cls.types = obvia.types(cls.shapes)

    def list(self, *values):
        first = None
        for value in reversed(values):
            first = self.types.Item(value, value % 2 == 0, f"item {value}", first)
        return first

    def test_lists_follow_pointers(self):
        self.assertEqual(self.shapes.sum(self.list(1, 2, 3)), (6, "item 1, item 2, item 3; 1 marked"))
        self.assertEqual(self.shapes.range(1, 3), self.list(1, 2, 3))
        self.assertEqual(self.shapes.reverse(self.list(1, 2, 3)), self.list(3, 2, 1))
        self.assertEqual(self.shapes.sum(None).sum, 0)
        endless = self.list(1)
        endless.next = endless
        with self.assertRaisesRegex(ValueError, "nested too deeply"):
            self.shapes.sum(endless)
        self.assertEqual(self.shapes.range(1, 500).next.value, 2)
        with self.assertRaisesRegex(ValueError, "nested too deeply"):
            self.shapes.range(1, 501)

    def test_trees_are_structures_or_dictionaries(self):
        tree = self.shapes.insert({"key": 5, "left": None, "right": None}, 3)
        self.assertEqual((tree.key, tree.left.key, tree.right), (5, 3, None))

    def test_graphs_keep_their_shared_nodes_and_cycles(self):
        ring = self.shapes.ring(3)
        self.assertIs(ring.first.first.first, ring)
        self.assertEqual(self.shapes.walk(ring, 4), ring.first.number)
        node = self.types.Node(1)
        self.assertTrue(self.shapes.shared(node, node))
        self.assertFalse(self.shapes.shared(node, self.types.Node(1)))
        self.assertIn("...", repr(ring))

    def test_values_that_are_made_on_use_are_different_nodes(self):
        class Endless(self.types.Node):
            """A node that makes its next node anew at each use."""

            def __init__(self, number):
                self.number = number

            first = property(lambda self: Endless(self.number + 1) if self.number < 20 else None)
            second = None

        self.assertEqual(self.shapes.walk(Endless(1), 15), 16)

    def test_members_imply_counts(self):
        samples = self.types.Samples(
            count=2, values=[1.0, 3.0], flags=b"\0\1", rows=1, columns=1, table=[1, 2], used=2, tail=[7, 8]
        )
        self.assertIsInstance(self.shapes.average(samples), float)
        implied = {name: value for name, value in vars(samples).items() if name != "count"}
        self.assertEqual(self.shapes.average(implied), self.shapes.average(samples))
        self.assertEqual(self.shapes.sampled(3).count, 3)

    def test_unions_have_an_arm(self):
        describe = self.shapes.describe
        for kind, given in [(1, {"number": 7}), (2, {"real": 0.5}), (3, {"text": "t"}), (4, {"list": self.list(1)})]:
            self.assertIsInstance(describe(kind, given), str)
        self.assertEqual(describe(1, obvia.Union("number", 7)), describe(1, {"number": 7}))
        with self.assertRaisesRegex(ValueError, "the arm belongs to discriminant 1"):
            describe(2, {"number": 7})
        with self.assertRaisesRegex(ValueError, "no such arm; did you mean `number`"):
            describe(1, {"numbr": 7})
        self.assertEqual(self.shapes.choose({"number": 4}), 4)
        entries = [self.types.Entry("one", 1, obvia.Union("number", 1)), self.types.Entry("c", 5, {"color": "BLUE", "case": 5})]
        self.shapes.put(entries)
        listed = self.shapes.list()
        self.assertEqual([entry.name for entry in listed], ["one", "c"])
        self.assertEqual(listed[0].value, obvia.Union("number", 1, 1))
        self.assertIs(listed[1].value.value, self.types.Color.BLUE)

    def test_structures_hold_objects(self):
        pair = self.shapes.peers([])
        self.assertEqual((pair.left, pair.word, pair.right.twice(3)), (None, "last and mine", 21))
        self.assertEqual(self.shapes.peers([None, pair.right]).left.twice(2), 14)
        self.assertEqual(self.shapes.meet({"left": pair.right, "word": "abc", "right": None}), 2100)

    def test_texts_are_in_arrays(self):
        self.assertEqual(self.shapes.words(["one", "two"]), ["ONE", "TWO"])

    def test_oneway_methods_return_at_once(self):
        self.assertIsNone(self.shapes.note(self.list(1, 2)))


class Functions(unittest.TestCase):
    def test_functions_are_called_without_an_object(self):
        echo = obvia.connect("ncacn_vi_shm:[m-functions]", "rpcecho", idl=IDL)
        self.assertEqual(echo.add_one(6), 7)
