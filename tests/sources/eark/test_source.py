"""A package as a source: every file becomes a record, is held to its checksum, and nothing is lost unsaid."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, ItemVanished, PackageFault, SourceGone
from noarkit.events import Event, ignore_event
from noarkit.forms.eark.source import EarkSource, find_eark, reopen_eark
from noarkit.forms.eark.write.order import creator
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, MetadataFile, Representation, make_eark
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import Entity, MappedRecord, SetAside, Skipped
from noarkit.recipes import check, compile_recipe, read_recipe
from noarkit.records import SourceIdentity, SourceItem, SourceRecord
from tests.forms.eark.oracles import TAILS

EAD = b"""<ead xmlns="http://ead3.archivists.org/schema/"><control><filedesc><titlestmt><titleproper>Funn</titleproper>
</titlestmt></filedesc></control><archdesc level="fonds"><did><unittitle>Fjord arkiv</unittitle></did><dsc><c><did>
<unittitle>Brev om <emph>fisk</emph></unittitle><daoset><dao href="file:../../representations/rep1/data/brev.txt"/>
<dao href="../../../../etc/passwd"/></daoset></did></c></dsc></archdesc></ead>"""

ERMS = b"""<?xml version="1.0"?><erms xmlns="https://DILCIS.eu/XML/ERMS"><control/><aggregations>
<aggregation systemIdentifier="a1" aggregationType="caseFile"><objectId>2020/1</objectId><title>Sak om fisk</title>
<additionalInformation><appendix path="data/plan.txt" name="Plan"/></additionalInformation>
<aggregation systemIdentifier="a2"><title>Bilag</title>
<record systemIdentifier="r1" recordType="letter"><objectId>2020/1-1</objectId><title>Brev</title>
<runningNumber>1</runningNumber><direction directionDefinition="incoming"/>
<agents><agent agentType="author"><name>Kari</name><role>sender</role></agent></agents>
<dates><date dateType="created">2020-02-03T10:00:00</date></dates><keywords><keyword>fisk</keyword></keywords>
<additionalInformation><appendix path="brev.txt"/><appendix path="vedlegg/kart.pdf"/><appendix path="borte.txt"/>
</additionalInformation></record></aggregation></aggregation></aggregations>
<records><record systemIdentifier="r2"><title>Notat</title></record></records></erms>"""


def made(place: Path, tail: str = "", **order: object) -> Path:
    """A package of two representations, with a title and titles of files."""
    parts = (
        Representation(
            "rep1",
            [EarkFile("brev.txt", b"fisk"), EarkFile("mappe/ø.txt", b"", puid="x-fmt/111")],
            documentation=[EarkFile("les.txt", b"les")],
        ),
        Representation("rep2", [EarkFile("brev.pdf", b"%PDF", original_name="C:\\Brev?.pdf")], label="Lesekopi"),
    )
    wanted = EarkOrder(metadata=(MetadataFile("ead.xml", EAD),), agents=(creator("Fjord kommune"),), **order)  # type: ignore[arg-type]  # as the test says
    return make_eark(parts, place / f"pakke{tail}", wanted).path


def items(source: object) -> list[SourceItem]:
    assert isinstance(source, EarkSource)
    return list(source.records(ignore_event))


def records(source: object) -> dict[str, SourceRecord]:
    return {item.key: item for item in items(source) if isinstance(item, SourceRecord)}


def entities(source: EarkSource) -> Iterator[Entity]:
    recipe = read_recipe(source.default_recipe(), "default")
    mapper = compile_recipe(recipe)
    yield from mapper.targets()
    for record in records(source).values():
        found = mapper.map(record)
        assert isinstance(found, MappedRecord), found
        yield from found.entities


@pytest.mark.parametrize("tail", TAILS)
def test_every_file_is_a_record_with_its_bytes(tmp_path: Path, tail: str) -> None:
    source = find_eark(str(made(tmp_path, tail)))
    assert isinstance(source, EarkSource)
    found = records(source)
    held = {}
    for key, record in found.items():
        (content,) = record.contents
        with source.open(content) as stream:
            held[key] = b"".join(iter(lambda stream=stream: stream.read(3), b""))  # type: ignore[misc]  # bound at once
            assert stream.still_the_same()
        if key != "METS.xml":  # which nothing in the package lists
            assert content.sha256 == hashlib.sha256(held[key]).hexdigest()
    assert held.pop("documentation/about.txt")
    described = {key: held.pop(key) for key, record in found.items() if record.kind == "description"}
    assert {
        "METS.xml",
        "metadata/descriptive/ead.xml",
        "metadata/preservation/premis.xml",
        "representations/rep1/METS.xml",
        "representations/rep1/metadata/preservation/premis.xml",
    } <= set(described)
    assert described["metadata/descriptive/ead.xml"] == EAD
    assert held == {
        "representations/rep1/data/brev.txt": b"fisk",
        "representations/rep1/data/mappe/ø.txt": b"",
        "representations/rep1/documentation/les.txt": b"les",
        "representations/rep2/data/brev.pdf": b"%PDF",
    }
    assert {item.reason for item in items(source) if isinstance(item, Skipped)} == {"a schema of the package"}


def test_records_tell_what_mets_and_descriptions_tell(tmp_path: Path) -> None:
    found = records(find_eark(str(made(tmp_path, agreement="2026/1"))))
    letter = found["representations/rep1/data/brev.txt"].fields
    assert (letter["title"], letter["path"], letter["top"]) == ("Brev om fisk", "brev.txt", "")
    inner = found["representations/rep1/data/mappe/ø.txt"]
    assert (inner.fields["folders"], inner.fields["ext"], inner.contents[0].puid) == (["mappe"], "txt", "x-fmt/111")
    copy = found["representations/rep2/data/brev.pdf"].fields
    assert copy["original_name"] == "C:\\Brev?.pdf"
    assert copy["representation"] == {
        "name": "rep2",
        "title": "Lesekopi",
        "content_type": "OTHER",
        "other_content_type": "Files",
        "kind": "ORIGINAL",
    }
    package = copy["package"]
    assert isinstance(package, dict)
    assert (package["id"], package["title"], package["creator"], package["agreement"]) == (
        "pakke",
        "Fjord arkiv",
        "Fjord kommune",
        "2026/1",
    )


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_the_default_recipe_puts_files_into_representations(tmp_path: Path, tail: str) -> None:
    source = find_eark(str(made(tmp_path, tail)))
    assert isinstance(source, EarkSource)
    sample = list(records(source).values())
    assert check(read_recipe(source.default_recipe(), "default"), sample) == []
    told = {(one.type, one.fields.get("tittel") or one.fields.get("arkivskaperNavn")) for one in entities(source)}
    assert told >= {
        ("Arkivskaper", "Fjord kommune"),
        ("Arkiv", "Fjord arkiv"),
        ("Mappe", "rep1"),
        ("Mappe", "Lesekopi"),
        ("Mappe", "Dokumentasjon"),
        ("Basisregistrering", "Brev om fisk"),
        ("Basisregistrering", "ø.txt"),
    }
    assert 'external_system = "eark:pakke"' in source.default_recipe()
    assert 'kind = "eark"' in source.proposal(ignore_event)


@pytest.mark.parametrize("tail", ["", ".tar"])
def test_what_erms_tells_becomes_cases_and_records_with_their_documents(tmp_path: Path, tail: str) -> None:
    files = {"erms.xml": ERMS, "brev.txt": b"b", "vedlegg/kart.pdf": b"k", "plan.txt": b"p", "løs.txt": b"l"}
    part = Representation(
        "rep1", [EarkFile(name, content) for name, content in files.items()], "citserms_v3_0", category="Dataset"
    )
    source = find_eark(str(make_eark([part], tmp_path / f"p{tail}").path))
    assert isinstance(source, EarkSource)
    found = records(source)
    base = "representations/rep1/data/"
    assert [(one.kind, key.removeprefix(base)) for key, one in found.items()][5:] == [
        ("description", "erms.xml"),
        ("aggregation", "aggregation/a1"),
        ("file", "plan.txt"),
        ("aggregation", "aggregation/a2"),
        ("record", "record/r1"),
        ("record", "record/r2"),
        ("file", "løs.txt"),
        ("documentation", "documentation/about.txt"),
    ]
    letter = found[f"{base}record/r1"]
    assert [content.name for content in letter.contents] == ["brev.txt", "kart.pdf"]
    assert [(note.code, note.data) for note in letter.notes] == [("W252", {"name": "borte.txt"})]
    assert letter.fields["agents"] == [{"type": "author", "name": "Kari", "role": "sender"}]
    assert (letter.fields["number"], letter.fields["direction"], letter.fields["keywords"]) == (
        "1",
        "incoming",
        ["fisk"],
    )
    assert letter.fields["parent"] == f"{base}aggregation/a2"
    assert check(read_recipe(source.default_recipe(), "default"), list(found.values())) == []
    below = {one.key: one.parent for one in entities(source)}
    assert below[f"{base}record/r1"] == f"{base}aggregation/a2"
    assert below[f"{base}aggregation/a2"] == f"{base}aggregation/a1"
    assert below[f"{base}record/r2"] == "folder:representation/rep1"


def test_a_document_that_breaks_off_is_set_aside_and_its_files_are_taken(tmp_path: Path) -> None:
    broken = ERMS.replace(b"</aggregation></aggregation>", b"")
    part = Representation("rep1", [EarkFile("erms.xml", broken), EarkFile("plan.txt", b"p")], "citserms_v3_0")
    found = items(find_eark(str(make_eark([part], tmp_path / "p").path)))
    assert [item.code for item in found if isinstance(item, SetAside)] == ["F206"]
    assert "representations/rep1/data/plan.txt" in [item.key for item in found if isinstance(item, SourceRecord)]


def test_what_is_not_as_it_is_listed_is_set_aside_and_what_is_not_listed_is_told(tmp_path: Path) -> None:
    package = made(tmp_path)
    data = package / "representations" / "rep1" / "data"
    (data / "brev.txt").unlink()
    (data / "mappe" / "ø.txt").write_bytes(b"grew")
    (data / "ny.txt").write_bytes(b"new")
    (package / "rest.txt").write_bytes(b"rest")
    found = items(find_eark(str(package)))
    assert {item.record_key: (item.code, item.data["why"]) for item in found if isinstance(item, SetAside)} == {
        "representations/rep1/data/brev.txt": ("F202", "missing"),
        "representations/rep1/data/mappe/ø.txt": ("F203", "size"),
    }
    noted = {item.key for item in found if isinstance(item, SourceRecord) and item.notes}
    assert noted == {"representations/rep1/data/ny.txt", "rest.txt"}


@pytest.mark.parametrize("checksum", ["MD5", "SHA-1", "SHA-512", "SHA-256"])
def test_bytes_that_have_another_checksum_are_told(tmp_path: Path, checksum: str) -> None:
    package = made(tmp_path, checksum=checksum)
    (package / "representations" / "rep1" / "data" / "brev.txt").write_bytes(b"fusk")
    source = find_eark(str(package))
    assert isinstance(source, EarkSource)
    (content,) = records(source)["representations/rep1/data/brev.txt"].contents
    with source.open(content) as stream:
        read = stream.read()
        same = stream.still_the_same()
    if checksum == "SHA-256":
        assert content.sha256 != hashlib.sha256(read).hexdigest()  # which the load holds against what it reads
    else:
        assert not same


@pytest.mark.parametrize("tail", ["", ".zip", ".tar"])
def test_what_changes_after_the_plan_is_told(tmp_path: Path, tail: str) -> None:
    package = made(tmp_path, tail)
    source = find_eark(str(package))
    assert isinstance(source, EarkSource)
    (content,) = records(source)["representations/rep1/data/brev.txt"].contents
    behind = package / "representations" / "rep1" / "data" / "brev.txt" if not tail else package
    behind.touch()
    with pytest.raises(ItemChanged), source.open(content):
        pass
    behind.unlink()
    with pytest.raises(ItemVanished), source.open(content):
        pass


def test_a_package_that_is_gone_is_told(tmp_path: Path) -> None:
    source = EarkSource(tmp_path / "nothing")
    with pytest.raises(SourceGone):
        next(source.records(ignore_event))
    with pytest.raises(SourceGone):
        reopen_eark(source.identity)


def test_a_plan_finds_its_package_again(tmp_path: Path) -> None:
    source = find_eark(str(made(tmp_path, ".zip")))
    assert isinstance(source, EarkSource)
    assert source.identity == SourceIdentity("eark", str(tmp_path / "pakke.zip"), {})
    assert items(reopen_eark(source.identity)) == items(source)


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_an_extract_in_a_package_is_read_as_the_extract_it_is(tmp_path: Path, tail: str) -> None:
    names = ("arkivuttrekk.xml", "arkivstruktur.xml")
    part = Representation("noark5", [EarkFile(name, b"<x/>") for name in names])
    assert isinstance(find_eark(str(make_eark([part], tmp_path / f"p{tail}").path)), ExtractSource)


@pytest.mark.parametrize("name", ["plain.txt", "empty", "gone"])
def test_what_is_no_package_is_somebody_elses(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain.txt").write_bytes(b"plain")
    (tmp_path / "empty").mkdir()
    assert find_eark(str(tmp_path / name)) is None


def test_reading_is_told_as_it_goes(tmp_path: Path) -> None:
    many = [EarkFile(f"{number:05}", b"") for number in range(10_010)]
    package = make_eark([Representation("rep1", many)], tmp_path / "p.zip", EarkOrder(premis=False)).path
    events: list[Event] = []
    source = EarkSource(package)
    assert sum(1 for _ in source.records(events.append)) > 10_000
    assert [event.data["items"] for event in events] == [10_000]


@pytest.mark.parametrize("document", ["premis.xml", "ead.xml"])
def test_metadata_that_its_own_checksum_contradicts_is_not_believed_unasked(document: str, tmp_path: Path) -> None:
    package = made(tmp_path)
    path = sorted(package.rglob(document))[0]
    content = path.read_bytes()
    at = content.rindex(b"</") - 1  # a letter of the text before the last end tag that has one
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    source = find_eark(str(package))
    with pytest.raises(PackageFault) as damaged:
        items(source)
    assert damaged.value.data["why"] == "damaged-source"
    assert str(damaged.value.data["where"]).endswith(path.relative_to(package).as_posix())
    assert isinstance(source, EarkSource)
    damaged_source = source.despite_damage()
    assert path.relative_to(package).as_posix() in {
        getattr(item, "record_key", "") or getattr(item, "key", "") for item in items(damaged_source)
    }
