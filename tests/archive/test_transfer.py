"""Names of downloads as headers tell them, in each of their forms, and targets that cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.archive.http import HttpArchive
from noarkit.archive.transfer import parse_file_name
from noarkit.errors import RunFault
from tests.archive.scripted import ScriptedServer, answer


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (None, None),
        ("attachment", None),
        ('attachment; filename="scan 1.pdf"', "scan 1.pdf"),
        (r'attachment; filename="a \"b\" \\c.pdf"', r'a "b" \c.pdf'),
        ("attachment; filename=scan.pdf", "scan.pdf"),
        ("attachment; filename=\"plain.pdf\"; filename*=UTF-8''S%C3%B8k%20%231.pdf", "Søk #1.pdf"),
        ("attachment; filename*=iso-8859-1'nb'S%F8k.pdf", "Søk.pdf"),
        ("attachment; filename=\"plain.pdf\"; filename*=utf-8''%FF.pdf", "plain.pdf"),
        ("attachment; filename=\"plain.pdf\"; filename*=klingon''x.pdf", "plain.pdf"),
    ],
)
def test_the_name_of_a_download_is_read_in_each_of_its_forms(header: str | None, name: str | None) -> None:
    assert parse_file_name(header) == name


def test_a_target_that_cannot_be_written_is_a_fault_of_ours(
    server: ScriptedServer, archive: HttpArchive, tmp_path: Path
) -> None:
    server.then(answer(200, b"content"))
    with pytest.raises(RunFault) as caught:
        archive.download("1", tmp_path / "missing" / "a")
    assert caught.value.data["where"] == str(tmp_path / "missing" / "a")
