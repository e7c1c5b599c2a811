"""The list of members in an OpenDocument, as every version of OpenOffice wrote it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any  # Any: elements of lxml

from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.zipped import Package, member_elements

MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_NAME = "META-INF/manifest.xml"
_MOST_BYTES = 16 * 1024 * 1024
_ROOT = b"<manifest:manifest"
_DECLARED = f'{_ROOT.decode()} xmlns:manifest="{MANIFEST[1:-1]}"'.encode()


def manifest_elements(package: Package) -> Iterator[Any]:
    """The elements of the list, each as it begins; none where there is no list. Raises `DocumentRefused`.

    The first versions left it to a document type that lies elsewhere to say what `manifest:` stands for.
    """
    if not package.has(_NAME):
        return
    if package.archive.getinfo(_NAME).file_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, member=_NAME)
    content = package.read(_NAME)
    if b"xmlns:manifest" not in content:
        content = content.replace(_ROOT, _DECLARED, 1)
    for event, element in member_elements(io.BytesIO(content), _NAME):
        if event == "start":
            yield element
