"""The library's warnings are kept quiet by any number of threads at once, and by none of them for the others."""

from __future__ import annotations

import threading
import time
import warnings

import pytest
from sqlalchemy.exc import SAWarning

from noarkit.sources.database.quiet import without_warnings


def test_threads_that_keep_warnings_quiet_do_not_undo_each_other() -> None:
    loud: list[Warning] = []

    def work(pause_s: float) -> None:
        for _ in range(40):
            with without_warnings():
                time.sleep(pause_s)
                try:
                    warnings.warn("a type nobody knows", SAWarning, stacklevel=1)
                except SAWarning as told:
                    loud.append(told)

    threads = [threading.Thread(target=work, args=(0.0005 * number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loud == []


def test_outside_the_block_warnings_are_told() -> None:
    with without_warnings():
        pass
    with pytest.warns(SAWarning):
        warnings.warn("a type nobody knows", SAWarning, stacklevel=1)
