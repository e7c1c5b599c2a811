"""The Danish variant of SIARD is judged by its indices, its MD5 sums and its rows; each rule is broken by something."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import noarkit
from noarkit.forms.recognition import detect_form
from noarkit.forms.siard.danish_rules.run import RULES

NAME = "AVID.SA.18001.1"
TABLES = """<?xml version="1.0"?><siardDiark xmlns="http://www.sa.dk/xmlns/diark/1.0"><version>1.0</version>
<dbName>base</dbName><tables><table><name>person</name><folder>table1</folder><description>d</description><columns>
<column><name>id</name><columnID>c1</columnID><type>INTEGER</type><nullable>false</nullable></column><column>
<name>navn</name><columnID>c2</columnID><type>VARCHAR (20)</type><nullable>true</nullable></column></columns>
<primaryKey><name>pk</name><column>id</column></primaryKey><rows>2</rows></table></tables></siardDiark>"""
ROWS = """<table xmlns="http://www.sa.dk/xmlns/siard/1.0/schema0/table1.xsd"><row><c1>1</c1><c2>Kari</c2></row><row>
<c1>2</c1><c2>Ola</c2></row></table>"""
FILES = {
    "Indices/archiveIndex.xml": "<archiveIndex/>",
    "Indices/contextDocumentationIndex.xml": "<contextDocumentationIndex/>",
    "Indices/tableIndex.xml": TABLES,
    "Tables/table1/table1.xml": ROWS,
}


def index(files: dict[str, str], medium: str = NAME) -> str:
    listed = ""
    for name, text in files.items():
        folder, _, last = name.rpartition("/")
        digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest().upper()
        way = f"{medium}\\{folder}".replace("/", "\\")
        listed += f"<f><foN>{way}</foN><fiN>{last}</fiN><md5>{digest}</md5></f>"
    return f'<fileIndex xmlns="http://www.sa.dk/xmlns/diark/1.0">{listed}</fileIndex>'


def delivery(place: Path, files: dict[str, str] | None = None) -> Path:
    files = FILES if files is None else files
    for name, text in {**files, "Indices/fileIndex.xml": index(files)}.items():
        (place / NAME / name).parent.mkdir(parents=True, exist_ok=True)
        (place / NAME / name).write_text(text, "utf-8")
    return place / NAME


def test_a_good_delivery_is_valid_and_told_as_what_it_is(tmp_path: Path) -> None:
    place = delivery(tmp_path)
    assert detect_form(place).form == "siard"
    report = noarkit.validate(place)
    assert (report.codes, report.version, report.valid) == (frozenset(), "DK", True)
    assert (report.summary["tables"], report.summary["rows"]) == (("1",), ("2",))
    assert {rule.code for rule in report.rules} == set(RULES)


def changed(name: str, text: str | None, more: str = "") -> Callable[[Path], None]:
    """A file with another text, and listed as that; gone where there is none, with `more` in its place."""

    def change(place: Path) -> None:
        files = {**FILES, name: text or ""}
        if text is None:
            files.pop(name)
        files |= {more: "more"} if more else {}
        shutil.rmtree(place)
        delivery(place.parent, files)

    return change


def late(name: str, text: str | None) -> Callable[[Path], None]:
    """A file that changes after all was listed."""

    def change(place: Path) -> None:
        if text is None:
            (place / name).unlink()
        else:
            (place / name).write_text(text, "utf-8")

    return change


BROKEN: dict[str, Callable[[Path], None]] = {
    "SIARDDK-1": changed("Indices/archiveIndex.xml", None),
    "SIARDDK-2": late("Indices/fileIndex.xml", "<fileIndex><f></fileIndex>"),
    "SIARDDK-3": late("Indices/archiveIndex.xml", None),
    "SIARDDK-4": late("Indices/archiveIndex.xml", "<archiveIndex> </archiveIndex>"),
    "SIARDDK-5": late("Documents.txt", "more"),
    "SIARDDK-6": changed("Tables/table1/table1.xml", None, "Tables/les.txt"),
    "SIARDDK-7": changed("Tables/table1/table1.xml", ROWS.replace("</table>", "")),
    "SIARDDK-8": changed("Tables/table1/table1.xml", ROWS.replace("<row>\n<c1>2</c1><c2>Ola</c2></row>", "")),
    "SIARDDK-9": changed("Tables/table1/table1.xml", ROWS.replace("<c2>Ola</c2>", "<c2>Ola</c2><c3>x</c3>")),
    "SIARDDK-10": late(
        "Indices/fileIndex.xml", index(FILES).replace("</fileIndex>", index(FILES, "AVID.SA.18001.2")[52:])
    ),
}


@pytest.mark.parametrize("code", RULES)
def test_what_breaks_a_rule_is_told(tmp_path: Path, code: str) -> None:
    place = delivery(tmp_path)
    BROKEN[code](place)
    report = noarkit.validate(place)
    assert code in report.codes, report.codes
    assert len(report.codes) <= 2, report.codes


def test_a_medium_beside_this_one_is_judged_with_it(tmp_path: Path) -> None:
    place = delivery(tmp_path)
    more = {"Documents/docCollection1/1/1.tif": "tif"}
    other = tmp_path / "AVID.SA.18001.2" / "Documents" / "docCollection1" / "1"
    other.mkdir(parents=True)
    (other / "1.tif").write_text("tif")
    whole = index(FILES).replace("</fileIndex>", index(more, "AVID.SA.18001.2")[52:])
    (place / "Indices" / "fileIndex.xml").write_text(whole)
    assert noarkit.validate(place).codes == frozenset()
    (other / "1.tif").write_text("TIF")
    assert noarkit.validate(place).codes == {"SIARDDK-4"}


def test_a_list_of_files_that_leads_out_reads_nothing_there(tmp_path: Path) -> None:
    place = delivery(tmp_path)
    (tmp_path / "secret.txt").write_text("x")
    for way in ("..", f"{NAME}\\..", "/etc"):
        text = index({"secret.txt": "x"}).replace(f"{NAME}\\", way)
        (place / "Indices" / "fileIndex.xml").write_text(text)
        codes = noarkit.validate(place).codes
        assert "SIARDDK-4" not in codes and codes & {"SIARDDK-3", "SIARDDK-10"}, way
