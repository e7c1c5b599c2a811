"""A document is read for copies unless its bytes prove that it tells of none."""

from __future__ import annotations

import io

import pytest

from noarkit.forms.metadata.copy_chain import may_tell_derivations

BLOCK = 1024 * 1024


@pytest.mark.parametrize(
    "content",
    [
        b"<t>derivation</t>",
        b"<t>DeriVation</t>",
        b"x" * (BLOCK - 4) + b"derivation",
        b"<t>deriva&#116;ion</t>",
        b"<t>deriva<!-- -->tion</t>",
        b"<t>deriva<?x?>tion</t>",
        b"<?xml version='1.0'?><t>deriva<?x?>tion</t>",
        b"x" * (BLOCK - 1) + b"<?x?>",
        "<t>derivation</t>".encode("utf-16"),
    ],
)
def test_a_document_that_may_tell_of_derivations_is_read(content: bytes) -> None:
    assert may_tell_derivations(io.BytesIO(content))


@pytest.mark.parametrize(
    "content", [b"", b"<?xml version='1.0'?><t>structural &amp; more</t>", b"\xef\xbb\xbf<?xml?>" + b"<t/>" * BLOCK]
)
def test_one_that_cannot_is_not(content: bytes) -> None:
    assert not may_tell_derivations(io.BytesIO(content))
