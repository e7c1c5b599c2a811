"""What tests of the catalogue leave open is closed with their module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalogue.shelves import OPENED


@pytest.fixture(scope="module", autouse=True)
def _close_catalogues() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()
