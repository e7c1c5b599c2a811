"""Whatever tells of a conversion says what its copy is for, and each of them is read back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noarkit.catalogue.conversion_steps import COMMENT, CONVERTED, DETAIL, complete_steps, role_of, steps_of_details
from noarkit.catalogue.port import CustodyStep, Document
from noarkit.forms.metadata.derivations import Derivation, derivation_events
from noarkit.model.conversions import (
    PURPOSES,
    Conversion,
    Purpose,
    comment_text,
    copy_key,
    details_text,
    original_key,
    parse_comment,
    parse_details,
)

ACCESS = Conversion(
    *("fmt/353", "fmt/43", "2026-01-22T09:12:03Z", "noarkit", "Pillow 13.0.0", "read-picture", "a" * 64, "b" * 64),
    purpose="access",
)


@pytest.mark.parametrize("findings", [(), ("compressed-with-loss", "resolution-reduced width=600")])
@pytest.mark.parametrize("accepted_by", ["", "Kari Nordmann"])
@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_purpose_is_read_back(purpose: Purpose, accepted_by: str, findings: tuple[str, ...]) -> None:
    at = "2026-01-23T10:00:00Z" if accepted_by else ""
    told = replace(ACCESS, purpose=purpose, findings=findings, accepted_by=accepted_by, accepted_at=at)
    assert parse_details(details_text(told)) == told
    comment = parse_comment(comment_text(told))
    assert (comment.purpose, comment.findings, comment.accepted_by) == (purpose, findings, accepted_by)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_key_names_its_original_whatever_the_copy_is_for(purpose: Purpose) -> None:
    assert original_key(copy_key("2024-1/map.tif#v1", purpose)) == "2024-1/map.tif#v1"
    assert original_key("2024-1/map.tif#v1") is None


def _told_steps(purpose: Purpose) -> list[tuple[CustodyStep, ...]]:
    """The steps of a copy as an archive, an extract and a package tell them."""
    conversion = replace(ACCESS, purpose=purpose)
    by_comment = CustodyStep(CONVERTED, conversion.made_at, "", "noarkit", {COMMENT: comment_text(conversion)})
    event = derivation_events("p", "ID", Derivation("c", "s", "ID-c", "ID-s", conversion))[0]
    by_event = CustodyStep("migration", event.when, "", "Pillow; noarkit", {DETAIL: event.detail})
    return [steps_of_details(details_text(conversion)), *((step,) for step in (by_comment, by_event))]


@pytest.mark.parametrize(("purpose", "role"), [("archive", "copy"), ("access", "access")])
def test_an_access_copy_is_never_shown_as_an_archival_one(purpose: Purpose, role: str) -> None:
    for steps in _told_steps(purpose):
        complete = complete_steps(steps, "b" * 64, "Europe/Oslo")
        document = Document("copy", "map.jpg", sha256="b" * 64, custody=complete)
        assert role_of(document, ()) == role
