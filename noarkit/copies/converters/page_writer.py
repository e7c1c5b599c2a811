"""Draws HTML as PDF/A pages and fetches nothing: what a page asks for besides itself is refused, counted and told.

Neither the network nor a file of ours is ever opened for it: only what the page holds itself (`data:`) is drawn.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Any  # Any: the libraries have no types for us
from urllib.parse import urlsplit

from noarkit.copies.converters.library import product_of
from noarkit.copies.converters.pdfa_declaring import FLAVOURS, declare_pdfa, refusal_of_target
from noarkit.copies.port import Failure, Finding, Outcome, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.broken_pictures import cut_pictures_are_drawn

NOWHERE = "http://nowhere.invalid/"
"""Where a page is said to lie: what it names relative to itself is refused by name, as all else."""
_MOST_HOSTS = 20
_FILE_NAME = "copy.pdf"
# PDF/A forbids smoothed pictures; long lines would leave the page, and their words with them
_STYLE = """
@page { size: A4; margin: 15mm }
* { image-rendering: crisp-edges !important }
img, svg { max-width: 100% }
pre { white-space: pre-wrap }
body, td, th, p, pre, div, li { overflow-wrap: anywhere }
"""


class Refusals:
    """Counts what a page asked for, by the hosts it would have been asked of."""

    def __init__(self) -> None:
        self.count = 0
        self.hosts: dict[str, None] = {}

    def add(self, url: str) -> None:
        """One more; `file:` and what lies beside the page have no host, and go by what they are."""
        self.count += 1
        parts = urlsplit(url)
        host = "" if url.startswith(NOWHERE) else (parts.hostname or "")
        self.hosts[host or ("relative" if url.startswith(NOWHERE) else parts.scheme)] = None

    def findings(self) -> tuple[Finding, ...]:
        """What a person should know."""
        if not self.count:
            return ()
        return (Finding("remote-refused", {"count": self.count, "hosts": list(self.hosts)[:_MOST_HOSTS]}),)


def write_pages(task: Task, html: str, *, style: str = "", findings: Sequence[Finding] = ()) -> Outcome:
    """A PDF/A of a page in HTML, in the task's folder."""
    import pikepdf
    import weasyprint

    refused = refusal_of_target(task.target)
    if refused is not None:
        return refused
    refusals = Refusals()
    fetcher = _fetcher(refusals)
    flavour = FLAVOURS[task.target]
    document = weasyprint.HTML(string=html, base_url=NOWHERE, url_fetcher=fetcher)
    with cut_pictures_are_drawn():
        drawn: bytes = document.write_pdf(
            stylesheets=[weasyprint.CSS(string=_STYLE + style, url_fetcher=fetcher)],
            pdf_variant=f"pdf/a-{flavour}",
            pdf_identifier=hashlib.sha256(html.encode("utf-8", "replace")).digest(),
        )
    with pikepdf.open(io.BytesIO(drawn)) as pdf:
        _restore_links(pdf)
        rules = declare_pdfa(pdf, task.folder / _FILE_NAME, flavour)
    if rules:
        return Failure(Reason.NOT_VALID, {"rules": list(rules)})
    return product_of(task, _FILE_NAME, "weasyprint", findings=(*findings, *refusals.findings()))


def _fetcher(refusals: Refusals) -> Any:
    from weasyprint.urls import URLFetcher

    class OwnDataFetcher(URLFetcher):  # type: ignore[misc]  # the library has no types
        """Gives what stands in the page itself, and nothing else."""

        def fetch(self, url: str, headers: object = None) -> object:
            if url[:5].lower() != "data:":
                refusals.add(url)
                raise ValueError("nothing is fetched")
            return super().fetch(url, headers)

    return OwnDataFetcher(allowed_protocols=("data",), allow_redirects=False)


def _restore_links(pdf: Any) -> None:
    """Links that were relative are so again: the place that the page was said to lie at does not exist."""
    import pikepdf

    for page in pdf.pages:
        for note in page.obj.get("/Annots", ()):
            action = note.get("/A", {})
            if str(action.get("/URI", "")).startswith(NOWHERE):
                action["/URI"] = pikepdf.String(str(action["/URI"]).removeprefix(NOWHERE))
