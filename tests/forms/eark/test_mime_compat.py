"""With `--mime-compat` METS says of each file a media type that IANA's lists have by its name; the rest is the same."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.errors import UsageFault
from noarkit.extraction.convert import ConvertOptions
from noarkit.extraction.delivery import deliver
from noarkit.extraction.run import ExtractSettings
from noarkit.forms.eark.rules.media import has_template_name
from noarkit.forms.eark.spec import METS
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, Representation, make_eark
from tests.copies.corpus.office import docx
from tests.extraction.rich import fill
from tests.extraction.world import world
from tests.forms.eark.test_write import WHEN

HREF = "{http://www.w3.org/1999/xlink}href"
OCTETS = "application/octet-stream"
OTHERS = {"brev.eml": "message/rfc822", "lyd.wav": "audio/x-wav"}
CONTENTS = {
    "brev.eml": b"From: a@b.example\r\nTo: c@d.example\r\nSubject: s\r\n\r\nHei\r\n",
    "lyd.wav": b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0data\0\0\0\0",
    "notat.docx": docx("Notat"),
    "tekst.txt": b"Hei\n",
}
PUIDS = {"brev.eml": "fmt/278", "lyd.wav": "fmt/6", "notat.docx": "fmt/412", "tekst.txt": "x-fmt/111"}


def pack(folder: Path, *, compat: bool) -> Path:
    """A package of the four files, with one time for all that is told."""
    folder.mkdir()
    listed = [EarkFile(name, CONTENTS[name], puid=PUIDS[name], created=WHEN) for name in sorted(CONTENTS)]
    order = EarkOrder(object_id="pakke", created=WHEN, mime_compat=compat)
    return make_eark([Representation("rep1", listed)], folder / "pakke", order).path


def described(package: Path) -> dict[str, dict[str, str]]:
    """Every element of every METS that tells of a file, by METS and place; what depends on the bytes of a METS is
    left out."""
    elements: dict[str, dict[str, str]] = {}
    for path in sorted(package.rglob("METS.xml")):
        root = etree.parse(str(path)).getroot()
        for element in root.iter(f"{{{METS}}}file", f"{{{METS}}}mdRef"):
            facts = {str(name): str(value) for name, value in element.attrib.items()}
            place = next(str(owner.get(HREF)) for owner in (element, *element) if owner.get(HREF))
            if place.endswith("METS.xml"):
                del facts["CHECKSUM"], facts["SIZE"]
            elements[f"{path.relative_to(package)} {place}"] = facts
    return elements


def bodies(package: Path) -> dict[str, bytes]:
    """Every file but METS."""
    paths = (path for path in package.rglob("*") if path.is_file() and path.name != "METS.xml")
    return {str(path.relative_to(package)): path.read_bytes() for path in paths}


def is_in_table(media_type: str) -> bool:
    """Whether the table itself has the name, or it is one of a vendor: read without the code that is judged."""
    text = files("noarkit.forms.eark.rules").joinpath("media_types.toml").read_text("utf-8")
    kind, _, name = media_type.partition("/")
    return name.startswith("vnd.") or name in tomllib.loads(text)["registered"][kind].split()


def test_every_media_type_is_a_registered_one_and_nothing_else_is_changed(tmp_path: Path) -> None:
    usual, compatible = pack(tmp_path / "a", compat=False), pack(tmp_path / "b", compat=True)
    before, after = described(usual), described(compatible)
    types = {place.rpartition("/")[2]: facts["MIMETYPE"] for place, facts in before.items()}
    assert {name: types[name] for name in OTHERS} == OTHERS
    assert all(is_in_table(facts["MIMETYPE"]) for facts in after.values())
    changed = {place for place in before if before[place]["MIMETYPE"] != after[place]["MIMETYPE"]}
    assert {place.rpartition("/")[2] for place in changed} == set(OTHERS)
    assert {after[place]["MIMETYPE"] for place in changed} == {OCTETS}
    assert {place: facts | {"MIMETYPE": ""} for place, facts in before.items()} == {
        place: facts | {"MIMETYPE": ""} for place, facts in after.items()
    }
    assert bodies(usual) == bodies(compatible)  # PREMIS too
    reports = [noarkit.validate(package) for package in (usual, compatible)]
    assert [report.number("error") for report in reports] == [0, 0]
    assert reports[0].number("warning") == reports[1].number("warning")


@pytest.mark.parametrize(
    ("media_type", "is_listed"),
    [
        ("text/plain", True),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", True),
        ("image/svg+xml", True),
        ("message/rfc822", False),
        ("message/global", False),
        ("audio/x-wav", False),
        ("audio/wav", False),  # a name that tools write, and nobody registered
        ("application/x-foo+xml", False),
        ("x-world/x-vrml", False),
        ("chemical/x-pdb", False),
        ("text/plain;charset=utf-8", False),
        ("", False),
        ("noe", False),
    ],
)
def test_which_names_the_lists_have(media_type: str, is_listed: bool) -> None:
    assert has_template_name(media_type) is is_listed


def test_a_folder_is_converted_with_it_and_other_forms_have_no_place_for_it(tmp_path: Path) -> None:
    source = tmp_path / "kilde"
    source.mkdir()
    for name, content in CONTENTS.items():
        (source / name).write_bytes(content)
    noarkit.convert(source, tmp_path / "usual", form="eark-sip")
    noarkit.convert(source, tmp_path / "compatible", form="eark-sip", mime_compat=True)
    types = {
        name: {facts["MIMETYPE"] for facts in described(tmp_path / name).values()} for name in ("usual", "compatible")
    }
    assert types["usual"] - types["compatible"] == set(OTHERS.values())
    assert types["compatible"] - types["usual"] <= {OCTETS}
    for form in ("bagit", "dias-sip", "siard"):
        with pytest.raises(UsageFault, match="--mime-compat"):
            noarkit.convert(source, tmp_path / form, form=form, mime_compat=True)
        assert not (tmp_path / form).exists()


def test_an_extract_is_delivered_with_it_and_goes_on_as_it_was_begun(tmp_path: Path) -> None:
    with world(tmp_path / "archive") as live:
        fill(live.archive)
        options = ConvertOptions("eark-sip", mime_compat=True)
        settings = ExtractSettings(keep_note=True)
        package = deliver(live.archive, tmp_path / "sip", options, settings).package
        assert all(has_template_name(facts["MIMETYPE"]) for facts in described(package).values())
        with pytest.raises(UsageFault, match="exists"):
            deliver(live.archive, tmp_path / "sip", ConvertOptions("eark-sip"), settings)
        assert deliver(live.archive, tmp_path / "sip", options, settings).package == package
    with pytest.raises(UsageFault, match="--mime-compat"):
        noarkit.extract(tmp_path / "ut", noarkit.ExtractOptions(mime_compat=True))
