"""The declaration of the interfaces that objects in Python have."""

from . import _obvia


def implements(*interfaces, idl):
    """Declares that the objects of a class have interfaces of an IDL file or a type library.

        @obvia.implements("ITapeEvents", idl="calc.idl")
        class Sink:
            def printed(self, entry):
                print(entry.result)

    Without names, the class has the only interface of the file. Subclasses have the interfaces, too.
    An object of any other class is refused as an argument or a result where an interface is
    expected: otherwise a server's description would decide which methods of the object are called.
    """
    declared = tuple(_obvia.declare(idl, name) for name in interfaces or (None,))

    def declare(cls):
        if not isinstance(cls, type):
            raise TypeError(f"expected a class, found {cls!r}")
        cls.__obvia_interfaces__ = cls.__dict__.get("__obvia_interfaces__", ()) + declared
        return cls

    return declare
