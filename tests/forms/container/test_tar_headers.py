"""The headers of a tar are those that the library makes, byte for byte."""

from __future__ import annotations

import contextlib
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import ItemChanged
from noarkit.forms.container.sinks import open_sink

LAST = 8**11 - 1
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=130)
SIZES = st.sampled_from([0, 1, 511, 512, 513])


def header_of(name: str, size: int, modified_s: int) -> bytes:
    info = tarfile.TarInfo(f"top/{name}")
    info.size, info.mtime, info.mode = size, modified_s, 0o644
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def written(place: Path, name: str, content: bytes, size: int, modified_s: float) -> bytes:
    with contextlib.closing(open_sink(place, "tar", "top", 0)) as sink:
        sink.add(name, io.BytesIO(content), size, modified_s)
    return place.read_bytes()


@given(name=NAMES, size=SIZES, modified_s=st.sampled_from([0, 1, 1_600_000_000, LAST]))
def test_a_member_is_what_the_library_would_write(
    name: str, size: int, modified_s: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = b"x" * size
    actual = written(tmp_path_factory.mktemp("tar") / "a.tar", name, content, size, modified_s)
    assert actual == header_of(name, size, modified_s) + content + bytes(-size % 512)


@pytest.mark.parametrize("told", [0, 9, 11])
def test_content_of_another_size_than_was_told_is_refused(told: int, tmp_path: Path) -> None:
    with pytest.raises(ItemChanged):
        written(tmp_path / "a.tar", "a.txt", b"x" * 10, told, 0)
