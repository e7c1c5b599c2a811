"""What a document holds beside its words is counted by its bytes alone; what cannot be read of it is named."""

from __future__ import annotations

import struct
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from noarkit.copies.inspection import inspect, words_of
from noarkit.copies.port import Identity
from noarkit.documents.content_counts import contents_of
from noarkit.documents.contents import Contents
from noarkit.documents.embedded_pictures import examine_picture
from scripts.copies_corpus.kinds import KINDS
from scripts.copies_corpus.letters import letter
from tests.copies.corpus import drawn, odf, office, unfaithful
from tests.copies.corpus.zips import pack

BY_TITLE = {kind.title: kind for kind in KINDS}
ODT = Identity("fmt/291", odf.TYPES["odt"], "odt", "container")
SVG = Identity("fmt/91", "image/svg+xml", "svg", "text")


def _written(folder: Path, title: str) -> Path:
    path = folder / title
    path.write_bytes(BY_TITLE[title].write(letter(1)))
    return path


def _contents(folder: Path, content: bytes, suffix: str) -> Contents:
    path = folder / f"a.{suffix}"
    path.write_bytes(content)
    contents = contents_of(path, suffix)
    assert contents is not None
    return contents


def test_a_document_within_is_an_object_with_its_words_and_maybe_a_picture_of_itself(tmp_path: Path) -> None:
    bare = _contents(tmp_path, drawn.letter_with_object("Se arket."), "docx")
    assert (bare.items["objects"], bare.previewed) == (Counter({"innebygd 42": 1}), set())
    shown = _contents(tmp_path, drawn.letter_with_object("Se arket.", preview="god.png"), "docx")
    assert (shown.items["objects"], shown.previewed) == (Counter({"innebygd 42": 1}), {"innebygd 42"})
    assert shown.count("pictures") == 0
    noise = _contents(tmp_path, drawn.letter_with_object("Se arket.", preview="støy.png"), "docx")
    assert (noise.unreadable, noise.count("objects")) == (["word/media/støy.png"], 1)


def test_a_letter_taken_in_is_an_object_with_its_words(tmp_path: Path) -> None:
    chunk = office.docx("Avtalens punkt fire")
    contents = _contents(tmp_path, unfaithful.letter_with_chunk("del.docx", chunk, "Avtalen følger."), "docx")
    assert [text.split() for text in contents.items["objects"]] == [["Avtalens", "punkt", "fire"]]


def test_a_formula_that_is_only_referred_to_is_missing(tmp_path: Path) -> None:
    assert _contents(tmp_path, unfaithful.formula_in_a_text("e"), "odt").missing == []
    lost = _contents(tmp_path, unfaithful.formula_in_a_text("e", is_there=False), "odt")
    assert (lost.missing, lost.count("equations")) == (["Object 1"], 0)


def test_a_text_over_the_cells_of_a_sheet_is_an_object(tmp_path: Path) -> None:
    contents = _contents(tmp_path, drawn.sheet_with_pictures([["a"]], "god.png", text="Merk dette"), "xlsx")
    assert (contents.items["objects"], contents.count("pictures")) == (Counter({"Merk dette": 1}), 1)
    box = "<draw:frame><draw:text-box><text:p>Merk dette</text:p></draw:text-box></draw:frame>"
    assert _contents(tmp_path, odf.ods([["a"]], shapes=box), "ods").items["objects"] == Counter({"Merk dette": 1})


def test_what_draws_nothing_is_not_missing_and_a_table_is_no_picture(tmp_path: Path) -> None:
    listed = "".join(
        f'<manifest:file-entry manifest:full-path="{name}"/>' for name in ("settings.xml", "Pictures/a.png")
    )
    manifest = odf.LOCKED_MANIFEST.partition("<manifest:file-entry")[0] + listed + "</manifest:manifest>"
    frame = '<draw:frame><table:table/><draw:image xlink:href="Pictures/forhandsvisning.svm"/></draw:frame>'
    contents = _contents(tmp_path, odf.odt(odf.paragraph(frame), **{"META-INF__manifest_xml": manifest}), "odt")
    assert (contents.missing, contents.unreadable) == (["Pictures/a.png"], [])


@pytest.mark.parametrize(("actions", "kind"), [(3, "drawings"), (0, "")])
def test_a_metafile_of_openoffice_draws_where_it_has_actions(actions: int, kind: str) -> None:
    scale = bytes(27)
    head = b"VCLMTF" + struct.pack("<HII", 1, 49, 0) + struct.pack("<HI", 1, len(scale)) + scale
    assert examine_picture(head + struct.pack("<iiI", 100, 80, actions)).kind == kind


def test_the_picture_in_the_head_of_the_first_page_counts_and_that_of_no_page_does_not(tmp_path: Path) -> None:
    letter_head = drawn.open_letter_with_head("god.png", "Vedtak")
    assert _contents(tmp_path, letter_head, "odt").count("pictures") == 1
    path = tmp_path / "b.odt"
    path.write_bytes(letter_head)
    with zipfile.ZipFile(path) as package:
        members = {name: package.read(name) for name in package.namelist()}
    members["styles.xml"] = members["styles.xml"].replace(b'style:name="Standard"', b'style:name="Annen"')
    assert _contents(tmp_path, pack(members, stored=("mimetype",)), "odt").count("pictures") == 0


def test_a_list_of_members_that_names_a_document_type_elsewhere_is_read(tmp_path: Path) -> None:
    path = _written(tmp_path, "gammel-liste.odt")
    assert inspect(path, ODT) == ()
    contents = contents_of(path, "odt")
    assert contents is not None and contents.missing == []


def test_a_frame_before_the_text_does_not_say_which_page_is_the_first(tmp_path: Path) -> None:
    words = words_of(_written(tmp_path, "ramme-først.odt"), ODT)
    assert words is not None and words["naboene"] == 1 and words["fortsatt"] == 0


def test_a_page_within_a_drawing_has_words(tmp_path: Path) -> None:
    words = words_of(_written(tmp_path, "side-i-tegning.svg"), SVG)
    assert words is not None and words.total() >= 2
