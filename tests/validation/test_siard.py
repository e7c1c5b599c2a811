"""Every rule for SIARD has archives that break it and little else, and a good one keeps all; the hostile is refused."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, NoarkitError, PackageFault, TooLarge, UnsafeMember, UnsafePath, UnsafeXml
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.rules.run import RULES, validate_siard
from noarkit.forms.siard.spec import WRITTEN, Version
from noarkit.forms.validation import ValidateResult
from noarkit.reports.validation_page import REPORT_FORMATS, ReportFormat, write_validation
from noarkit.safe.unpack import UnpackLimits
from noarkit.words.texts import LANGUAGES, fields, texts
from tests.validation.siards import ALONG, BROKEN, META, T0, T1, Files, good, less, more, packed, swap

OF_THE_ZIP = {
    "SIARD-G_4.1-1",
    "SIARD-G_4.1-2",
    "SIARD-G_4.1-3",
    "SIARD-G_4.1-5",
    "SIARD-M_5.1-1-11",
}


@pytest.fixture(scope="module")
def files() -> Files:
    return good()


def judged(folder: Path, content: bytes, name: str = "x.siard") -> ValidateResult:
    path = folder / name
    path.write_bytes(content)
    return validate_siard(path)


def cases() -> Iterator[tuple[str, Callable[[Files], Files]]]:
    for code, changes in BROKEN.items():
        for change in changes:
            yield code, change


def told(report: ValidateResult) -> str:
    return "\n".join(f"{one.rule.code} {one.count} {one.places[:2]}" for one in report.outcomes)


@pytest.mark.parametrize("version", WRITTEN)
def test_what_we_write_breaks_no_rule(version: Version, tmp_path: Path) -> None:
    report = judged(tmp_path, packed(good(version)))
    assert report.codes == set(), told(report)
    assert (report.version, report.summary["rows"], report.summary["files"]) == (version, ("6",), ("2",))


def test_every_rule_has_something_that_breaks_it() -> None:
    assert set(RULES) == set(BROKEN) | OF_THE_ZIP


@pytest.mark.parametrize(("code", "change"), list(cases()), ids=[f"{code}-{n}" for n, (code, _) in enumerate(cases())])
def test_an_archive_broken_in_one_way_is_told_of_that(
    code: str, change: Callable[[Files], Files], files: Files, tmp_path: Path
) -> None:
    report = judged(tmp_path, packed(change(files)))
    assert code in report.codes, told(report)
    assert report.codes <= {code} | ALONG.get(code, set()), told(report)
    assert report.valid == all(RULES[one].level != "error" for one in report.codes)
    outcome = next(one for one in report.outcomes if one.rule.code == code)
    for lang in LANGUAGES:
        forms = texts(lang).forms("rules", code, "told")
        for place in outcome.places:
            assert fields(forms[0]) <= place.data.keys(), f"{code} tells {dict(place.data)}"


def test_a_row_is_told_with_its_line(files: Files, tmp_path: Path) -> None:
    report = judged(tmp_path, packed(swap(f"{T1}.xml", "<c1>1</c1><c2></c2>", "<c1>x</c1>")(files)))
    (outcome,) = report.outcomes
    assert (outcome.places[0].file, outcome.places[0].line) == (f"{T1}.xml", 4)


def test_a_message_digest_that_differs_is_told(files: Files, tmp_path: Path) -> None:
    whole = bytearray(packed(files))
    at = whole.index(b"first")
    whole[at : at + 5] = b"forst"  # the checksum of the ZIP says so too, when the table is read
    report = judged(tmp_path, bytes(whole))
    assert "SIARD-M_5.1-1-11" in report.codes


def test_a_zip_that_is_cut_or_packed_otherwise_or_locked_is_told(files: Files, tmp_path: Path) -> None:
    whole = packed(files)
    assert judged(tmp_path, whole[:-30]).codes == {"SIARD-G_4.1-1"}
    assert judged(tmp_path, packed(files, zipfile.ZIP_BZIP2)).codes == {"SIARD-G_4.1-2"}
    assert judged(tmp_path, _flagged(whole, 1)).codes == {"SIARD-G_4.1-3"}
    assert judged(tmp_path, whole, "x.zip").codes == {"SIARD-G_4.1-5"}


def _flagged(whole: bytes, flag: int) -> bytes:
    """The first entry of the directory with a flag more."""
    held = bytearray(whole)
    at = held.index(b"PK\x01\x02")
    (flags,) = struct.unpack_from("<H", held, at + 8)
    struct.pack_into("<H", held, at + 8, flags | flag)
    return bytes(held)


def test_what_is_no_archive_at_all_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(PackageFault) as caught:
        judged(tmp_path, b"not a zip")
    assert caught.value.data["why"] == "not-an-archive-file"


BOMB = b"<table>" + b"<row><c1>1</c1></row>" * 4_000_000 + b"</table>"
XXE = '<!DOCTYPE table [<!ENTITY x SYSTEM "file:///etc/passwd">]><table xmlns="x">&x;</table>'
LAUGHS = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize("name", ["../x.txt", "/etc/x", "content/../../x", "C:\\x", "content\\..\\..\\x", "//host/x"])
def test_a_name_that_leads_out_is_refused(name: str, files: Files, tmp_path: Path) -> None:
    with pytest.raises(UnsafePath):
        judged(tmp_path, packed(more(name)(files)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_or_nearly_is_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(UnsafeMember):
        judged(tmp_path, packed(more("content/schema0/table0/TABLE0.XML")(files)))
    held = io.BytesIO(packed(files))
    with zipfile.ZipFile(held, "a") as archive:
        archive.writestr(META, b"<other/>")
    with pytest.raises(UnsafeMember):
        judged(tmp_path, held.getvalue())


def test_a_link_in_the_zip_is_refused(files: Files, tmp_path: Path) -> None:
    held = io.BytesIO(packed(files))
    with zipfile.ZipFile(held, "a") as archive:
        link = zipfile.ZipInfo("content/schema0/table0/lob8/record9.bin")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(UnsafeMember):
        judged(tmp_path, held.getvalue())


def test_entries_that_share_bytes_are_refused(files: Files, tmp_path: Path) -> None:
    held = bytearray(packed(files))
    first = held.index(b"PK\x01\x02")
    second = held.index(b"PK\x01\x02", first + 4)
    held[second + 42 : second + 46] = held[first + 42 : first + 46]
    with pytest.raises(UnsafeMember) as caught:
        judged(tmp_path, bytes(held))
    assert caught.value.data["why"] == "overlap"


def test_a_bomb_is_refused_before_it_is_read(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "x.siard"
    path.write_bytes(packed({**files, f"{T1}.xml": BOMB}, zipfile.ZIP_DEFLATED))
    limits = UnpackLimits(ratio=20, free_bytes=1_000_000)
    with pytest.raises(TooLarge):
        validate_siard(path, limits=limits)
    with pytest.raises(TooLarge):
        open_siard(path, limits)


@pytest.mark.parametrize("name", [META, f"{T0}.xml", f"{T0}.xsd"])
@pytest.mark.parametrize("content", [XXE, LAUGHS])
def test_a_document_type_is_refused_wherever_it_stands(name: str, content: str, files: Files, tmp_path: Path) -> None:
    with pytest.raises(UnsafeXml):
        judged(tmp_path, packed({**files, name: content.encode()}))


def test_elements_without_end_are_refused(files: Files, tmp_path: Path) -> None:
    deep = b"<table><row>" + b"<c1>" * 2_000_000 + b"</c1>" * 2_000_000 + b"</row></table>"
    with pytest.raises(HostileInput):
        judged(tmp_path, packed({**files, f"{T1}.xml": deep}))


def test_a_folder_that_metadata_name_may_not_lead_out(files: Files, tmp_path: Path) -> None:
    changed = swap(META, "<folder>table1</folder>", "<folder>../../../etc</folder>")(files)
    with pytest.raises(UnsafePath):
        judged(tmp_path, packed(changed))


def test_the_same_archive_in_a_folder_is_judged_the_same(files: Files, tmp_path: Path) -> None:
    home = tmp_path / "x"
    for name, content in files.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            place.mkdir(exist_ok=True)
        else:
            place.write_bytes(content)
    assert validate_siard(home).codes == set()


def test_every_sample_of_others_reads_and_is_judged(reference: Path) -> None:
    folder = reference.parent / "samples" / "oais" / "siard"
    found = sorted(folder.rglob("*.siard"))
    assert found
    for path in found:
        with open_siard(path) as siard:
            for schema, table in siard.archive.tables():
                assert sum(map(len, siard.rows(schema, table))) == table.rows
        assert validate_siard(path).codes == {"SIARD-M_5.1-1-11-NONE"}


def test_without_metadata_only_the_files_are_judged(files: Files, tmp_path: Path) -> None:
    report = judged(tmp_path, packed(less(META)(files)))
    assert report.codes == {"SIARD-P_4.2-5"}
    assert isinstance(report, ValidateResult)
    with pytest.raises(NoarkitError):
        open_siard(tmp_path / "x.siard")


@pytest.mark.parametrize("kind", REPORT_FORMATS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_report_tells_of_it_in_both_languages(
    kind: ReportFormat, lang: str, files: Files, tmp_path: Path
) -> None:
    report = judged(tmp_path, packed(less(f"{T1}.xml")(files)))
    write_validation(report, tmp_path / "told", kind, lang)
    assert "P_4.3-1" in (tmp_path / "told").read_text("utf-8-sig")
