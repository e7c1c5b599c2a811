"""Pages, JSON and lists about runs, for people and for the case file. Nothing here decides anything.

plan_page        the facts of a plan           run_page         the facts of a run
certificate      the facts of a verification   comparison_page  the facts of a comparison
validation_page  the facts of a validation     page             facts → HTML (templates/)
charts           rows → inline SVG             lists            the CSV behind each number
copies_page      the facts of archival copies   side_by_side     a document beside its copy
copies_words     what became of documents, in words
verdict_words    whether a delivery is ready, and why not, in words
meeting_words    what has other values than earlier runs loaded, in words
deliveries       packages in a folder, each judged anew by the facts beside it
person_page      where a person occurs          remedies         remedies and commands of a run
premis           the custody chain of files    fixity           the checksum that names a package
unit_names       units of an extract by title
citations        what the sources of rules are  dashboard        the runs of a folder on one page
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any  # facts read back from JSON

from noarkit.safe import atomic
from noarkit.settings import Imprint

if TYPE_CHECKING:  # a command that shows a number, or validates, makes none of these pages
    from noarkit.loading.delivery import Receipt
    from noarkit.loading.folder import RunFolder
    from noarkit.loading.verification import VerifyResult
    from noarkit.reports.plan_page import Context

__all__ = [
    "has_plan_page",
    "plan_report",
    "write_approval",
    "write_certificate",
    "write_delivery",
    "write_plan_facts",
    "write_plan_outcome",
    "write_plan_pages",
    "write_plan_report",
    "write_reports",
    "write_run_report",
]

PLAN_PAGE, PLAN_REPORT = "plan.html", "plan-report"


def write_plan_report(folder: RunFolder, lang: str, context: Context | None = None) -> list[Path]:
    """plan.html and plan-report.json; without a context that of the last time is kept."""
    from noarkit.reports.plan_page import context_of, plan_facts
    from noarkit.reports.remedies import page_words

    if context is None:
        context = context_of(plan_report(folder).get("context"))
    facts = plan_facts(folder, context)
    return _write(folder, "plan", PLAN_REPORT, facts, lang, page_facts=facts | page_words(folder, lang))


def write_plan_facts(folder: RunFolder, context: Context) -> None:
    """plan-report.json alone, of a plan that is not there yet; a page of an earlier one goes first."""
    from noarkit.reports.plan_page import plan_facts

    (folder.path / PLAN_PAGE).unlink(missing_ok=True)
    _write_facts(folder, PLAN_REPORT, plan_facts(folder, context))


def write_plan_pages(folder: RunFolder, lang: str) -> None:
    """The lists and plan.html of a plan, from the facts of it that stand. The page comes last: where it is, all is."""
    from noarkit.reports.lists import write_lists

    write_lists(folder, lang)
    write_plan_outcome(folder, lang)
    if not has_plan_page(folder):
        write_plan_report(folder, lang)


def has_plan_page(folder: RunFolder) -> bool:
    """True once everything that people read of a plan was written."""
    return (folder.path / PLAN_PAGE).is_file()


def write_plan_outcome(folder: RunFolder, lang: str) -> None:
    """plan.html and plan-report.json as they were written, with what became of the plan since; counts nothing anew."""
    from noarkit.reports.plan_page import PLAN_REPORT_VERSION, loaded_facts
    from noarkit.reports.remedies import page_words

    facts = plan_report(folder)
    if facts.get("version") == PLAN_REPORT_VERSION and facts.get("plan_sha256") == folder.plan()["sha256"]:
        facts = {**facts, "loaded": loaded_facts(folder)}
        _write(folder, "plan", PLAN_REPORT, facts, lang, page_facts=facts | page_words(folder, lang))


def write_run_report(folder: RunFolder, lang: str) -> list[Path]:
    """report.html and report.json of a run that has begun."""
    from noarkit.reports.remedies import page_words
    from noarkit.reports.run_page import run_facts

    facts = run_facts(folder)
    return _write(folder, "report", "report", facts, lang, page_facts=facts | page_words(folder, lang))


def write_approval(folder: RunFolder, lang: str) -> None:
    """The pages that say who approved the plan, after somebody did or took it back."""
    write_plan_report(folder, lang)
    if folder.journal.exists():
        write_run_report(folder, lang)


def write_reports(folder: RunFolder, lang: str) -> list[Path]:
    """Everything that is known of a run by now."""
    from noarkit.reports.lists import write_lists

    paths = write_plan_report(folder, lang)
    if folder.journal.exists():
        paths += write_run_report(folder, lang)
    return paths + write_lists(folder, lang)


def write_certificate(
    folder: RunFolder,
    verified: VerifyResult,
    lang: str,
    *,
    archive: str,
    account: str,
    sample: float,
    began_s: float,
    ended_s: float,
    imprint: Imprint | None = None,
) -> Path:
    """verify-TIME.html and its JSON; returns the page."""
    from noarkit.reports.certificate import certificate_facts, page_of

    facts = certificate_facts(
        folder,
        verified,
        archive=archive,
        account=account,
        sample=sample,
        began_s=began_s,
        ended_s=ended_s,
        lang=lang,
        imprint=imprint,
    )
    name = f"verify-{datetime.fromtimestamp(ended_s, UTC):%Y%m%d-%H%M%S}"
    return _write(folder, name, name, facts, lang, template="certificate.html", page_facts=page_of(folder, facts))[0]


def write_delivery(
    folder: RunFolder,
    verified: VerifyResult,
    receipt: Receipt,
    key: str,
    lang: str,
    *,
    now_s: float,
    imprint: Imprint | None = None,
) -> Path:
    """delivered-TIME.html and its JSON: what a receipt, sealed with `key`, says of a run; returns the page."""
    from noarkit.reports.certificate import page_of, receipt_facts

    name = f"delivered-{datetime.fromtimestamp(now_s, UTC):%Y%m%d-%H%M%S}"
    facts = receipt_facts(folder, verified, receipt, key, now_s, imprint=imprint)
    return _write(folder, name, name, facts, lang, template="delivered.html", page_facts=page_of(folder, facts))[0]


def _write(
    folder: RunFolder,
    page: str,
    data: str,
    facts: Mapping[str, object],
    lang: str,
    *,
    template: str = "",
    page_facts: Mapping[str, object] | None = None,
) -> list[Path]:
    """The page and its JSON; `page_facts` are those of the page, where it shows less than the JSON holds."""
    from noarkit.reports.page import render

    html, values = folder.path / f"{page}.html", _write_facts(folder, data, facts)
    atomic.write_text(html, render(template or f"{page}.html", lang, page_facts or facts), mode=0o600)
    return [html, values]


def _write_facts(folder: RunFolder, data: str, facts: Mapping[str, object]) -> Path:
    path = folder.path / f"{data}.json"
    atomic.write_text(path, json.dumps(facts, ensure_ascii=False, indent=1) + "\n", mode=0o600)
    return path


def plan_report(folder: RunFolder) -> dict[str, Any]:
    """The facts of plan-report.json as they were written; nothing where there is none."""
    try:
        facts = json.loads((folder.path / f"{PLAN_REPORT}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
