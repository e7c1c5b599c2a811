"""The custody chain of a run as PREMIS 3: valid by the official schema, true, and silent of what is screened."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

from noarkit import ingest, plan, report, verify
from noarkit.cli.main import main
from noarkit.loading.folder import RunFolder

NS = {"p": "http://www.loc.gov/premis/v3"}
CHAIN = ["capture", "message digest calculation", "format identification", "transfer", "ingestion", "fixity check"]
HOSTILE = 'a <b> & "c".txt'
RECIPE = """[source]
kind = "files"
[target]
external_system = "x"
model = 1
[target.arkivskaper]
fields = { arkivskaperIdent = "1", arkivskaperNavn = "N" }
[target.arkiv]
fields = { tittel = "A" }
[target.arkivdel]
fields = { tittel = "D" }
[[map]]
for = "file"
[map.fields]
tittel = "= record.name"
skjerming = "= 'SKJERMING' if 'hemmelig' in record.name else none"
"""


def make_run(place: Path, *names: str, recipe: Path | None = None, loaded: bool = True) -> RunFolder:
    """A run of files with these names, hashed when it was planned."""
    for name in names:
        path = place / "src" / "sak" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    folder = RunFolder(place / "run")
    plan(place / "src", folder.path, recipe=recipe, hash_contents=True)
    if loaded:
        ingest(folder.path, archive=f"embedded:{place / 'archive'}", workers=0)
    return folder


def premis_of(folder: RunFolder) -> etree._Element:
    """The document that `report` writes."""
    paths = report(folder.path, premis=True)
    assert paths[-1].name == "premis.xml"
    return etree.parse(paths[-1]).getroot()


def texts_of(node: etree._Element, path: str) -> list[str]:
    found = node.xpath(path, namespaces=NS)
    assert isinstance(found, list)
    return [str(one.text) for one in found if isinstance(one, etree._Element)]


def types_of(root: etree._Element) -> list[str]:
    return texts_of(root, "p:event/p:eventType")


@pytest.mark.parametrize("loaded", [True, False])
def test_the_document_is_valid_by_the_official_schema(tmp_path: Path, reference: Path, loaded: bool) -> None:
    folder = make_run(tmp_path, HOSTILE, "b.txt", loaded=loaded)
    if loaded:
        verify(folder.path, depth="bytes", archive=f"embedded:{tmp_path / 'archive'}")
    root = premis_of(folder)
    schema = etree.parse(reference / "xsd" / "eark" / "premis-v3-0.xsd")
    for imported in schema.getroot().findall("{http://www.w3.org/2001/XMLSchema}import"):
        local = next((reference / "xsd").rglob(Path(imported.get("schemaLocation", "")).name))
        imported.set("schemaLocation", str(local))
    etree.XMLSchema(schema).assertValid(root)


def test_every_file_has_its_whole_chain_with_the_checksum_of_its_bytes(tmp_path: Path) -> None:
    folder = make_run(tmp_path, HOSTILE, "b.txt")
    verify(folder.path, depth="bytes", archive=f"embedded:{tmp_path / 'archive'}")
    root = premis_of(folder)
    assert sorted(types_of(root)) == sorted(CHAIN * 2)
    assert texts_of(root, "p:object/p:originalName") == [HOSTILE, "b.txt"]
    sums = texts_of(root, "p:object//p:messageDigest")
    assert sums == [hashlib.sha256(f"content of {name}".encode()).hexdigest() for name in (HOSTILE, "b.txt")]
    sent = texts_of(root, "p:event[p:eventType='transfer']//p:eventDetail")
    assert sent == [f"sha256 {digest}" for digest in sums]
    with closing(folder.open_journal()) as journal:
        known = set(journal.ids(range(1, 100)).values())
    there = texts_of(root, "p:object/p:objectIdentifier[p:objectIdentifierType='archive']/p:objectIdentifierValue")
    assert len(set(there)) == 2 and set(there) <= known


def test_every_event_names_an_object_and_agents_that_are_there(tmp_path: Path) -> None:
    root = premis_of(make_run(tmp_path, "a.txt", "b.txt"))
    objects = set(texts_of(root, "p:object/p:objectIdentifier/p:objectIdentifierValue"))
    agents = set(texts_of(root, "p:agent/p:agentIdentifier/p:agentIdentifierValue"))
    assert set(texts_of(root, "p:event/p:linkingObjectIdentifier/p:linkingObjectIdentifierValue")) <= objects
    assert set(texts_of(root, "p:event/p:linkingAgentIdentifier/p:linkingAgentIdentifierValue")) == agents
    identifiers = texts_of(root, "p:event/p:eventIdentifier/p:eventIdentifierValue")
    assert len(set(identifiers)) == len(identifiers)


def test_nothing_is_told_that_did_not_happen(tmp_path: Path) -> None:
    root = premis_of(make_run(tmp_path, "a.txt", loaded=False))
    assert types_of(root) == ["capture", "message digest calculation", "format identification"]


def test_a_file_that_was_left_out_failed_with_its_code(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "a.txt", "b.txt", loaded=False)
    (tmp_path / "src" / "sak" / "a.txt").unlink()
    ingest(folder.path, archive=f"embedded:{tmp_path / 'archive'}", workers=0)
    root = premis_of(folder)
    failed = root.xpath("p:event[.//p:eventOutcome='failure']", namespaces=NS)
    assert isinstance(failed, list) and len(failed) == 1 and isinstance(failed[0], etree._Element)
    assert texts_of(failed[0], "p:eventType") == ["ingestion"]
    assert texts_of(failed[0], ".//p:eventOutcomeDetailNote") == ["F202"]
    assert types_of(root).count("transfer") == 1


def test_the_name_of_a_screened_file_is_not_told_and_an_open_one_is(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE, "utf-8")
    folder = make_run(tmp_path, "hemmelig sak.txt", "open.txt", recipe=recipe, loaded=False)
    root = premis_of(folder)
    assert texts_of(root, "p:object/p:originalName") == ["open.txt"]
    assert "hemmelig" not in (folder.path / "premis.xml").read_text("utf-8")
    page = (folder.path / "plan.html").read_text("utf-8")
    examples = json.loads((folder.path / "plan-report.json").read_text("utf-8"))["examples"]
    assert "hemmelig" not in json.dumps(examples) and "open.txt" in json.dumps(examples)
    assert "hemmelig" not in page


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "a.txt", "b.txt")
    assert main(["report", str(folder.path), "--premis"], {}) == 0
    first = (folder.path / "premis.xml").read_bytes()
    assert main(["report", str(folder.path), "--premis"], {}) == 0
    assert (folder.path / "premis.xml").read_bytes() == first
    assert (folder.path / "premis.xml").stat().st_mode & 0o777 == 0o600
