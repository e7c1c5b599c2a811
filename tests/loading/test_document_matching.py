"""Which archived document a planned one is: by what it is, never by its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.loading.document_matching import ArchivedDocument, PlannedDocument, match_documents


def planned(n: int, name: str, *, identity: str = "", uuid: str = "", title: str = "") -> PlannedDocument:
    return PlannedDocument(n, identity, uuid, title, name)


def archived(id: str, name: str, *checksums: str, uuid: str = "", title: str = "") -> ArchivedDocument:
    return ArchivedDocument(id, uuid, title, name, {checksum: f"{id}v" for checksum in checksums})


def ids(documents: list[PlannedDocument], there: list[ArchivedDocument], sums: dict[int, str] | None = None,
        known: dict[int, str] | None = None) -> dict[int, str]:  # fmt: skip
    pairs = match_documents(documents, there, known or {}, (sums or {}).get)
    return {n: document.id for n, document in pairs.items()}


@given(st.permutations(["receipt 1", "receipt 2", "page", "data"]), st.data())
def test_a_name_is_found_wherever_it_stands_and_what_is_new_is_new(names: list[str], data: st.DataObject) -> None:
    there_names = data.draw(st.lists(st.sampled_from(names), unique=True))
    documents = [planned(n, name, identity=name) for n, name in enumerate(names)]
    there = [archived(name, name, "any") for name in there_names]
    assert ids(documents, there) == {n: name for n, name in enumerate(names) if name in there_names}


def test_a_document_with_an_identity_bears_the_uuid_that_is_made_of_it_whatever_its_file_is_called() -> None:
    documents = [planned(1, "photo.jpg", identity="a", uuid="u1"), planned(2, "photo.jpg", identity="b", uuid="u2")]
    there = [archived("x", "image.jpg", uuid="u2"), archived("y", "image.jpg", uuid="u1")]
    assert ids(documents, there) == {1: "y", 2: "x"}


def test_what_this_run_made_or_found_before_is_that() -> None:
    documents = [planned(1, "same.pdf"), planned(2, "same.pdf")]
    assert ids(documents, [archived("x", "same.pdf"), archived("y", "same.pdf")], known={1: "y"}) == {1: "y", 2: "x"}


def test_of_equal_names_the_bytes_say_which_is_which() -> None:
    documents = [planned(1, "same.pdf", identity="a"), planned(2, "same.pdf", identity="b")]
    there = [archived("x", "same.pdf", "second"), archived("y", "same.pdf", "first")]
    assert ids(documents, there, {1: "first", 2: "second"}) == {1: "y", 2: "x"}


@pytest.mark.parametrize(
    ("name", "identity", "pairs"),
    [
        ("receipt 7.heic", "receipt:7", {1: "x"}),
        ("receipt 8.heic", "receipt:8", {}),
        ("anything.txt", "", {1: "x"}),
    ],
    ids=["its ending was mended", "another receipt with the same bytes", "a file that was renamed"],
)
def test_equal_bytes_are_the_same_document_where_nothing_speaks_against_it(
    name: str, identity: str, pairs: dict[int, str]
) -> None:
    there = [archived("x", "receipt 7.bin", "sum"), archived("y", "other.bin")]
    documents = [planned(1, name, identity=identity)]
    assert ids(documents, there, {1: "sum"}) == pairs


def test_where_an_archive_says_no_names_titles_do_and_an_identity_is_never_found_by_its_place() -> None:
    there = [archived("x", "", title="Page"), archived("y", "", title="Data")]
    documents = [planned(1, "late", identity="late", title="Receipt"), planned(2, "d", identity="d", title="Data")]
    assert ids(documents, there) == {2: "y"}


def test_without_identity_and_names_what_is_left_is_taken_in_order() -> None:
    there = [archived("x", "", "1"), archived("y", "", "2")]
    assert ids([planned(1, "a"), planned(2, "b")], there, {1: "new", 2: "1"}) == {2: "x", 1: "y"}


def test_a_record_of_one_document_keeps_it_and_another_file_beside_others_is_another() -> None:
    assert ids([planned(1, "b.pdf")], [archived("x", "a.pdf", "old")], {1: "new"}) == {1: "x"}
    there = [archived("x", "a.pdf"), archived("y", "b.pdf")]
    assert ids([planned(1, "a.pdf"), planned(2, "c.pdf")], there) == {1: "x"}


def test_a_name_says_more_than_bytes() -> None:
    there = [archived("x", "a.pdf", "1"), archived("y", "b.pdf", "2")]
    assert ids([planned(1, "b.pdf"), planned(2, "a.pdf")], there, {1: "1", 2: "2"}) == {1: "y", 2: "x"}
