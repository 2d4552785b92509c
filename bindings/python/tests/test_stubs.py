"""The stub files for editors and type checkers, compared with the classes and methods at run time."""

import ast
import builtins
import pathlib
import subprocess
import unittest

import servers

import obvia

SOURCES = servers.ROOT / "examples/calc/calc.idl", *sorted((servers.ROOT / "testing/matrix/idl").glob("*.idl"))


def stub(source):
    """Returns the tree of the stub file for an IDL file."""
    words = [str(servers.PROGRAMS / "obvia"), "idl", "--language", "python", "--output", servers.FOLDER, str(source)]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    return ast.parse(pathlib.Path(servers.FOLDER, source.stem).with_suffix(".pyi").read_text())


HIDING = """
import "unknwn.idl";

typedef struct None { long bytes; byte raw[2]; double uuid; GUID _uuid; } None;
typedef enum Any { RED } Any;
typedef struct Sequence { Any obvia; long count; [size_is(count)] long builtins[]; } Sequence;

[object, uuid(0b9d4c52-0a34-4ac4-8d6c-2c9f3a1f7a50)]
interface pass : IUnknown {
    HRESULT Int([in] None *given, [out, retval] long *number);
    HRESULT Next([out, retval] pass **next);
    HRESULT Protocol([in] IUnknown *any, [in] const Sequence *given, [out] long *NamedTuple, [out] Any *enum_);
}
"""


def classes(tree):
    return {found.name: found for found in tree.body if isinstance(found, ast.ClassDef)}


def methods(interface, known):
    """Returns the methods of an interface and of its bases, with the names of their parameters."""
    found = {}
    for base in interface.bases:
        found |= methods(known[base.id], known) if base.id in known else {}
    own = (item for item in interface.body if isinstance(item, ast.FunctionDef))
    return found | {item.name: [argument.arg for argument in item.args.args[1:]] for item in own}


class Stubs(unittest.TestCase):
    def test_stubs_have_the_methods_and_types_of_the_run_time(self):
        known = classes(stub(SOURCES[0]))
        servers.start("calc-server", "stubs")
        for name in "ICalc", "ICalc2":
            calc = obvia.connect("stubs", name)
            found = methods(known[name], known)
            self.assertEqual(sorted(found), sorted(dir(calc)))
            for method, parameters in found.items():
                self.assertTrue(getattr(calc, method).__doc__.startswith(f"{method}({', '.join(parameters)}) -> "))
        for name, member in vars(obvia.types(calc)).items():
            if isinstance(member, type) and hasattr(member, "__members__"):
                values = {item.targets[0].id: item.value.value for item in known[name].body}
                self.assertEqual(values, dict(member.__members__))
            else:
                members = [item.target.id for item in known[name].body if isinstance(item, ast.AnnAssign)]
                self.assertEqual(members, list(vars(member())))

    def test_stubs_name_only_what_they_declare_or_import(self):
        for source in SOURCES:
            tree = stub(source)
            names = {alias.name for item in tree.body if hasattr(item, "names") for alias in item.names}
            names |= set(classes(tree)) | set(dir(builtins))
            used = {item.id for item in ast.walk(tree) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}
            self.assertEqual(used - names, set(), source)

    def test_declarations_hide_no_types_of_python(self):
        source = pathlib.Path(servers.FOLDER, "hiding.idl")
        source.write_text(HIDING)
        known = classes(stub(source))
        members = {item.target.id: ast.unparse(item.annotation) for item in known["None_"].body if isinstance(item, ast.AnnAssign)}
        self.assertEqual(members, {"bytes": "_builtins.int", "raw": "_builtins.bytes", "uuid": "float", "_uuid": "_uuid_.UUID"})
        results = {item.name: ast.unparse(item.returns) for item in known["pass_"].body}
        self.assertEqual(results["int"], "_builtins.int")
        self.assertEqual(results["next"], "pass_ | None")
        self.assertEqual([ast.unparse(base) for base in known["pass_"].bases], ["Protocol"])
