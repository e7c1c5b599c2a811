"""What goes into a package comes out of it, whatever its names and sizes, in every container and version."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.forms.eark.read.package import open_eark
from noarkit.forms.eark.spec import KINDS, WRITTEN_VERSIONS, Kind, Version
from noarkit.forms.eark.write.order import contact, creator, preservation, submitter
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, Representation, files_below, make_eark
from noarkit.forms.metadata.model import Agent
from tests.forms.bagit.test_round_trip import laid, trees
from tests.forms.eark.oracles import TAILS, disagreements, faults_of, held

EXAMPLES = 200 if os.environ.get("NOARKIT_DEEP") == "1" else 8
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20)


@pytest.mark.parametrize("tail", TAILS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=trees(),
    other=trees(),
    label=texts,
    kind=st.sampled_from(KINDS),
    version=st.sampled_from(WRITTEN_VERSIONS),
)
def test_any_tree_comes_back_equal(
    tail: str, tree: dict[str, bytes], other: dict[str, bytes], label: str, kind: Kind, version: Version
) -> None:
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        source.mkdir()
        laid(source, tree)
        target = Path(place, f"package{tail}")
        parts = (
            Representation("første rep+%", files_below(source), label=label),
            Representation("2", [EarkFile(name, content) for name, content in other.items()]),
        )
        made = make_eark(parts, target, EarkOrder(kind=kind, version=version, label=label))
        assert held(made.path, "første rep+%") == tree
        assert held(made.path, "2") == other
        with open_eark(target) as package:
            assert disagreements(package) == []
            assert package.kind == kind
            assert package.root.object_id == "package"
            assert package.root.label == (label or "package")


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    tree=trees(),
    words=st.lists(texts.filter(str.strip), min_size=6, max_size=6),
    version=st.sampled_from(WRITTEN_VERSIONS),
)
def test_whatever_is_told_is_valid_xml_of_the_official_schemas(
    reference: Path, kind: Kind, tree: dict[str, bytes], words: list[str], version: Version
) -> None:
    one, two, three, four, five, six = words
    agents = (creator(one, two), submitter(three), contact(four, five, "12 34 56 78"), preservation(six, one))
    order = EarkOrder(kind=kind, version=version, label=one, agents=agents, agreement=two, reference_code=three)
    with tempfile.TemporaryDirectory() as place:
        files = [EarkFile(name, content, puid="fmt/95", format_name=two) for name, content in tree.items()]
        made = make_eark([Representation("rep1", files)], Path(place, "p"), order)
        with open_eark(made.path) as package:
            assert faults_of(package, reference) == []
            stripped = [(agent.role, agent.name) for agent in package.root.agents][1:]
            assert stripped == [(agent.role, agent.name.strip()) for agent in agents]


@pytest.mark.parametrize("tail", TAILS)
def test_all_that_is_told_of_a_file_comes_back(tmp_path: Path, tail: str) -> None:
    when = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    file = EarkFile(
        "a.pdf", b"%PDF-1.4", media_type="application/pdf", puid="fmt/18", format_name="PDF", format_version="1.4",
        created=when, original_name="C:\\Mine\\a?.pdf",
    )  # fmt: skip
    part = Representation("rep1", [file], "citserms_v3_0", category="Dataset", kind="ACCESS", label="Access")
    made = make_eark([part], tmp_path / f"p{tail}", EarkOrder(created=when))
    with open_eark(made.path) as package:
        entry = package.find("representations/rep1/data/a.pdf")
        assert entry is not None
        assert (entry.media_type, entry.puid, entry.format_name, entry.format_version) == (
            "application/pdf",
            "fmt/18",
            "PDF",
            "1.4",
        )
        assert (entry.created, entry.original_name, entry.use) == ("2001-02-03T04:05:06Z", "C:\\Mine\\a?.pdf", "Data")
        (found,) = package.representations
        assert (found.label, found.content_type, found.heading and found.heading.kind) == (
            "Access",
            "citserms_v3_0",
            "ACCESS",
        )
        assert (package.root.content_type, package.root.type, package.root.created) == (
            "citserms_v3_0",
            "Dataset",
            "2001-02-03T04:05:06Z",
        )
        objects = list(package.premis("representations/rep1/metadata/preservation/premis.xml"))
        assert [(one.kind, one.original_name, one.location, one.puid, one.size_bytes) for one in objects] == [
            ("representation", "", "", "", None),
            ("file", "C:\\Mine\\a?.pdf", "data/a.pdf", "fmt/18", 8),
        ]
        assert objects[1].digests == (("SHA-256", entry.checksum),)


def test_who_made_it_is_read_as_it_was_told(tmp_path: Path) -> None:
    agents = (creator("Vik", "K1"), submitter("IKA"), contact("Kari", "kari@example.org"), preservation("Arkivet"))
    order = EarkOrder(
        agents=agents,
        agreement="2026/1",
        previous_agreements=("a", "b"),
        reference_code="r",
        previous_reference_codes=("q",),
        record_status="TEST",
    )
    made = make_eark([Representation("rep1", [])], tmp_path / "p", order)
    with open_eark(made.path) as package:
        software, *others = package.root.agents
        assert software == Agent(
            "CREATOR", "OTHER", "noarkit", other_type="SOFTWARE", notes=((software.notes[0][0], "SOFTWARE VERSION"),)
        )
        assert tuple(others) == agents
        assert package.root.records == (
            ("SUBMISSIONAGREEMENT", "2026/1"),
            ("PREVIOUSSUBMISSIONAGREEMENT", "a"),
            ("PREVIOUSSUBMISSIONAGREEMENT", "b"),
            ("REFERENCECODE", "r"),
            ("PREVIOUSREFERENCECODE", "q"),
        )
        assert package.root.record_status == "TEST"


def test_names_that_differ_in_composition_alone_are_kept_apart_in_a_folder(tmp_path: Path) -> None:
    files = [EarkFile("Å.txt", b"one"), EarkFile("A\u030a.txt", b"two")]
    made = make_eark([Representation("rep1", files)], tmp_path / "p")
    assert made.twins == (("representations/rep1/data/A\u030a.txt", "representations/rep1/data/Å.txt"),)
    assert held(made.path, "rep1") == {"Å.txt": b"one", "A\u030a.txt": b"two"}
