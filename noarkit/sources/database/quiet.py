"""Warnings of types and versions that the library does not know are nobody's business. What filters warnings is one for
all threads of a process, so one thread at a time may change it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_FILTERS = threading.RLock()


@contextmanager
def without_warnings() -> Iterator[None]:
    """While the block runs the library's warnings are not told."""
    from sqlalchemy.exc import SAWarning

    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        yield
