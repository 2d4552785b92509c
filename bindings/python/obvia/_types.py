"""The classes of structures, enumerations, unions and results."""

import collections
import dataclasses
import enum
import functools
import reprlib


@dataclasses.dataclass
class Union:
    """A union: the name and the value of its arm, and the discriminant.

    In an argument, the discriminant may be left out if the arm implies the discriminant. The arm
    may be left out if it has no value.
    """

    arm: str | None = None
    value: object = None
    case: int | None = None


class _Structure:
    """The base of the classes of structures."""


@functools.lru_cache(1000)
def members(cls):
    """Returns the names of the members that objects of a class have as structures.

    The result is None if the class declares an interface, or if it is neither the class of a
    structure nor a dataclass nor a named tuple. The members are those that the class declares
    publicly.
    """
    if any("__obvia_interfaces__" in base.__dict__ for base in cls.__mro__):
        return None
    if issubclass(cls, _Structure):
        return frozenset(cls.__match_args__)
    if dataclasses.is_dataclass(cls):
        names = (field.name for field in dataclasses.fields(cls))
    elif issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        names = cls._fields
    else:
        return None
    return frozenset(name for name in names if not name.startswith("_"))


@functools.cache
def structure(name, members):
    """Returns the class of a structure, whose members are those of the IDL file."""

    def init(self, /, *given, **named):
        if len(given) > len(members):
            raise TypeError(f"{name} has {len(members)} members, {len(given)} given")
        values = dict.fromkeys(members) | dict(zip(members, given)) | named
        if unknown := values.keys() - set(members):
            raise TypeError(f"{name} has no member {', '.join(sorted(unknown))}; it has {', '.join(members)}")
        self.__dict__.update(values)

    def show(self):
        return f"{name}({', '.join(f'{member}={getattr(self, member)!r}' for member in members)})"

    def equal(self, other):
        return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

    body = {
        "__init__": init,
        "__repr__": reprlib.recursive_repr()(show),
        "__eq__": equal,
        "__hash__": None,
        "__match_args__": members,
        "__module__": "obvia.types",
    }
    return type(name, (_Structure,), body)


class _Number(enum.IntEnum):
    @classmethod
    def _missing_(cls, value):
        # A server of a later version may have more values.
        member = int.__new__(cls, value)
        member._name_ = str(value)
        member._value_ = value
        return member


@functools.cache
def enumeration(name, values):
    """Returns the class of an enumeration."""
    return _Number(name, values, module="obvia.types")


@functools.cache
def results(name, members):
    """Returns the class of the results of a method."""
    return collections.namedtuple(name, members, rename=True, module="obvia.types")
