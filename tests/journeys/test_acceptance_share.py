"""A share of 612 entries goes to a package by five commands, and what is in the package is what was in the share.

The share is that of samples/deposit; its own list judges the XML, which is read with lxml and regular expressions. The
commands run in processes of their own; from the second on, each is the one that the one before printed.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from samples.deposit.listing import Share
from samples.deposit.make import IDENTITY_NUMBER, MAILBOX, YEARS, make
from tests.journeys.acceptance import KNR, json_of, lines_of, new_project, printed, run, stops_in
from tests.journeys.faces import page_text

A = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
L = "{http://www.arkivverket.no/standarder/noark5/loependeJournal}"
P = "{http://www.arkivverket.no/standarder/noark5/offentligJournal}"
N = "{urn:noarkit:ikkeIFormen}"
E = "{http://www.arkivverket.no/standarder/noark5/endringslogg}"
DATES = (
    *("opprettetDato", "avsluttetDato", "arkivertDato", "tilknyttetDato", "saksdato", "journaldato"),
    *("dokumentetsDato", "mottattDato", "sendtDato"),
)
SENTENCES = {
    "en": "Not ready for deposit. Reasons: {stops}, remarks: {remarks}.",
    "nb": "Ikke klar for avlevering. Grunner: {stops}, merknader: {remarks}.",
}
RIGHTS = ("ReadThis", "Read", "ReadRelated", "Create", "Update", "Move")
"""All that an integration may do but to set dates and numbers."""
REASON = ("code", "grade", "count", "rules", "origin", "owner", "accepted")
"""What a line of JSON tells of a reason."""


@dataclass(frozen=True)
class Journey:
    """The share, the project, the commands that were typed, with the exit code and the words of each, and the XML."""

    share: Share
    project: Path
    typed: list[tuple[list[str], int, str]]
    structure: etree._Element
    running: etree._Element
    public: etree._Element

    @property
    def package(self) -> Path:
        return self.project / "package"


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """From the share to the package."""
    place = tmp_path_factory.mktemp("acceptance")
    share, project = make(place / "share"), place / "project"
    typed = [new_project(place, "project", "share", "--no-copies")]
    typed.append(run(printed(typed[-1][2], "deposit project"), place))
    typed.append(run([*printed(typed[-1][2], "deposit project --approve --by"), "Kari Nordmann"], place))
    xml = [
        etree.parse(project / "package" / f"{name}.xml").getroot()
        for name in ("arkivstruktur", "loependeJournal", "offentligJournal")
    ]
    yield Journey(share, project, typed, *xml)


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a list, by its headings."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def cases_in(journey: Journey) -> dict[str, etree._Element]:
    """The case files by their number."""
    cases = [found for found in journey.structure.iter(f"{A}mappe") if found.find(f"{A}saksaar") is not None]
    by_number = {str(case.findtext(f"{A}mappeID")): case for case in cases}
    assert len(by_number) == len(cases), "no number twice"
    return by_number


def records_in(element: etree._Element) -> list[etree._Element]:
    return list(element.iter(f"{A}registrering"))


def posts_in(journal: etree._Element, namespace: str) -> list[dict[str, str]]:
    """The entries of a journal, in their order: the texts of each by their names."""
    posts = journal.iter(f"{namespace}journalpost")
    return [{etree.QName(part).localname: str(part.text) for part in post} for post in posts]


def test_three_commands_come_to_a_package_each_told_by_the_one_before(journey: Journey) -> None:
    assert [code for _, code, _ in journey.typed] == [0, 4, 3]
    assert not any(word.startswith("--") for words, *_ in journey.typed[1:2] for word in words)
    first = journey.typed[0][2]
    questions = re.search(r"(\d+) questions", first)
    assert questions is not None and int(questions[1]) == 8
    messages = journey.share.messages
    numbered = sum(number is not None for number, _ in messages)
    outside = f"{len(messages)} messages outside the case folders"
    told = f"{outside}; {numbered} go to the case whose number is in the subject"
    assert told in journey.typed[1][2]


def test_the_cases_are_those_of_folders_and_register_and_two_without_a_number(journey: Journey) -> None:
    cases, share = cases_in(journey), journey.share
    numbered = {case.ident for case in share.cases.values()}.union(share.without_folder)
    assert len(cases) == 64
    assert numbered < {*cases}
    others = [cases[number] for number in cases if number not in numbered]
    assert sorted(str(case.findtext(f"{A}tittel")) for case in others) == ["Diverse", Path(MAILBOX).name]
    for number, case in cases.items():
        year, sequence = number.split("/")
        assert (case.findtext(f"{A}saksaar"), case.findtext(f"{A}sakssekvensnummer")) == (year, sequence)
        assert int(year) in YEARS
    assert [len(records_in(cases[number])) for number in share.without_folder] == [0, 0]


def test_records_and_documents_are_as_many_as_the_share_has(journey: Journey) -> None:
    records = records_in(journey.structure)
    assert len(records) == journey.share.records
    assert sum(1 for _ in journey.structure.iter(f"{A}dokumentbeskrivelse")) == journey.share.documents
    years = [str(record.findtext(f"{A}opprettetDato"))[:4] for record in records]
    created = Counter(map(int, years))
    assert created == journey.share.records_by_year(MAILBOX)
    numbers = [str(record.findtext(f"{A}registreringsID")) for record in records]
    assert [number.partition("/")[0] for number in numbers] == years
    assert len(set(numbers)) == len(numbers), "no number twice"


def test_each_mail_of_the_mailbox_lies_in_the_case_that_it_names(journey: Journey) -> None:
    share, cases = journey.share, cases_in(journey)
    named = Counter(number for number, _ in share.messages if number is not None)
    for case in share.cases.values():
        assert len(records_in(cases[case.ident])) == 9 + named[case.ident], case
    (unnamed,) = [case for case in cases.values() if case.findtext(f"{A}tittel") == Path(MAILBOX).name]
    assert len(records_in(unnamed)) == sum(number is None for number, _ in share.messages) == 13


def test_titles_have_no_number_and_are_those_of_the_register(journey: Journey) -> None:
    share = journey.share
    expected = {case.ident: case.full_title for case in share.cases.values()} | share.register
    cases = cases_in(journey)
    assert {number: cases[number].findtext(f"{A}tittel") for number in expected} == expected


def test_each_case_has_its_property_in_the_archive(journey: Journey) -> None:
    told = {
        number: [tuple(str(place.findtext(f"{N}{name}")) for name in ("knr", "gnr", "bnr")) for place in places]
        for number, case in cases_in(journey).items()
        if (places := list(case.iter(f"{N}Eiendom")))
    }
    assert told == {case.ident: [(KNR, *map(str, case.land))] for case in journey.share.cases.values()}


def test_no_date_lies_outside_the_period(journey: Journey) -> None:
    text = (journey.package / "arkivstruktur.xml").read_text("utf-8")
    years = Counter((name, int(year)) for name, year in re.findall(rf"<({'|'.join(DATES)})>(\d{{4}})", text))
    assert not [entry for entry in years if entry[1] not in YEARS]
    assert {name for name, _ in years} == {*DATES}


def test_both_journals_have_the_same_posts_each_in_the_year_of_its_day(journey: Journey) -> None:
    running, public = posts_in(journey.running, L), posts_in(journey.public, P)
    names = ("systemID", "journalaar", "journalsekvensnummer", "journaldato")
    assert [[post[name] for name in names] for post in running] == [[post[name] for name in names] for post in public]
    numbers = [(int(post["journalaar"]), int(post["journalsekvensnummer"])) for post in running]
    days = [post["journaldato"] for post in running]
    assert numbers == sorted(set(numbers))
    assert all(day[:4] == str(year) for day, (year, _) in zip(days, numbers, strict=True))
    assert days == sorted(days), "numbers rise with the days"
    for year in YEARS:
        of_year = [number for post_year, number in numbers if post_year == year]
        assert of_year == [*range(1, len(of_year) + 1)], year
    for journal, namespace in ((journey.running, L), (journey.public, P)):
        heads = [journal.findtext(f".//{namespace}{name}") for name in ("journalStartDato", "journalSluttDato")]
        assert heads == [min(days), max(days)]
        assert journal.findtext(f".//{namespace}antallJournalposter") == str(len(days))


def test_mails_went_the_way_that_their_addresses_say(journey: Journey) -> None:
    share = journey.share
    ways = Counter(
        str(record.findtext(f"{A}journalposttype"))[:3]
        for record in records_in(journey.structure)
        if record.find(f"{A}journaldato") is not None
    )
    from_outside = share.mails["I"] + share.mails["X"]
    assert ways == {
        "Inn": from_outside + share.message_ways["I"],
        "Utg": share.mails["U"] + share.message_ways["U"],
    }


def test_the_public_journal_hides_what_is_screened(journey: Journey) -> None:
    share = journey.share
    text = (journey.package / "offentligJournal.xml").read_text("utf-8")
    assert IDENTITY_NUMBER not in text
    assert len(share.screened) == 6
    for number in share.screened:
        title = share.register[number]
        assert title not in text
        year, sequence = number.split("/")
        for journal, namespace, is_hidden in ((journey.running, L, False), (journey.public, P, True)):
            cases = [
                found
                for found in journal.iter(f"{namespace}saksmappe")
                if (found.findtext(f"{namespace}saksaar"), found.findtext(f"{namespace}sakssekvensnummer"))
                == (year, sequence)
            ]
            titles = {
                str(case.findtext(f"{namespace}{'offentligTittel' if is_hidden else 'tittel'}")) for case in cases
            }
            assert cases
            assert all("*****" in told for told in titles) if is_hidden else titles == {title}


def test_the_change_log_has_the_closing_of_each_case_and_of_the_series(journey: Journey) -> None:
    log = etree.parse(journey.package / "endringslogg.xml").getroot()
    changes = Counter(
        (str(change.findtext(f"{E}referanseMetadata")), str(change.findtext(f"{E}referanseArkivenhet")))
        for change in log.iter(f"{E}endring")
    )
    closed = {unit for (name, unit) in changes if name == "saksstatus"}
    assert closed == {str(case.findtext(f"{A}systemID")) for case in cases_in(journey).values()}
    assert Counter(name for name, _ in changes) == {"saksstatus": 64, "arkivdelstatus": 1, "arkivstatus": 1}
    schema = etree.XMLSchema(etree.parse(journey.package / "endringslogg.xsd"))
    assert schema.validate(log), schema.error_log


def test_every_entry_is_archived_or_listed_with_its_reason(journey: Journey) -> None:
    share, run_folder = journey.share, journey.project / "run"
    archived = {row["key"].partition("//")[0] for row in rows(run_folder / "ids.csv")}
    skipped = {row["key"]: row["reason"] for row in rows(run_folder / "skipped.csv")}
    aside = {row["key"]: row["code"] for row in rows(run_folder / "set-aside.csv")}
    assert len(archived.difference(share.left_out)) == len(share.files) == 604
    assert {**skipped, **aside}.keys() == share.left_out.keys()
    assert all({**skipped, **aside}.values())
    assert len(archived) - 1 + len(skipped) + len(aside) == share.entries, "the register's cases aside"


@pytest.fixture(scope="module")
def judged(journey: Journey) -> dict[str, Any]:
    """The verdict of the package, as `validate` tells it as JSON."""
    code, lines = json_of(["validate", "project/package"], journey.project.parent)
    assert code == 3
    return one_with_verdict(lines)


def one_with_verdict(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The line of JSON that tells the verdict."""
    return next(line for line in lines if line.get("verdict"))


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_verdict_is_one_sentence_wherever_people_read_it(lang: str, journey: Journey) -> None:
    place, sentence = journey.project.parent, SENTENCES[lang].format(stops=3, remarks=5)
    commands = {
        "validate": ["validate", "project/package", "--report", "html", "-o", f"report-{lang}.html"],
        "runs": ["runs", "project"],
        "run page": ["runs", "project", "--html", f"runs-{lang}.html"],
        "status": ["deposit", "status", "project"],
    }
    done = {name: run([*words, "--lang", lang], place) for name, words in commands.items()}
    assert {name: code for name, (_, code, _) in done.items()} == {
        **{"validate": 3, "runs": 0, "run page": 0, "status": 0}
    }
    assert all(done[name][2].count(sentence) == 1 for name in ("validate", "runs", "status"))
    for page in (f"report-{lang}.html", f"runs-{lang}.html"):
        assert page_text(place / page).count(sentence) == 1, page
    _, code, told = journey.typed[-1]
    assert (code, told.count(SENTENCES["en"].format(stops=3, remarks=5))) == (3, 2), "by extract, and by validate"


def test_the_verdict_has_the_same_reasons_wherever_machines_read_it(journey: Journey, judged: dict[str, Any]) -> None:
    place = journey.project.parent
    run(["validate", "project/package", "--report", "json", "-o", "report.json"], place)
    report = json.loads((place / "report.json").read_text("utf-8"))["verdict"]
    lines = {
        "extract": json.loads((journey.project / "package.not-in-form.json").read_text("utf-8")),
        "validate": judged,
        "report": {**report, "verdict": report["state"]},
        "runs": one_with_verdict(json_of(["runs", "project"], place)[1]),
    }
    assert {line["verdict"] for line in lines.values()} == {"not-ready"}
    reasons = [[{name: reason[name] for name in REASON} for reason in line["reasons"]] for line in lines.values()]
    assert reasons == [reasons[0]] * len(lines) and len(reasons[0]) == 8
    assert "identity-numbers" not in {reason["code"] for reason in reasons[0]}


def extract_with(journey: Journey, *words: str, archive: str = "embedded:project/archive") -> tuple[int, set[str], str]:
    """The exit code of an extract, what stops it, and what it says."""
    place = journey.project.parent
    words = ("extract", *words, "--archive", archive, "--run", "project/run")
    _, code, told = run([*words], place)
    package = place / words[words.index("-o") + 1]
    beside = json.loads(package.with_name(f"{package.name}.not-in-form.json").read_text("utf-8"))
    return code, stops_in([beside]), told


@pytest.mark.parametrize(
    ("changes", "reason", "sentence"),
    [
        (
            {'start = ""': 'start = "2010-01-01"', 'end = ""': 'end = "2012-12-31"'},
            "period",
            "stops  Dates outside the period of the package: ",
        ),
        ({"Sætre kommune": "Ukjent"}, "creator", "stops  The records creator is not named."),
    ],
    ids=["another-period", "nobody-made-it"],
)
def test_what_is_wrong_with_a_delivery_stops_it(
    changes: dict[str, str], reason: str, sentence: str, journey: Journey, judged: dict[str, Any]
) -> None:
    text = (journey.project / "deposit.toml").read_text("utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after, 1)
    (journey.project.parent / f"{reason}.toml").write_text(text, "utf-8")
    code, stops, told = extract_with(journey, "-o", f"package-{reason}", "--package", f"{reason}.toml")
    assert (code, stops - stops_in([judged])) == (3, {reason}), "and nothing else is new"
    assert sentence in told


def test_a_delivery_of_nothing_is_not_made(journey: Journey) -> None:
    words = ["extract", "-o", "nothing", "--archive", "embedded:project/archive"]
    _, code, told = run([*words, "--select", "Saksmappe: saksaar = 2001"], journey.project.parent)
    assert (code, "F501" in told) == (4, True)
    assert "there is nothing in it" in told
    assert not (journey.project.parent / "nothing").exists()


def test_a_delivery_with_open_units_is_not_made_and_one_that_is_asked_for_is_not_ready(
    journey: Journey, judged: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(journey.project / "archive", tmp_path / "archive")
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "Referat 12.03.2016.txt").write_text("Et referat.\n", "utf-8")
    assert run(["recipe", "new", "late", "-o", "late.toml"], tmp_path)[1] == 0
    recipe = (tmp_path / "late.toml").read_text("utf-8")
    (tmp_path / "late.toml").write_text(recipe.replace("close = true", "close = false", 1), "utf-8")
    words = ["ingest", "late", "--recipe", "late.toml", "-o", "run", "--archive", "embedded:archive"]
    assert run(words, tmp_path)[1] == 0
    assert run(["verify", "run", "--archive", "embedded:archive", "--depth", "bytes"], tmp_path)[1] == 0
    words = ["-o", str(tmp_path / "package"), "--package", "project/deposit.toml", "--run", str(tmp_path / "run")]
    archive = f"embedded:{tmp_path / 'archive'}"
    _, code, told = run(["extract", *words, "--archive", archive], journey.project.parent)
    assert (code, "The package cannot be made as asked: units are still open" in told) == (4, True)
    assert not (tmp_path / "package").exists()
    code, stops, told = extract_with(journey, *words, "--include-open", archive=archive)
    assert (code, stops - stops_in([judged])) == (3, {"open"})
    assert "stops  Units that are not closed: " in told


def test_a_delivery_whose_certificate_is_gone_is_not_ready(
    journey: Journey, judged: dict[str, Any], tmp_path: Path
) -> None:
    certificates = sorted((journey.project / "run").glob("verify-*"))
    assert len(certificates) == 2, "a page, and JSON"
    for certificate in certificates:
        certificate.rename(tmp_path / certificate.name)
    try:
        _, code, told = run(["validate", "project/package"], journey.project.parent)
        lines = json_of(["runs", "project"], journey.project.parent)[1]
    finally:
        for certificate in certificates:
            (tmp_path / certificate.name).rename(certificate)
    assert "stops  The load behind the package is not verified: 1 run." in told
    assert (code, stops_in(lines) - stops_in([judged])) == (3, {"load"})


@pytest.fixture(scope="module")
def stopped(journey: Journey) -> tuple[int, str]:
    """A project of the same share, whose account lacks the right to set dates, up to its load: how that ended."""
    place = journey.project.parent
    new_project(place, "lesser", "share", "--no-copies")
    run(["doctor", "--archive", "embedded:lesser/archive", "--probe"], place)
    rights = [word for name in RIGHTS for word in ("--permission", name)]
    assert run(["groups", "embedded:lesser/archive", "Integrations", *rights], place)[1] == 0
    assert run(["deposit", "lesser"], place)[1] == 4
    return run(["deposit", "lesser", "--approve", "--by", "Kari Nordmann"], place)[1:]


def test_an_account_without_the_right_is_stopped_before_anything_is_sent(
    journey: Journey, stopped: tuple[int, str]
) -> None:
    code, told = stopped
    assert (code, "F413" in told) == (4, True)
    assert "folders, records and documents of 2014–2019 would be dated " in told
    with closing(sqlite3.connect(journey.project.parent / "lesser" / "archive" / "archive.db")) as db:
        assert db.execute("SELECT count(*) FROM o_abstraktregistrering").fetchone() == (0,), "nothing was sent"


def test_an_account_without_the_right_carries_the_dates_and_the_package_is_the_same(
    journey: Journey, stopped: tuple[int, str]
) -> None:
    place = journey.project.parent
    assert run(printed(stopped[1], r"plan [^\n]*?--carry-dates[^\n]*?(?=\. )"), place)[1] == 3, "a file cannot be read"
    _, code, told = run(["deposit", "lesser"], place)
    _, code, told = run([*printed(told, "deposit lesser --approve --by"), "Kari Nordmann"], place)
    assert code == 3
    (count,) = set(re.findall(r"remark  Dates, years and numbers of the source were put back [^:]*: (\d+)\.", told))
    assert int(count) > journey.share.documents + journey.share.records
    structures = [
        lines_of(project / "package" / "arkivstruktur.xml") for project in (journey.project, place / "lesser")
    ]
    assert structures[0] == structures[1]
    assert told.count("Not ready for deposit. Reasons: 3, ") == 2, "for the same reasons as the first"


def test_no_document_is_lost_between_the_share_and_the_package(journey: Journey) -> None:
    delivered = [str(found.text) for found in journey.structure.iter(f"{A}referanseDokumentfil")]
    assert len(delivered) == len(set(delivered)) == journey.share.documents
    assert all((journey.package / path).is_file() for path in delivered)
    refused = rows(journey.project / "package.formats-not-taken.csv")
    assert 0 < len(refused) < len(delivered)


def test_with_the_official_schemas_and_what_a_person_accepts_it_is_ready(journey: Journey, reference: Path) -> None:
    place, file = journey.project.parent, journey.project / "deposit.toml"
    text = file.read_text("utf-8")
    official = reference / "xsd" / "noark5" / "5.0"
    try:
        file.write_text(text.replace('schemas = ""', f'schemas = "{official}"', 1), "utf-8")
        _, code, told = run(["deposit", "project"], place)
        assert code == 3
        assert stops_in(json_of(["validate", "project/package-2"], place)[1]) == {"formats", "unusable"}
        own = run(["validate", "project/package"], place)[2]
        assert "stops  The XML or its schemas are wrong in 6 places." in own, "with schemas of our own, that too"
        _, code, told = run([*printed(told, "deposit project --accept.* --by"), "Kari Nordmann"], place)
        assert (code, "Ready for deposit" in told) == (0, True)
        assert "Ready for deposit" in run(["deposit", "status", "project"], place)[2]
    finally:
        file.write_text(text, "utf-8")
    for name in ("arkivstruktur", "endringslogg", "loependeJournal", "offentligJournal"):
        schema = etree.XMLSchema(etree.parse(official / f"{name}.xsd"))
        assert schema.validate(etree.parse(journey.project / "package-2" / f"{name}.xml")), (name, schema.error_log)
