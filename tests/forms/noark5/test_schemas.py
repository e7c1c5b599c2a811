"""Our schemas say what the official ones say, element by element and document by document."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from noarkit.forms.noark5.schemas import VsmField, VsmGroup, schemas, vsm_schema
from noarkit.forms.noark5.spec import ADDML_NAMESPACE, XML_DOCUMENTS, addml_version, schema_files
from noarkit.model.xml_model import VERSIONS, Version, xml_model
from tests.forms.noark5 import random_documents, xsd_reading

ROOT = Path(__file__).resolve().parents[3]
OURS = ROOT / "schemas" / "noark5"
OFFICIAL = {"3.1": ("3.1",), "4.0": ("4.0",), "5.0": ("5.0", "5.0-latest-lf")}
FIRST_EDITION = "5.0-pre2023-as-bundled-in-arkade-2.12.4"
STRUCTURES, OTHERS = 3_000, 500


@cache
def judge(path: Path) -> etree.XMLSchema:
    """A schema that is ready to judge."""
    return etree.XMLSchema(etree.parse(str(path)))


def official_folders(reference: Path) -> Iterator[tuple[Version, Path]]:
    """Every official set with its version."""
    for version in VERSIONS:
        for name in OFFICIAL[version]:
            yield version, reference / "xsd" / "noark5" / name


def test_the_schemas_that_lie_in_the_house_are_those_that_the_tables_make() -> None:
    script = importlib.util.spec_from_file_location("generate_schemas", ROOT / "scripts" / "generate_schemas.py")
    assert script is not None
    assert script.loader is not None
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    assert module.stale() == []
    below = [path.relative_to(OURS) for path in module.wanted() if OURS in path.parents]
    assert {path.parts[0] for path in below} == set(VERSIONS)


def test_a_set_of_schemas_holds_every_file_of_a_delivery() -> None:
    for version in VERSIONS:
        assert tuple(schemas(version)) == schema_files(version)


def test_every_official_element_stands_in_ours_with_order_cardinality_and_type(reference: Path) -> None:
    assert {version for version, _ in official_folders(reference)} == set(VERSIONS)
    for version, folder in official_folders(reference):
        theirs, ours = (xsd_reading.catalogue(place / "metadatakatalog.xsd") for place in (folder, OURS / version))
        for name in XML_DOCUMENTS:
            expected = xsd_reading.document(folder / f"{name}.xsd", theirs)
            assert xsd_reading.document(OURS / version / f"{name}.xsd", ours) == expected, (folder.name, name)


def test_every_kind_of_the_official_catalogue_stands_in_ours(reference: Path) -> None:
    assert {version for version, _ in official_folders(reference)} == set(VERSIONS)
    for version, folder in official_folders(reference):
        theirs, ours = (xsd_reading.catalogue(place / "metadatakatalog.xsd") for place in (folder, OURS / version))
        renamed = {"presedensStatus" if name == "presedensstatus" else name: kind for name, kind in theirs.items()}
        assert ours == renamed, folder.name


def test_the_first_edition_of_5_0_is_ours_without_what_came_in_2023(reference: Path) -> None:
    folder = reference / "xsd" / "noark5" / FIRST_EDITION
    kinds = xsd_reading.catalogue(folder / "metadatakatalog.xsd")
    assert len(xml_model("5.0").documents) == 4
    for document in xml_model("5.0").documents.values():
        official = xsd_reading.document(folder / f"{document.name}.xsd", kinds)
        for group in document.groups.values():
            kept = [element.name for element in group.own if not element.since_2023]
            assert [row[0] for row in official.groups[group.name][1]] == kept, (document.name, group.name)


@pytest.mark.parametrize("version", VERSIONS)
def test_random_documents_are_judged_alike_by_the_official_schema_and_ours(reference: Path, version: Version) -> None:
    verdicts: Counter[tuple[str, bool]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    folders = [reference / "xsd" / "noark5" / name for name in OFFICIAL[version]]
    for document in xml_model(version).documents.values():
        chance = random.Random(f"{version} {document.name}")  # the same every time
        ours = judge(OURS / version / f"{document.name}.xsd")
        theirs = [judge(folder / f"{document.name}.xsd") for folder in folders]
        for number in range(STRUCTURES if document.name == "arkivstruktur" else OTHERS):
            whole = random_documents.make(xml_model(version), document, chance)
            met.update((document.name, etree.QName(one).localname) for one in whole.iter())
            told = [("whole", whole)] if number % 4 == 0 else [("broken", random_documents.broken(whole, chance))]
            for state, made in told:
                verdict = ours.validate(made)
                assert verdict or state == "broken", ours.error_log
                for other in theirs:
                    assert other.validate(made) is verdict, (other.error_log, etree.tostring(made))
                verdicts[state, verdict] += 1
    assert sum(verdicts.values()) >= 4_500, verdicts
    assert verdicts["broken", False] > verdicts["broken", True] > 20, verdicts
    for document in xml_model(version).documents.values():
        for element in (element for group in document.groups.values() for element in group.own):
            assert met[document.name, element.name], (document.name, element.name)


def test_documents_of_the_first_edition_are_judged_alike_by_its_schemas_and_ours(reference: Path) -> None:
    folder = reference / "xsd" / "noark5" / FIRST_EDITION
    judged = 0
    for document in xml_model("5.0").documents.values():
        chance = random.Random(document.name)  # the same every time
        ours, theirs = (judge(place / f"{document.name}.xsd") for place in (OURS / "5.0", folder))
        for _ in range(60):
            made = random_documents.make(xml_model("5.0"), document, chance, first_edition=True)
            assert ours.validate(made)
            assert theirs.validate(made), theirs.error_log
            judged += 1
    assert judged == 240


def test_every_element_of_addml_stands_in_ours(reference: Path) -> None:
    assert {version for version, _ in official_folders(reference)} == set(VERSIONS)
    for version, folder in official_folders(reference):
        assert xsd_reading.addml(OURS / version / "addml.xsd") == xsd_reading.addml(folder / "addml.xsd"), folder.name


def test_descriptions_of_all_samples_and_their_mutations_are_judged_alike(reference: Path) -> None:
    samples = sorted((reference.parent / "samples" / "noark5").rglob("arkivuttrekk.xml"))
    assert len(samples) >= 8
    verdicts: Counter[bool] = Counter()
    pairs = [
        (judge(OURS / v / "addml.xsd"), judge(reference / "xsd" / "noark5" / v / "addml.xsd")) for v in ("4.0", "5.0")
    ]
    for path in samples:
        chance = random.Random(path.parent.name)  # the same every time
        whole = etree.parse(str(path)).getroot()
        for number in range(41):
            made = whole if number == 0 else random_documents.broken(whole, chance)
            for ours, theirs in pairs:
                verdict = theirs.validate(made)
                assert ours.validate(made) is verdict, (path, ours.error_log, theirs.error_log)
                verdicts[verdict] += 1
    assert verdicts[True] > 100
    assert verdicts[False] > 100


FIELD = f'<fieldDefinitionReference xmlns="{ADDML_NAMESPACE}" name="x"/>'


def test_addml_8_3_alone_wants_field_references_unique() -> None:
    twice = f'<fieldDefinitionReferences xmlns="{ADDML_NAMESPACE}">{FIELD}{FIELD}</fieldDefinitionReferences>'
    once = f'<fieldDefinitionReferences xmlns="{ADDML_NAMESPACE}">{FIELD}</fieldDefinitionReferences>'
    for version in VERSIONS:
        ours = judge(OURS / version / "addml.xsd")
        assert ours.validate(etree.fromstring(once))
        assert ours.validate(etree.fromstring(twice)) is (addml_version(version) == "8.2")


def business() -> bytes:
    """A schema of two groups."""
    fields = (VsmField("felt-1", "Felt & ett", "long"), VsmField("felt-2", "To"))
    return vsm_schema("urn:own", [VsmGroup("gruppe-a", "Gruppe <A>", fields), VsmGroup("tom", "Tom", ())])


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        ("<gruppe-a ><felt-1>12</felt-1><felt-1>13</felt-1><felt-2>ja</felt-2></gruppe-a>", True),
        ("<gruppe-a ><felt-2>nei &quot;aldri&quot;</felt-2></gruppe-a>", True),
        ("<gruppe-a />", True),
        ("<tom />", True),
        ("<gruppe-a ><felt-1>tolv</felt-1></gruppe-a>", False),
        ("<gruppe-a ><felt-2>ja</felt-2><felt-1>12</felt-1></gruppe-a>", False),
        ("<gruppe-b />", False),
    ],
)
def test_business_specific_metadata_is_held_to_its_own_schema(content: str, valid: bool) -> None:
    name, rest = content[1:].split(maxsplit=1)
    schema = etree.XMLSchema(etree.fromstring(business()))
    assert schema.validate(etree.fromstring(f'<{name} xmlns="urn:own"{rest}')) is valid


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", "any text", None),
        ("long", "-12", "1.5"),
        ("double", "1.5", "1,5"),
        ("timestamp", "2020-01-02T03:04:05+01:00", "2020-01-02"),
        ("encrypted", "any text", None),
        ("uri", "urn:a", "%zz://["),
        ("boolean", "true", "ja"),
        ("unknown", "any text", None),
    ],
)
def test_every_kind_of_business_field_has_a_schema_that_judges_its_values(
    kind: str, good: str, bad: str | None
) -> None:
    schema = etree.XMLSchema(etree.fromstring(vsm_schema("urn:own", [VsmGroup("g", "G", (VsmField("f", "F", kind),))])))
    for value, valid in ((good, True), (bad, False)):
        if value is not None:
            assert schema.validate(etree.fromstring(f'<g xmlns="urn:own"><f>{value}</f></g>')) is valid, value
