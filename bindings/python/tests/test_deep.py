"""Values of unusual forms, which a server in Python receives."""

import pathlib
import sys
import unittest

import servers

import obvia

IDL = """
import "unknwn.idl";

typedef struct Tail { long count; [size_is(count)] long items[]; } Tail;
typedef struct Item { long value; [unique] struct Item *next; } Item;
typedef struct Tree { long count; [size_is(count)] struct Tree *children; } Tree;

[object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)]
interface IForms : IUnknown {
    HRESULT Sum([in] const Tail *tail, [out, retval] long *sum);
    HRESULT Length([in, unique] const Item *first, [out, retval] long *length);
    HRESULT Depth([in] const Tree *tree, [out, retval] long *depth);
}
"""

SERVER = """
import sys
import obvia

@obvia.implements(idl=sys.argv[1])
class Forms:
    def sum(self, tail):
        return sum(tail.items)

    def length(self, first):
        length = 0
        while first:
            first, length = first.next, length + 1
        return length

    def depth(self, tree):
        depth = 0
        while tree.children:
            tree, depth = tree.children[0], depth + 1
        return depth

with obvia.serve("forms", Forms()):
    print("ready", flush=True)
    sys.stdin.read()
"""


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        file = pathlib.Path(servers.FOLDER, "forms.idl")
        file.write_text(IDL)
        cls.server = servers.start(sys.executable, "-c", SERVER, str(file))
        cls.forms = obvia.connect("forms")

    def test_lengths_that_differ_from_the_elements_are_refused(self):
        class Longer(list):
            def __len__(self):
                return 1

        self.assertEqual(self.forms.sum({"items": [1, 2, 3]}), 6)
        with self.assertRaisesRegex(ValueError, "argument `tail`: items: expected as many elements as its length"):
            self.forms.sum({"items": Longer([7, 8, 9] * 100)})

    def test_lists_and_trees_are_read_to_the_depth_to_which_they_are_written(self):
        first = None
        for value in range(990):
            first = {"value": value, "next": first}
        self.assertEqual(self.forms.length(first), 990)
        tree = {"children": None}
        for _ in range(490):
            tree = {"children": [tree]}
        self.assertEqual(self.forms.depth(tree), 490)
        with self.assertRaisesRegex(ValueError, "nested too deeply"):
            for _ in range(100):
                tree = {"children": [tree]}
            self.forms.depth(tree)
