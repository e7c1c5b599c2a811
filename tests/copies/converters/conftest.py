"""A workbench for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.copies.identity import Identifier
from tests.copies.converters.library_tasks import Workbench


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Identifier() as identifier:
        yield Workbench(identifier)
