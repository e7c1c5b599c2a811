"""Whoever looks at an archival copy sees what it was made of, by what, and who took it as it is, wherever it is."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from lxml import etree, html

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.api.deriving import accept_copies
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import CustodyStep, Document
from noarkit.cli.main import main
from noarkit.copies.port import Finding
from noarkit.model.conversions import parse_details
from noarkit.reading_room import facts
from noarkit.reading_room.chain import chain_of
from noarkit.reading_room.links import ServedLinks, Span
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.pages import View, render
from tests.catalogue.looking import every_entry
from tests.copies.planning.made import LETTER, Copies, lay, pdfa_of, picture, sha256

pytestmark = pytest.mark.usefixtures("one_archive")

MACRO = b"\xd0\xcf\x11\xe0macro"
PERSON = "Kari Berg, arkiv · AS"
AT = "2026-02-03T04:05:06Z"
LOCAL = "2026-02-03T05:05:06+01:00"
NS = {"p": "http://www.loc.gov/premis/v3"}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    """Documents whose copies were made, one of them accepted by a person; loaded, closed and extracted."""
    place = tmp_path_factory.mktemp("custody")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        folder, made = lay(place)
        (folder / "sak" / "makro.doc").write_bytes(MACRO)
        made.of(MACRO, "held", pdfa_of(picture(4)), findings=(Finding("macros", {"count": 3}),))
        settings = replace(noarkit.read_settings(environment={}), now_s=lambda: 1_770_091_506.0)
        assert accept_copies("copies", [sha256(MACRO)], by=PERSON, settings=settings) == 1
        noarkit.plan(folder, "run", copies="copies")
        noarkit.ingest("run", archive="embedded:first", workers=0)
        noarkit.close("run", archive="embedded:first")
        made.results = {
            form: noarkit.extract(name, archive="embedded:first", form=form)
            for name, form in (("extract", "noark5"), ("aip", "eark-aip"))
        }
        yield made


def test_an_extract_says_how_many_copies_went_along_and_where(
    copies: Copies, capsys: pytest.CaptureFixture[str]
) -> None:
    extract, aip = (copies.results[form] for form in ("noark5", "eark-aip"))
    assert (extract.copies, extract.originals_in, extract.originals_left_out) == (3, "", 3)
    assert (aip.copies, aip.copies_in, aip.originals_in) == (
        *(3, "representations/rep2/data/", "representations/rep1/data/"),
    )
    for folder, count in ((aip.copies_in + "dokumenter", 6), (aip.originals_in, 3)):
        assert sum(path.is_file() for path in (Path("aip") / folder).rglob("*")) == count
    assert main(["extract", "-o", "again", "--as", "eark-aip", "--archive", "embedded:first"], {}) in (0, 3)
    told = capsys.readouterr().out
    assert f"Archival copies: 3, in {aip.copies_in}; the documents they were made of are in {aip.originals_in}" in told


PLACES = ("run", "extract", "aip", "embedded:first")


def copy_of(catalogue: Catalogue, copies: Copies, source: bytes) -> Document:
    """The document in a place that is the copy of another."""
    digest = sha256(copies.made[sha256(source)])
    documents = [d for entry in every_entry(catalogue) for d in catalogue.card(entry.ref).documents]
    return next(document for document in documents if document.sha256 == digest)


@pytest.mark.parametrize("place", PLACES)
def test_a_copy_tells_what_it_was_made_of_and_by_what(place: str, copies: Copies) -> None:
    with open_catalogue(place) as catalogue:
        copy = copy_of(catalogue, copies, LETTER)
        steps = [step for step in copy.custody if step.step == "converted"]
        told = {name: steps[0].facts[name] for name in ("tool", "rule", "from_format", "to_format", "source_sha256")}
        chain = chain_of(copy, catalogue.document_with)
    assert told == {
        **{"tool": "LibreOffice 7.4.7.2", "rule": "office-text", "from_format": "fmt/40", "to_format": "fmt/477"},
        "source_sha256": sha256(LETTER),
    }
    assert len(steps) == 1
    assert (steps[0].at, steps[0].agent, steps[0].sha256) == ("2026-01-22T10:12:03+01:00", "noarkit", copy.sha256)
    assert steps[0].facts["findings"] == "fields count=2"
    assert chain.verdict == "unchanged" and chain.since == steps[0].at
    other = chain.steps[[step.step for step in chain.steps].index(steps[0])].other
    # an extract delivers the copy alone
    assert (other is not None and other[0].sha256 == sha256(LETTER)) == (place != "extract")


@pytest.mark.parametrize("place", PLACES)
def test_a_copy_that_was_held_tells_who_took_it_as_it_is(place: str, copies: Copies) -> None:
    with open_catalogue(place) as catalogue:
        copy = copy_of(catalogue, copies, MACRO)
        accepted = [step for step in copy.custody if step.step == "accepted"]
        assert accepted == [CustodyStep("accepted", LOCAL, copy.sha256, PERSON, {"findings": "macros count=3"})]
        assert "accepted" not in {step.step for step in copy_of(catalogue, copies, LETTER).custody}
        order = [step.step for step in copy.custody]
        assert order.index("converted") < order.index("accepted")


@pytest.mark.parametrize("place", PLACES)
def test_all_moments_of_a_chain_are_in_one_zone(place: str, copies: Copies) -> None:
    with open_catalogue(place) as catalogue:
        moments = [step.at for step in copy_of(catalogue, copies, MACRO).custody if step.at]
    assert moments and all(moment[-6:] in ("+01:00", "+02:00") for moment in moments)
    assert moments == sorted(moments, key=datetime.fromisoformat)


def test_premis_of_the_run_has_both_as_events(copies: Copies) -> None:
    assert main(["report", "run", "--premis"], {}) == 0
    root = etree.parse(Path("run/premis.xml")).getroot()
    (accepted,) = events(root, "accepted as a copy by a person")
    assert texts(accepted, ".//p:eventDateTime") == [AT]
    assert texts(accepted, ".//p:linkingAgentIdentifierValue") == [PERSON]
    assert texts(accepted, ".//p:eventOutcomeDetailNote") == ["macros count=3"]
    migrations = events(root, f"sha256 {sha256(MACRO)} to {sha256(copies.made[sha256(MACRO)])}")
    assert [texts(event, "p:eventType") for event in migrations] == [["migration"]]
    names = {
        identifier: texts(node, ".//p:originalName")
        for node in root.iterfind("p:object", NS)
        for identifier in texts(node, ".//p:objectIdentifierValue")
    }
    linked = [names[value] for value in texts(migrations[0], ".//p:linkingObjectIdentifierValue")]
    assert linked == [["makro.doc"], ["makro.pdf"]]


@pytest.mark.parametrize("form", ["eark-sip", "dias-sip", "bagit"])
def test_premis_of_a_package_names_the_person(form: str, copies: Copies) -> None:
    package = Path(f"as-{form}")
    noarkit.convert("saker", package, form=form, copies="copies")
    found = [
        event
        for document in premis_documents(package)
        for event in etree.fromstring(document).iter("{*}event")
        if "accepted as a copy by a person" in text_in(event)
    ]
    assert len(found) == 1 and PERSON in text_in(found[0])
    assert noarkit.validate(package).valid


def premis_documents(package: Path) -> Iterator[bytes]:
    """The PREMIS documents of a package, in its folder or in the tar in that."""
    for path in package.rglob("*"):
        if path.name.endswith("premis.xml"):
            yield path.read_bytes()
        elif path.suffix == ".tar":
            with tarfile.open(path) as archive:
                for name in archive.getnames():
                    member = archive.extractfile(name) if name.endswith("premis.xml") else None
                    if member is not None:
                        yield member.read()


def test_a_package_read_back_still_tells_it(copies: Copies) -> None:
    noarkit.convert("saker", "back", form="eark-sip", copies="copies")
    noarkit.plan("back", "again")
    with open_catalogue("again") as catalogue:
        copy = copy_of(catalogue, copies, MACRO)
    version = copy.fields["dokumentobjekt"]
    assert isinstance(version, dict)
    told = parse_details(str(version["formatDetaljer"]))
    assert told is not None and (told.accepted_by, told.accepted_at) == (PERSON, AT)
    assert [step.agent for step in copy.custody if step.step == "accepted"] == [PERSON]


def events(root: etree._Element, text: str) -> list[etree._Element]:
    return [event for event in root.iterfind("p:event", NS) if text in text_in(event)]


def text_in(node: etree._Element | None) -> str:
    """All text in an element, however deep."""
    return "" if node is None else "".join(map(str, node.itertext()))


def texts(node: etree._Element, path: str) -> list[str]:
    return [str(found.text) for found in node.iterfind(path, NS)]


@pytest.mark.parametrize(("lang", "word"), [("en", "Accepted as it is"), ("nb", "Godtatt som den er")])
def test_the_card_tells_it_in_words_and_leads_to_the_original(lang: str, word: str, copies: Copies) -> None:
    with open_catalogue("run") as catalogue:
        looks = Looks(catalogue)
        view = View(lang, ServedLinks(), looks.identity, zone=catalogue.zone)
        page = render("item.html", view, facts.item_facts(looks, "sak/makro.doc", Span()))
        original = copy_of(catalogue, Copies(Path(), {sha256(MACRO): MACRO}), MACRO)
        link = ServedLinks().document(looks.entry("sak/makro.doc"), original)
    card = html.fromstring(page)
    steps = card.iterfind(".//ol[@class='chain']/li")
    (step,) = [step for step in steps if text_in(step.find("span[@class='step']")).startswith(word)]
    assert PERSON in text_in(step) and "05:05 CET" in text_in(step)
    assert [time.get("title") for time in step.iterfind(".//time")] == [LOCAL]
    assert link in [found.get("href") for found in card.iterfind(".//ol[@class='chain']//dd/a")]
