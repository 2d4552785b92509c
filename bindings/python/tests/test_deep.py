"""Values of unusual forms, which a server in Python receives."""

import concurrent.futures
import pathlib
import sys
import threading
import unittest

import servers

import obvia

IDL = """
import "unknwn.idl";

typedef struct Tail { long count; [size_is(count)] long items[]; } Tail;
typedef struct Item { long value; [unique] struct Item *next; } Item;
typedef struct Tree { long count; [size_is(count)] struct Tree *children; } Tree;
typedef struct Wide { [unique] struct Wide *next[1]; } Wide;
struct Link;
typedef union Choice switch (long kind) chosen { case 1: [unique] struct Link *link; case 2: long end; } Choice;
typedef struct Link { Choice choice; } Link;

[object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)]
interface IForms : IUnknown {
    HRESULT Sum([in] const Tail *tail, [out, retval] long *sum);
    HRESULT Items([in] const Item *given, [out, retval] Item **result);
    HRESULT Trees([in] const Tree *given, [out, retval] Tree **result);
    HRESULT Wides([in] const Wide *given, [out, retval] Wide **result);
    HRESULT Links([in] const Link *given, [out, retval] Link **result);
}
"""

SERVER = """
import sys
import obvia

@obvia.implements(idl=sys.argv[1])
class Forms:
    def sum(self, tail):
        return sum(tail.items)

    def items(self, given):
        return given

    trees = wides = links = items

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
        with self.assertRaisesRegex(ValueError, "argument `tail`: items: the length of this array requires"):
            self.forms.sum({"items": Longer([7, 8, 9] * 100)})

    def test_values_are_read_to_the_depth_to_which_they_are_written(self):
        forms = (
            (self.forms.items, {"value": 0, "next": None}, lambda inner: {"value": 0, "next": inner}, 500),
            (self.forms.trees, {"children": None}, lambda inner: {"children": [inner]}, 250),
            (self.forms.wides, {"next": [None]}, lambda inner: {"next": [inner]}, 250),
            (self.forms.links, {"choice": {"end": 1}}, lambda inner: {"choice": {"link": inner}}, 250),
        )
        for echo, value, outer, levels in forms:
            for _ in range(levels - 1):
                value = outer(value)
            self.assertEqual(depth(in_small_thread(echo, value)), levels)
            with self.assertRaisesRegex(ValueError, "nested too deeply"):
                echo(outer(value))


def in_small_thread(work, *arguments):
    """Runs a function on a thread with a stack of 1.5 MiB: the runtime's threads have 2 MiB."""
    before = threading.stack_size(3 << 19)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        done = threads.submit(work, *arguments)
        threading.stack_size(before)
        return done.result()


def depth(value):
    """Returns the number of structures on the way to the innermost one."""
    count = 0
    while value is not None:
        count += 1
        children = getattr(value, "children", getattr(value, "next", None))
        if choice := getattr(value, "choice", None):
            children = choice.value if choice.arm == "link" else None
        value = children[0] if isinstance(children, list) else children
    return count
