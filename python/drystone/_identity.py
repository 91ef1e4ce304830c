"""Identities of programs: texts by which a store tells whether a function or an object is still the one that it knows."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from drystone._errors import OptionError

_PLAIN = (bool, int, float, complex, str, bytes)
_KNOWN = (*_PLAIN, tuple, list, set, frozenset, dict, np.ndarray, np.generic)
"""Globals that count where code names them."""


def identify_program(given: Any) -> str:
    """A text that is equal in two processes where a function, a class or an object does the same.

    It depends on code, defaults, what functions capture, attributes of objects, and the plain values, arrays, functions and classes
    that code names. Code of other packages counts by name alone. An object that has no attributes counts by what ``pickle`` keeps of it,
    and one that ``pickle`` refuses by its type. Bytecode is that of a version of Python.
    """
    try:
        digest = _Description(given).of(given)
    except RecursionError:
        raise OptionError("metrics and policies of a store: objects are nested too deeply to tell whether they have changed") from None
    return f"python {sys.version_info[0]}.{sys.version_info[1]} {digest[:16]}"


class _Description:
    """Describes values by digests that are the same in every process."""

    def __init__(self, root: Any) -> None:
        while isinstance(root, functools.partial) or hasattr(root, "__wrapped__"):
            root = root.func if isinstance(root, functools.partial) else root.__wrapped__
        kind = root if isinstance(root, (type, types.FunctionType, types.MethodType)) else type(root)
        # The package whose code is the caller's own.
        self.package = _package(kind)
        # What was described, which lives on meanwhile, and its digest; "itself" while it is described.
        self.digests: dict[int, tuple[Any, str]] = {}

    def of(self, given: Any) -> str:
        if given is None or given is ... or isinstance(given, _PLAIN):
            return f"{type(given).__name__} {given!r}"
        if id(given) in self.digests:
            return self.digests[id(given)][1]
        self.digests[id(given)] = (given, "itself")
        digest = hashlib.sha256(repr(self._parts(given)).encode()).hexdigest()
        self.digests[id(given)] = (given, digest)
        return digest

    def _parts(self, given: Any) -> Any:
        if isinstance(given, (tuple, list)):
            return [type(given).__name__, *map(self.of, given)]
        if isinstance(given, (set, frozenset)):
            return ["set", *sorted(map(self.of, given))]
        if isinstance(given, Mapping):
            return ["mapping", *((self.of(key), self.of(value)) for key, value in given.items())]
        if isinstance(given, (np.ndarray, np.generic)):
            array = np.asarray(given)
            return ["array", array.dtype.str, array.shape, self.of(array.tolist() if array.dtype.hasobject else array.tobytes())]
        if isinstance(given, functools.partial):
            return ["partial", *map(self.of, (given.func, given.args, given.keywords))]
        if isinstance(given, types.MethodType):
            return ["method", self.of(given.__func__), self.of(given.__self__)]
        if isinstance(given, types.CodeType):
            return ["code", given.co_code.hex(), given.co_names, *map(self.of, given.co_consts)]
        if isinstance(given, types.FunctionType):
            return self._function(given) if _package(given) == self.package else _name(given)
        if isinstance(given, (property, classmethod, staticmethod)):
            parts = (given.fget, given.fset, given.fdel) if isinstance(given, property) else (given.__func__,)
            return [type(given).__name__, *map(self.of, parts)]
        if isinstance(given, type):
            return self._class(given) if _package(given) == self.package else _name(given)
        if isinstance(given, (types.ModuleType, types.BuiltinFunctionType)):
            return _name(given)
        return ["object", self.of(type(given)), _name(given), self.of(_content_of_object(given))]

    def _function(self, given: types.FunctionType) -> Any:
        captured = [self.of(value) for value in map(_content, given.__closure__ or ())]
        globals_used = []
        for name in _names(given.__code__):
            value = given.__globals__.get(name)
            own = isinstance(value, (type, types.FunctionType)) and _package(value) == self.package
            if own or isinstance(value, _KNOWN):
                globals_used.append((name, self.of(value)))
        return ["function", *map(self.of, (given.__code__, given.__defaults__, given.__kwdefaults__)), captured, globals_used]

    def _class(self, given: type) -> Any:
        kinds = (types.FunctionType, property, classmethod, staticmethod, *_KNOWN)
        members = [(name, self.of(one)) for name, one in sorted(vars(given).items()) if _counts(name, one) and isinstance(one, kinds)]
        return ["class", given.__qualname__, *map(self.of, given.__bases__), members]


def _package(kind: Any) -> str:
    return str(getattr(kind, "__module__", None) or "").partition(".")[0]


def _name(given: Any) -> list[str]:
    return [str(getattr(given, "__module__", "")), str(getattr(given, "__qualname__", getattr(given, "__name__", "")))]


def _counts(name: str, member: Any) -> bool:
    """True if a member of a class affects its result: documentation, places in files and what ``copy`` keeps there do not."""
    return not name.startswith("__") or isinstance(member, (types.FunctionType, property, classmethod, staticmethod))


def _content_of_object(given: Any) -> Any:
    """The state that ``pickle`` keeps of an object whose type defines it, such as a path, a date or a pattern; else its attributes."""
    kind = type(given)
    reduces = any("__reduce__" in vars(base) or "__reduce_ex__" in vars(base) for base in kind.__mro__ if base is not object)
    if not reduces and kind not in copyreg.dispatch_table:
        attributes = _attributes(given)
        if attributes:
            return attributes
    try:
        reduced = copyreg.dispatch_table[kind](given) if kind in copyreg.dispatch_table else given.__reduce_ex__(2)
    except Exception:
        return _attributes(given)
    if not isinstance(reduced, tuple):
        # A name, as of a function that keeps its results: what it wraps is an attribute.
        return [reduced, _attributes(given)]
    # The members of a list or a mapping come as iterators.
    return [list(part) if at in (3, 4) and part is not None else part for at, part in enumerate(reduced)]


def _attributes(given: Any) -> dict[str, Any]:
    slots = [name for kind in type(given).__mro__ for name in _slots(kind) if hasattr(given, name)]
    return {**{name: getattr(given, name) for name in slots}, **getattr(given, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


def _names(code: types.CodeType) -> list[str]:
    """The names that code and what it defines refer to, sorted."""
    names = set(code.co_names)
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            names.update(_names(one))
    return sorted(names)
