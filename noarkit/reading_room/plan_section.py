"""The pages of a plan before it is loaded: each source record beside what it will become, and what to know of it.

A form on the first of them writes down that a person approves the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from noarkit.catalogue.review import IDENTITY_NUMBER, PAGE, PlanReview, ReviewedEntity, ReviewedRecord
from noarkit.errors import UsageFault
from noarkit.loading.approval import approvals, record_approval, standing_approvals, withdraw_approval
from noarkit.loading.engines.assembly import describe_caller
from noarkit.loading.folder import RunFolder
from noarkit.loading.state import read_state
from noarkit.model.disclosure import MASK, mask_fields, mask_key, mask_text
from noarkit.reading_room.sections import Facts, Handler, Show
from noarkit.reading_room.session import Session
from noarkit.reading_room.web import Answer, Request, redirect
from noarkit.reports import write_approval
from noarkit.reports.plan_page import loaded_facts

_MOST_NAME = 200


class PlanSection:
    """The pages `/plan` and `/duplicates`, and the form that approves."""

    name = "plan"

    def __init__(self, folder: RunFolder, lang: str) -> None:
        self._folder = folder
        self._lang = lang

    @property
    def pages(self) -> Mapping[str, Handler]:
        """The records of the plan, and files that the source holds more than once."""
        return {"plan": self._plan, "duplicates": self._duplicates}

    @property
    def forms(self) -> Mapping[str, Handler]:
        """The approval, and its withdrawal."""
        return {"approve": self._approve}

    def _plan(self, request: Request, session: Session, show: Show) -> Answer:
        query = request.query
        code = query.get("code", "")[:8]
        after = _number(query.get("after", ""))
        with PlanReview(self._folder) as review:
            counts = review.counts()
            state = query.get("state", "") if query.get("state") in counts else ""
            records = list(review.records(after, PAGE + 1, state=state, code=code))
            facts: dict[str, object] = {
                "sha256": str(review.plan["sha256"]),
                "counts": counts,
                "groups": review.groups(),
                "duplicates": bool(review.duplicates(limit=1)),
                "records": [mask_record(record) for record in records[:PAGE]],
                "later": records[PAGE - 1].n if len(records) > PAGE else 0,
                "code": code,
                "state": state,
                "is_first": after == 0,
                "identity_number": IDENTITY_NUMBER,
            }
        return show("plan.html", {**facts, **self._approval_facts()})

    def _approval_facts(self) -> Facts:
        return {
            "standing": standing_approvals(self._folder),
            "approvals": list(approvals(self._folder))[-20:][::-1],
            "loaded": loaded_facts(self._folder),
            "is_done": read_state(self._folder).is_loaded,
            "account": _account(),
        }

    def _duplicates(self, request: Request, session: Session, show: Show) -> Answer:
        with PlanReview(self._folder) as review:
            groups = review.duplicates(request.query.get("after", "")[:64], PAGE + 1)
        shown = [replace(group, keys=tuple(mask_text(key) for key in group.keys)) for group in groups[:PAGE]]
        later = groups[PAGE - 1].sha256 if len(groups) > PAGE else ""
        return show("duplicates.html", {"groups": shown, "later": later})

    def _approve(self, request: Request, session: Session, show: Show) -> Answer:
        """Writes an approval down for the plan that the page showed, and for no other."""
        form, folder = request.form, self._folder
        by, note = form.get("by", "").strip(), form.get("note", "").strip()
        if not 0 < len(by) <= _MOST_NAME or len(note) > _MOST_NAME:
            raise UsageFault(what="no-approver", where=str(folder.path))
        if form.get("sha256") != str(folder.plan()["sha256"]):
            raise UsageFault(what="other-plan", where=str(folder.path))
        record = withdraw_approval if form.get("withdraw") else record_approval
        record(folder, by, _account(), datetime.now(UTC).isoformat(timespec="seconds"), note=note)
        write_approval(folder, self._lang)
        return redirect("/plan#approval")


def mask_record(record: ReviewedRecord) -> ReviewedRecord:
    """A record as it is shown: screened objects and identity numbers are masked."""
    hides_key = record.disclosure.hides_key
    return replace(
        record,
        key=mask_key(record.key, record.disclosure),
        entities=tuple(_mask_entity(entity, hides_key=hides_key) for entity in record.entities),
        above=tuple((kind, mask_text(title)) for kind, title in record.above),
    )


def _mask_entity(entity: ReviewedEntity, *, hides_key: bool) -> ReviewedEntity:
    file, screened = entity.file, entity.is_screened
    if file is not None:
        name, source = (MASK if screened and text else mask_text(text) for text in (file.name, file.copy_of))
        file = replace(file, name=name, copy_of=source)
    return replace(entity, fields=mask_fields(entity.fields, screened=screened, hides_key=hides_key), file=file)  # type: ignore[arg-type]  # JSON of the plan


def _account() -> str:
    return "{user}@{machine}".format_map(describe_caller())


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
