"""Documents made of listings are all with the run once it is planned, however many and however large."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.services.port import GeneratedDocument
from noarkit.services.source import document_store
from noarkit.services.source.document_store import DocumentStore, content_of, open_document


@pytest.mark.parametrize(("count", "size"), [(1_203, 10), (9, 1_000_000), (0, 0)])
def test_every_document_is_kept_and_equal_ones_once(tmp_path: Path, count: int, size: int) -> None:
    store = DocumentStore(tmp_path)
    documents = [GeneratedDocument(f"{n}.txt", "text/plain", f"{n // 2}".encode() + b"x" * size) for n in range(count)]
    contents = [content_of("k", document) for document in documents]
    for content, document in zip(contents, documents, strict=True):
        store.add(content, document.data)
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [document_store.NAME]
    for content, document in zip(contents, documents, strict=True):
        with open_document(tmp_path, content) as stream:
            assert stream.read() == document.data
    assert len({content.locator for content in contents}) == (count + 1) // 2
