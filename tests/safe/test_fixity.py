"""One place decides whether bytes are what was stated of them."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path

import pytest

from noarkit.errors import ChecksumDiffers
from noarkit.safe.fixity import BY_METS, Fixity, algorithm_of, checked, differences, refuse_differences
from tests.package_code import MODULES, PACKAGE, text_of

CONTENT = b"The letter of the case\n" * 1000
_MEASURED = r"(?:hexdigest\(\)|hash_of\(\w|sha256_of\(\w)"
_COMPARISON = re.compile(rf"{_MEASURED}[^\n]*(?:!=|==|not in)|(?:!=|==|not in)[^\n]*{_MEASURED}")
_INDEPENDENT = {
    "safe/fixity.py": "the owner",
    "safe/zipped.py": "the CRC of a zip, which says whether its unpacking worked",
    "forms/*/rules/*": "the validator is a second opinion, and must be able to disagree",
    "forms/siard/danish_rules/*": "likewise",
    "server/*": "the embedded archive stands apart",
    "*/standin/*": "stand-ins stand apart",
    "services/inbox/*": "signatures of messages, compared in constant time",
    "sources/files/conditions.py": "a file that is known by its checksum",
    "extraction/originals.py": "whether a file was fetched before",
    "forms/sealed/read.py": "the seal is a proof by signature, of the list of a bundle",
}


def _is_independent(path: Path) -> bool:
    name = path.relative_to(PACKAGE).as_posix()
    return any(Path(name).match(pattern) or name.startswith(pattern.rstrip("*")) for pattern in _INDEPENDENT)


def test_nobody_else_compares_the_checksum_of_a_content() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in MODULES
        if not _is_independent(path) and "standin" not in path.as_posix()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if _COMPARISON.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
def test_each_checksum_is_compared_in_whatever_way_it_is_spelt(algorithm: str) -> None:
    digest = hashlib.new(algorithm, CONTENT)
    for spelt in (digest.hexdigest(), digest.hexdigest().upper(), base64.b64encode(digest.digest()).decode()):
        assert checked(io.BytesIO(CONTENT), Fixity(algorithm, spelt)).read_through().still_the_same()
    wrong = checked(io.BytesIO(CONTENT + b"!"), Fixity(algorithm, digest.hexdigest(), by=BY_METS)).read_through()
    assert [difference.statement.by for difference in wrong.differences()] == [BY_METS]


def test_all_that_several_state_is_compared_and_hashed_once() -> None:
    inner = checked(io.BytesIO(CONTENT), Fixity("md5", "0" * 32, by="first"))
    outer = checked(inner, Fixity("md5", "0" * 32, by="second"), Fixity("sha1", "1" * 40), sha256=True).read_through()
    assert [(each.statement.algorithm, each.statement.by) for each in outer.differences()] == [
        ("md5", "first"),
        ("sha1", ""),
    ]
    assert outer.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_a_size_counts_where_no_checksum_is_stated() -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert differences([Fixity(size_bytes=7)], {}, 8)
    assert not differences([Fixity("sha256", digest, 7)], {"sha256": digest}, 8)
    assert not differences([Fixity(size_bytes=7)], {}, 7)


def test_a_touched_place_is_not_the_same_though_its_bytes_are() -> None:
    stream = checked(io.BytesIO(CONTENT), untouched=lambda: False).read_through()
    assert not stream.still_the_same() and not stream.differences()


def test_an_algorithm_that_nobody_knows_states_nothing() -> None:
    assert algorithm_of("SHA-256") == "sha256" and algorithm_of("sha 1") == "sha1" and algorithm_of("CRC-9") == ""
    assert not Fixity(algorithm_of("CRC-9"), "00").has_checksum


def test_a_difference_is_refused_with_what_was_stated_and_by_whom() -> None:
    stream = checked(io.BytesIO(CONTENT), Fixity("md5", "0" * 32, by=BY_METS)).read_through()
    with pytest.raises(ChecksumDiffers) as refusal:
        refuse_differences(stream.differences(), "letter")
    assert refusal.value.data["detail"] == BY_METS and refusal.value.data["theirs"] == "0" * 32
