"""Every kind of report page, made of real runs, packages and copies, so that each can be looked at in a browser."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noarkit import ingest, plan, verify
from noarkit.copies.objects import place_object
from noarkit.copies.port import Finding, Identity, State
from noarkit.copies.reasons import Reason
from noarkit.copies.store import CopyKey, CopyOutcome, CopyStore, DocumentPlace
from noarkit.forms.comparison import CompareResult, Difference
from noarkit.forms.validation import ValidateResult, validate
from noarkit.loading.delivery import Receipt
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, numbers
from noarkit.loading.verification import VerifyResult
from noarkit.reports import write_certificate, write_delivery, write_reports
from noarkit.reports.comparison_page import write_comparison
from noarkit.reports.copies_page import write_copies_report
from noarkit.reports.dashboard import write_dashboard
from noarkit.reports.fixity import package_fixity
from noarkit.reports.side_by_side import write_side_by_side
from noarkit.reports.validation_page import write_validation
from noarkit.settings import Imprint
from samples.packages.bad import BAD
from samples.packages.make import write_good
from tests.copies.corpus.pdf import pdf

IMPRINT = Imprint("2026-11-24T08:15:00+00:00", "Kari Nordmann", "arkiv-pc-07", "Europe/Oslo")
LONG = "Referat fra møte i kontrollutvalget om oppfølging av forvaltningsrevisjon av byggesaksbehandlingen i kommunen"
NAMES = ("Søknad om byggetillatelse.pdf", "vedlegg.docx", "kart.tiff", "notat.txt", "liste.csv", f"{LONG}.pdf")


def make_run(place: Path) -> RunFolder:
    """A run of some forty files over thirty years, of which one is set aside and some are skipped."""
    for year in range(1991, 2022, 2):
        case = place / "src" / f"{year} Byggesak <b>nr</b> {year % 7}"
        case.mkdir(parents=True)
        for name in NAMES[: 1 + year % 6]:
            path = case / name
            path.write_bytes((b"%PDF-1.4\n%%EOF\n" if name.endswith("pdf") else b"a;b\n") * (year % 11 + 1))
            os.utime(path, (when := (year - 1970) * 31_557_600 + 8_640_000, when))
    os.mkfifo(place / "src" / "pipe")
    (place / "src" / "link").symlink_to("pipe")
    folder = RunFolder(place / "byggesak-2021")
    archive = f"embedded:{place / 'archive'}"
    plan(place / "src", folder.path)
    ingest(folder.path, archive=archive, workers=0)
    verify(folder.path, archive=archive, depth="bytes")
    return folder


def make_runs(place: Path, loaded: RunFolder) -> list[Path]:
    """Runs in different states: one that was loaded and verified, one that is planned, one whose plan is broken."""
    planned, broken = RunFolder(place / "planned"), place / "broken"
    plan(loaded.path.parent / "src", planned.path)
    broken.mkdir()
    (broken / "plan.json").write_text("{}")
    return [loaded.path, planned.path, broken]


def make_copies(place: Path) -> None:
    """Archival copies in three states, with findings."""
    (place / "letters").mkdir(parents=True)
    documents: tuple[tuple[str, bytes, bytes | None, State, Reason | None, tuple[Finding, ...]], ...] = (
        ("vedtak.pdf", pdf(["Vedtak\nav 2019"]), pdf(["Vedtak\nav 2020"]), "made", None, ()),
        (f"{LONG}.pdf", pdf(["Referat"]), pdf(["Referat"]), "held", Reason.HELD, (_TRACKED,)),
        ("skadet.pdf", pdf(["Kart"]), None, "failed", Reason.IMAGE_DIFFERS, ()),
    )
    with CopyStore.open(place / "copies", create=True) as store:
        walk = store.begin_walk(f"files:{place.resolve() / 'letters'}", "p")
        for name, content, copy, state, reason, findings in documents:
            path = place / "letters" / name
            path.write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            number = store.plan(CopyKey(digest, "fmt/17", "r", "pdfa-2b", "pdf-declare", "1"), "pdf", 1, walk)
            at = DocumentPlace(
                f"files:{place.resolve() / 'letters'}", name, name, name, len(content), path.stat().st_mtime_ns
            )
            identity = Identity("fmt/17", "application/pdf", "pdf", "signature")
            store.link(store.note_document(at, walk, digest, identity), number, None)
            copied = hashlib.sha256(copy).hexdigest() if copy else None
            if copy and copied:
                (place / "product").write_bytes(copy)
                place_object(store.folder, place / "product", copied)
            data: dict[str, object] = {"findings": ["tracked-changes"]} if findings else {}
            gates = {"format": "pass", "pdfa": "pass", "look": "fail" if state == "failed" else "pass"}
            sizes = (gates, copied, len(copy or b""), "fmt/477", "pikepdf", "10.1")
            store.settle(number, CopyOutcome(state, reason, data, findings, *sizes), "2026-01-02T03:04:05Z")


_TRACKED = Finding("tracked-changes", {"count": 7})


def bad_package(place: Path) -> ValidateResult:
    """The validation of a package that breaks several rules at many places."""
    results = []
    for code in ("N322", "N350", "N304", "N004", "N102"):
        bad = next((bad for bad in BAD if bad.code == code), None)
        if bad is not None:
            bad.draft().write(place / code)
            results.append(validate(place / code))
    outcomes = {outcome.rule.code: outcome for result in results for outcome in result.outcomes}
    many = {
        code: replace(outcome, count=outcome.count * 140, places=outcome.places * 30)
        for code, outcome in list(outcomes.items())[:1]
    }
    merged = tuple(sorted((outcomes | many).values(), key=lambda outcome: outcome.rule.code))
    rules = tuple(rule for rule in results[0].rules if rule.code in outcomes or rule.code[-1] == "1")
    return replace(results[0], outcomes=merged, rules=rules, counts=results[0].counts[:16])


def differing() -> CompareResult:
    """Two sides with differences of each kind."""
    result = CompareResult("id", {"klasse": 2, "mappe": 12_345, "journalpost": 50_000}, {"klasse": 3, "mappe": 12_344})
    for number in range(30):
        result.add(Difference("only-left", "journalpost", f"b1f0c2d4-5e6f-4a7b-8c9d-{number:012}"))
    for number in range(14):
        result.add(Difference("differs", "mappe", f"0d1e2f3a-{number:04}", "tittel", [f"{LONG} {number}"], "kort"))
    result.add(Difference("only-right", "klasse", "k3"))
    result.declared["file-path"] = 4711
    return result


class Samples:
    """The pages in any language; what they are of is made once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.run = make_run(place / "run")
        make_copies(place / "derived")
        self.bad = bad_package(place / "bad")
        self.runs = make_runs(place / "runs", self.run)
        write_good(place / "good", "5.0")
        good = validate(place / "good")
        self.good = replace(good, rules=good.rules[:20], counts=good.counts[16:])

    def write(self, folder: Path, lang: str) -> dict[str, Path]:
        """Every page, by name."""
        folder.mkdir(parents=True)
        writers: Mapping[str, Callable[[Path, str], None]] = {
            "validation-bad": lambda path, lang: write_validation(
                self.bad, path, "html", lang, imprint=IMPRINT, fixity=package_fixity(self.place / "good")
            ),
            "validation-good": lambda path, lang: write_validation(self.good, path, "html", lang, imprint=IMPRINT),
            "comparison": lambda path, lang: write_comparison(
                differing(), ("uttrekk-a", "uttrekk-b.tar"), path, "html", lang, imprint=IMPRINT
            ),
            "copies": self._copies,
            "side-by-side": self._side_by_side,
            "dashboard": lambda path, lang: write_dashboard(self.runs, path, lang, None, imprint=IMPRINT),
        }
        pages = {}
        for name, write in writers.items():
            pages[name] = folder / f"{name}.html"
            write(pages[name], lang)
        write_reports(self.run, lang)
        for name in ("plan", "report"):
            pages[name] = folder / f"{name}.html"
            pages[name].write_bytes((self.run.path / f"{name}.html").read_bytes())
        for name, path in self._certificates(lang).items():
            pages[name] = folder / f"{name}.html"
            pages[name].write_bytes(path.read_bytes())
        return pages

    def _copies(self, path: Path, lang: str) -> None:
        with CopyStore.open(self.place / "derived" / "copies") as store:
            write_copies_report(store, path, "html", lang, titles=True, imprint=IMPRINT)

    def _side_by_side(self, path: Path, lang: str) -> None:
        with CopyStore.open(self.place / "derived" / "copies") as store:
            write_side_by_side(store, path, f"{LONG}.pdf", lang, None, imprint=IMPRINT)

    def _certificates(self, lang: str) -> dict[str, Path]:
        wrong = VerifyResult("ids", numbers(self.run))
        for number in range(120):
            wrong.differ("keys", "V201", f"1995 Byggesak/{number} {LONG}", "<i>")
        partly = VerifyResult("bytes", numbers(self.run), sample=0.05)
        partly.agree("source records", 30)
        partly.leave("files", "sample", 28)
        facts = {"archive": "https://archive.example.org/rms/api/public", "account": "migration", "imprint": IMPRINT}
        with closing(self.run.open_journal()) as journal:
            identity = str(journal.meta("archive"))
        receipt = Receipt("receipt-1", "bundle-1", IMPRINT.at, "https://archive.example.org", identity, Numbers(read=4))
        return {
            "certificate-wrong": write_certificate(
                self.run,
                wrong,
                lang,
                sample=1.0,
                began_s=1_763_971_200,
                ended_s=1_763_971_260,
                **facts,  # type: ignore[arg-type]  # each as it is wanted
            ),
            "certificate-partly": write_certificate(
                self.run,
                partly,
                lang,
                sample=0.05,
                began_s=1_763_971_300,
                ended_s=1_763_971_360,
                **facts,  # type: ignore[arg-type]  # as above
            ),
            "delivered": write_delivery(
                self.run, partly, receipt, "SHA256:abc", lang, now_s=1_763_971_400, imprint=IMPRINT
            ),
        }
