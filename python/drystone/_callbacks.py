"""Calls of the extension on objects that decide or predict."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - its end of threads is registered before ours, and comes after it
import copy
import hashlib
import importlib
import inspect
import os
import sys
import threading
from typing import Any

from drystone import _drystone


def identity(given: Any) -> str:
    """Module and name of the class, and a hash of its source where there is one: saved states bear it."""
    kind = given if isinstance(given, type) else type(given)
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        source = ""
    told = f"{kind.__module__}.{kind.__qualname__}"
    return f"{told} {hashlib.sha256(source.encode()).hexdigest()[:12]}" if source else told


def fresh(given: Any) -> Any:
    """An object for one simulation: a class is called without arguments, anything else is copied as it was given."""
    if isinstance(given, type):
        return given()
    again = getattr(given, "__fresh__", None)
    return again() if callable(again) else copy.deepcopy(given)


def pulse() -> None:
    """Runs bytecode: exceptions that other threads raise in this one come now."""


_shown: Any = None


def show_progress(seconds: int) -> None:
    """Shows in a notebook for how long the work of its cell has taken; 0 takes that away."""
    global _shown
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    if type(shell).__name__ != "ZMQInteractiveShell" or threading.current_thread() is not threading.main_thread():
        return
    display: Any = importlib.import_module("IPython.display").display

    data = {"text/plain": f"drystone: at work for {seconds} s" if seconds else ""}
    if _shown is None:
        _shown = display(data, raw=True, display_id=True)
    else:
        _shown.update(data, raw=True)
    if not seconds:
        _shown = None


def interrupt(thread: int) -> None:
    """Raises KeyboardInterrupt in another thread, which is inside a call of an object."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


def close() -> None:
    """Ends all work at the end of the interpreter: a thread that calls it later would crash."""
    try:
        ended = _drystone.close()
    except KeyboardInterrupt:
        ended = False
    if not ended:
        print("drystone: a policy or predictor does not come back; the process ends without it", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


def close_interrupted() -> None:
    """Ends all work where Ctrl-C ended the main thread: the interpreter would wait for the other threads for ever."""
    if getattr(sys, "last_type", None) is KeyboardInterrupt:
        close()


atexit.register(close)
# Called before the interpreter waits for threads. Private, as of Python 3.9.
getattr(threading, "_register_atexit", lambda function: None)(close_interrupted)
