"""A share of 612 entries goes to a package by five commands, and what is in the package is what was in the share.

The share is that of samples/deposit; its own list judges the XML, which is read with lxml and regular expressions. The
commands run in processes of their own; from the second on, each is the one that the one before printed.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from samples.deposit.listing import Share
from samples.deposit.make import IDENTITY_NUMBER, MAILBOX, YEARS, make

A = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
L = "{http://www.arkivverket.no/standarder/noark5/loependeJournal}"
P = "{http://www.arkivverket.no/standarder/noark5/offentligJournal}"
N = "{urn:noarkit:ikkeIFormen}"
E = "{http://www.arkivverket.no/standarder/noark5/endringslogg}"
DATES = (
    *("opprettetDato", "avsluttetDato", "arkivertDato", "tilknyttetDato", "saksdato", "journaldato"),
    *("dokumentetsDato", "mottattDato", "sendtDato"),
)
KNR = "1413"
ANSWERS = {
    "recipe.toml": (
        ('no_folder = "ask"', 'no_folder = "make"'),
        ('no_row = "ask"', 'no_row = "report"'),
        ('knr = "ask"', f'knr = "{KNR}"'),
        ('identity_numbers = "report"', 'identity_numbers = "screen"\nscreening = "UO13"'),
    ),
    "deposit.toml": (
        ('schemas = "ask"', 'schemas = ""'),
        ('name = "ask"', 'name = "Sætre kommune"'),
        ('identification = "ask"', 'identification = "987654321"'),
        ('name = "ask"', 'name = "Filserver"'),
    ),
}
"""What a person answers: the questions, in the order of the files, and what to do with an identity number."""


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


def run(words: list[str], cwd: Path) -> tuple[list[str], int, str]:
    """One command, to its end."""
    command = [sys.executable, "-m", "noarkit", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return words, done.returncode, done.stdout + done.stderr


def printed(text: str, pattern: str) -> list[str]:
    """The command that a text advises: the last of those."""
    return shlex.split(re.findall(rf"noarkit ({pattern})", text)[-1])


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """From the share to the package."""
    place = tmp_path_factory.mktemp("acceptance")
    share, project = make(place / "share"), place / "project"
    typed = [run(["deposit", "new", "share", "-o", "project", "--no-copies"], place)]
    for name, answers in ANSWERS.items():
        text = (project / name).read_text("utf-8")
        for question, answer in answers:
            assert question in text, question
            text = text.replace(question, answer, 1)
        (project / name).write_text(text, "utf-8")
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


def verdict_of(journey: Journey) -> dict[str, Any]:
    """What `validate` says of the package as JSON."""
    _, code, told = run(["validate", "project/package", "--json"], journey.project.parent)
    assert code == 3
    lines: list[dict[str, Any]] = [json.loads(line) for line in told.splitlines()]
    return next(line for line in lines if line.get("verdict"))


def test_three_commands_come_to_a_package_each_told_by_the_one_before(journey: Journey) -> None:
    assert [code for _, code, _ in journey.typed] == [0, 4, 3]
    assert not any(word.startswith("--") for words, *_ in journey.typed[1:2] for word in words)
    first = journey.typed[0][2]
    questions = re.search(r"(\d+) questions", first)
    assert questions is not None and int(questions[1]) == 7
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
    created = Counter(int(str(record.findtext(f"{A}opprettetDato"))[:4]) for record in records)
    assert created == journey.share.records_by_year(MAILBOX)


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


def test_the_verdict_is_one_wherever_it_is_told(journey: Journey) -> None:
    words, _, text = journey.typed[-1]
    assert words[-1] == "Kari Nordmann"
    assert text.count("Not ready for deposit.") == 2, "by extract, and by validate"
    assert verdict_of(journey)["verdict"] == "not-ready"
    assert "identity" not in " ".join(re.findall(r"stops +(.*)", text))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({'start = ""': 'start = "2010-01-01"', 'end = ""': 'end = "2012-12-31"'}, "period"),
        ({"Sætre kommune": "Ukjent"}, "creator"),
    ],
    ids=["another-period", "nobody-made-it"],
)
def test_what_is_wrong_with_a_delivery_stops_it(changes: dict[str, str], reason: str, journey: Journey) -> None:
    text = (journey.project / "deposit.toml").read_text("utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after, 1)
    described = journey.project.parent / f"{reason}.toml"
    described.write_text(text, "utf-8")
    words = ["extract", "-o", f"package-{reason}", "--archive", "embedded:project/archive", "--package", described.name]
    _, code, told = run([*words, "--json"], journey.project.parent)
    reasons = [one for line in map(json.loads, told.splitlines()) for one in line.get("reasons", ())]
    assert (code, {one["grade"] for one in reasons if one["code"] == reason}) == (3, {"stops"})
    ours = {one["code"] for one in verdict_of(journey)["reasons"]}
    assert {one["code"] for one in reasons if one["grade"] == "stops"} - ours == {reason}, "and nothing else is new"


def test_a_delivery_of_nothing_is_not_made(journey: Journey) -> None:
    words = ["extract", "-o", "nothing", "--archive", "embedded:project/archive", "--from", "2001-01-01"]
    _, code, told = run([*words, "--to", "2001-12-31"], journey.project.parent)
    assert (code, "F501" in told) == (4, True)
    assert not (journey.project.parent / "nothing").exists()


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
        _, code, told = run([*printed(told, "deposit project --accept.* --by"), "Kari Nordmann"], place)
        assert (code, "Ready for deposit" in told) == (0, True)
        assert "Ready for deposit" in run(["deposit", "status", "project"], place)[2]
    finally:
        file.write_text(text, "utf-8")
    for name in ("arkivstruktur", "endringslogg", "loependeJournal", "offentligJournal"):
        schema = etree.XMLSchema(etree.parse(official / f"{name}.xsd"))
        assert schema.validate(etree.parse(journey.project / "package-2" / f"{name}.xml")), (name, schema.error_log)
