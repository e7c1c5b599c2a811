"""Mails in a folder become journal posts of its case files, in and out by the owner's own domain."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.model import metamodel
from noarkit.recipes.checking import check
from noarkit.recipes.mapper import compile_recipe
from noarkit.recipes.read import read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.owners import owner_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from samples.files.outlook import message

US, THEM, OTHERS = "post@fjord.kommune.no", "Ola Nordmann <ola@example.no>", "Kari <kari@post.fjord.kommune.no>"


def letter(sender: str, receiver: str, subject: str = "Søknad", *, attached: bool = False) -> bytes:
    """A mail."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = sender, receiver, subject
    made["Received"] = "from x by y; Mon, 4 Mar 2019 12:00:09 +0000"
    made["Date"] = "Mon, 4 Mar 2019 12:00:00 +0000"
    made.set_content("Hei\n")
    if attached:
        made.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="kart.pdf")
    return bytes(made)


def lay_out(root: Path, above: str = "", cases: tuple[str, ...] = ("2019-1 A", "2019-2 B", "2020-1 C")) -> FileTree:
    """Case folders with mails in and out, an Outlook message, a file, and a mail that is none."""
    for case in cases:
        place = root / above / case
        place.mkdir(parents=True)
        (place / "inn.eml").write_bytes(letter(THEM, US, attached=True))
        (place / "ut.eml").write_bytes(letter(US, THEM, "Svar"))
        (place / "notat.txt").write_text("x")
    (place / "hus.eml").write_bytes(letter(OTHERS, US))
    (place / "ødelagt.eml").write_bytes(b"\x00\xff")
    sent = datetime(2020, 2, 3, tzinfo=UTC)
    (place / "fra.msg").write_bytes(
        message(
            "Klage", ("Ola", "ola@example.no"), [("Fjord", US, 1)], sent, "", [("a.pdf", "application/pdf", b"%PDF")]
        )
    )
    (root / "les.txt").write_text("x")
    return FileTree(root)


def mapped(source: FileTree) -> dict[str, list[Entity]]:
    """Everything that the source's own recipe makes, by type, without what many records share twice."""
    recipe = read_recipe(source.default_recipe(), "default")
    fitted = source.fitted(recipe.data["source"])  # type: ignore[arg-type]  # a table, as read_recipe saw
    records = [item for item in fitted.records(ignore_event) if isinstance(item, SourceRecord)]
    assert [problem for problem in check(recipe, records) if not problem.warning] == []
    mapper = compile_recipe(recipe)
    made: dict[str, Entity] = {}
    for record in records:
        told = mapper.map(record)
        assert isinstance(told, MappedRecord), told
        made |= {entity.key: entity for entity in told.entities}
    types = {entity.type for entity in made.values()}
    return {kind: [one for one in made.values() if one.type == kind] for kind in types}


def test_the_owner_is_whoever_nearly_every_mail_names(tmp_path: Path) -> None:
    lay_out(tmp_path)
    owner = owner_of(tmp_path.rglob("*.eml"))
    assert (owner.domain, owner.mails, owner.read) == ("fjord.kommune.no", 7, 7)
    (tmp_path / "b").mkdir()
    for number in range(4):
        (tmp_path / "b" / f"{number}.eml").write_bytes(letter(f"a@x{number}.example", f"b@y{number}.example"))
    nobody = owner_of((tmp_path / "b").iterdir())
    assert (nobody.domain, nobody.candidates) == ("", ())


@pytest.mark.parametrize(
    ("pairs", "domain", "candidates"),
    [
        ({("saetre.kommune.no", "example.no"): 61, ("example.no", "example.no"): 61}, "saetre.kommune.no", ()),
        (
            {("saetre.example", "x.example"): 40, ("x.example", "x.example"): 41},
            "",
            ("x.example (81)", "saetre.example (40)"),
        ),
        ({("firma.example", f"kunde{number}.example"): 1 for number in range(9)}, "firma.example", ()),
        ({("a.kommune.no", "b.kommune.no"): 5, ("a.kommune.no", "x.example"): 5}, "a.kommune.no", ()),
        ({("a.kommune.no", "b.kommune.no"): 5}, "", ("a.kommune.no (5)", "b.kommune.no (5)")),
        ({("gmail.com", "hotmail.com"): 5}, "", ()),
        ({("firma.example", "gmail.com"): 5}, "firma.example", ()),
        ({("firma.example", "x.example"): 2}, "", ()),
        ({("firma.example", "gmail.com"): 4, ("gmail.com", "hotmail.com"): 6}, "", ("firma.example (4)",)),
    ],
)
def test_whoever_writes_most_is_not_the_owner_for_that(
    tmp_path: Path, pairs: dict[tuple[str, str], int], domain: str, candidates: tuple[str, ...]
) -> None:
    number = 0
    for (one, another), count in pairs.items():
        for _ in range(count):
            number += 1
            (tmp_path / f"{number}.eml").write_bytes(letter(f"a@{one}", f"b@{another}"))
    owner = owner_of(sorted(tmp_path.iterdir()))
    assert (owner.domain, owner.candidates) == (domain, candidates)


@pytest.mark.parametrize("above", ["", "Byggesak", "Byggesak/Nord"])
def test_mails_in_case_folders_become_journal_posts(tmp_path: Path, above: str) -> None:
    made = mapped(lay_out(tmp_path, above))
    posts = {entity.key.removeprefix(f"{above}/"): entity for entity in made["Journalpost"]}
    assert {key: post.fields["journalposttype"] for key, post in posts.items()} == {
        **{
            f"{case}/{name}.eml": kind
            for case in ("2019-1 A", "2019-2 B", "2020-1 C")
            for name, kind in (("inn", "I"), ("ut", "U"))
        },
        "2020-1 C/hus.eml": "X",
        "2020-1 C/fra.msg": "I",
    }
    came = posts["2019-1 A/inn.eml"].fields
    assert (came["tittel"], came["dokumentetsDato"], came["mottattDato"]) == (
        "Søknad",
        "2019-03-04",
        "2019-03-04T12:00:09.000Z",
    )
    assert "sendtDato" not in came
    sent = posts["2019-1 A/ut.eml"].fields
    assert (sent["sendtDato"], "mottattDato" in sent) == ("2019-03-04T12:00:00.000Z", False)
    case = next(one for one in made["Saksmappe"] if one.key == posts["2019-1 A/inn.eml"].parent)
    assert case.fields["tittel"] == "2019-1 A"
    if above:
        idents = [one.fields["klasseIdent"] for one in made["Klasse"]]
        assert above in idents


def test_a_journal_post_has_its_parties_and_its_attachments(tmp_path: Path) -> None:
    made = mapped(lay_out(tmp_path))
    key = "2019-1 A/inn.eml"
    parties = [one.fields for one in made["Korrespondansepart"] if one.parent == key]
    assert parties == [
        {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Ola Nordmann", "epostadresse": "ola@example.no"},
        {"korrespondanseparttype": "IM", "korrespondansepartNavn": US, "epostadresse": US},
    ]
    documents = [one for one in made["Dokument"] if one.parent == key]
    assert [(one.fields["tittel"], one.fields["tilknyttetRegistreringSom"]) for one in documents] == [
        ("Søknad", "H"),
        ("kart.pdf", "V"),
    ]
    contents = [one.content.locator for one in made["Dokumentversjon"] if one.content and one.key.startswith(key)]
    assert contents == [key, f"{key}//part/1"]


def test_what_cannot_be_read_as_a_mail_is_a_plain_record(tmp_path: Path) -> None:
    made = mapped(lay_out(tmp_path))
    assert {one.key.rpartition("/")[2] for one in made["Basisregistrering"]} == {"les.txt", "notat.txt", "ødelagt.eml"}


def test_where_no_folder_is_named_like_a_case_mails_keep_their_parties_and_attachments(tmp_path: Path) -> None:
    made = mapped(lay_out(tmp_path, cases=("Anne", "Berit", "Cato")))
    assert "Journalpost" not in made and "Saksmappe" not in made
    key = "Anne/inn.eml"
    record = next(one for one in made["Basisregistrering"] if one.key == key)
    assert record.fields["mottattDato"] == "2019-03-04T12:00:09.000Z"
    assert [one.fields["korrespondanseparttype"] for one in made["Korrespondansepart"] if one.parent == key] == [
        "EA",
        "IM",
    ]
    assert len([one for one in made["Dokument"] if one.parent == key]) == 2


def correspondence(folder: Path, ours: str, theirs: str) -> Path:
    """The mails of one case: both addresses stand in every one of them."""
    folder.mkdir(parents=True)
    for number in range(4):
        sender, receiver = (ours, theirs) if number % 2 else (theirs, ours)
        (folder / f"{number}.eml").write_bytes(letter(sender, receiver))
    return folder


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("kari@nordby.kommune.no", "ola@gmail.com"),
        ("kari@nordby.kommune.no", "ola@bygg.example"),
        ("arkiv@fjord.kommune.no", "ola.nordmann@online.no"),
    ],
)
@pytest.mark.parametrize("above", [False, True])
def test_the_mails_of_a_single_case_become_journal_posts(tmp_path: Path, ours: str, theirs: str, above: bool) -> None:
    case = correspondence(tmp_path / "saker" / "2024-0017 Byggesak", ours, theirs)
    made = mapped(FileTree(case.parent if above else case))
    assert [one.fields["journalposttype"] for one in made["Journalpost"]] == ["I", "U", "I", "U"]
    assert {("mottattDato" in one.fields, "sendtDato" in one.fields) for one in made["Journalpost"]} == {
        (True, False),
        (False, True),
    }
    parties = {(one.fields["korrespondanseparttype"], one.fields["epostadresse"]) for one in made["Korrespondansepart"]}
    assert parties == {("EA", theirs), ("IM", ours), ("IA", ours), ("EM", theirs)}
    assert [one.fields["tittel"] for one in made["Saksmappe"]] == ["2024-0017 Byggesak"]
    assert "Basisregistrering" not in made
    known = metamodel().types["Journalpost"].fields
    assert all(post.fields.keys() <= known.keys() for post in made["Journalpost"])


def test_where_nothing_says_whose_the_mails_are_the_recipe_asks_and_says_nothing_false(tmp_path: Path) -> None:
    case = correspondence(tmp_path / "2024-0017 Byggesak", "kari@nord.example", "ola@sor.example")
    source = FileTree(case)
    text = source.default_recipe()
    assert "nord.example (4), sor.example (4)" in text
    made = mapped(source)
    assert "Journalpost" not in made
    assert len(made["Korrespondansepart"]) == 8
    assert [one.fields["tittel"] for one in made["Saksmappe"]] == ["2024-0017 Byggesak"]
    recipe = read_recipe(text.replace("own_domains = []", 'own_domains = ["nord.example"]'), "filled in")
    fitted = source.fitted(recipe.data["source"])  # type: ignore[arg-type]  # a table, as read_recipe saw
    mapper = compile_recipe(recipe)
    records = [item for item in fitted.records(ignore_event) if isinstance(item, SourceRecord)]
    told = [mapper.map(record) for record in records]
    types = {entity.type for one in told if isinstance(one, MappedRecord) for entity in one.entities}
    assert "Journalpost" in types and "Basisregistrering" not in types


def test_a_proposed_recipe_asks_whose_the_mails_are_and_a_plan_stops_there(tmp_path: Path) -> None:
    case = correspondence(tmp_path / "2024-0017 Byggesak", "kari@nord.example", "ola@sor.example")
    text = FileTree(case).proposal(ignore_event)
    (line,) = [line for line in text.splitlines() if line.startswith("own_domains")]
    assert line == 'own_domains = ["ask"]'
    problems = [problem for problem in check(read_recipe(text, "asked")) if not problem.warning]
    assert [(problem.key, text.splitlines()[problem.line - 1]) for problem in problems] == [("unanswered", line)]
    answered = check(read_recipe(text.replace('"ask"', '"nord.example"'), "filled in"))
    assert all(problem.warning for problem in answered)


@pytest.mark.parametrize("ending", ["mbox", "mbx"])
def test_a_mailbox_tells_whose_it_is_as_single_mails_do(ending: str, tmp_path: Path) -> None:
    case = correspondence(tmp_path / "2024-0017 Byggesak", "kari@nordby.kommune.no", "ola@gmail.com")
    mails = [path.read_bytes() for path in sorted(case.iterdir())]
    box = tmp_path / f"post.{ending}"
    box.write_bytes(b"".join(b"From x@y Mon Jan  1 12:00:00 2024\n" + one.rstrip() + b"\n\n" for one in mails))
    source = FileTree(box, FilePolicy(mail="parts"))
    assert 'own_domains = ["nordby.kommune.no"]' in source.default_recipe()
    assert owner_of((), [box]) == owner_of(sorted(case.iterdir()))


@pytest.mark.usefixtures("one_archive")
def test_the_archive_takes_the_journal_posts_of_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    correspondence(tmp_path / "2024-0017 Byggesak", "kari@nordby.kommune.no", "ola@gmail.com")
    noarkit.plan("2024-0017 Byggesak", "run")
    assert noarkit.ingest("run", archive="embedded:arkiv", workers=0).numbers.archived == 4
    noarkit.close("run", archive="embedded:arkiv")
    noarkit.extract("package", archive="embedded:arkiv")
    assert noarkit.validate("package").number("error") == 0
    with noarkit.Archive("embedded:arkiv") as archive:
        assert archive.count("Journalpost") == 4
        assert archive.count("Korrespondansepart") == 8


def test_a_folder_without_mails_has_the_recipe_it_had(tmp_path: Path) -> None:
    (tmp_path / "2019-1 A").mkdir()
    (tmp_path / "2019-1 A" / "a.txt").write_text("x")
    text = FileTree(tmp_path).default_recipe()
    assert "mail =" not in text and "own_domains" not in text and "Journalpost" not in text


def test_the_proposal_is_the_default_with_what_was_seen(tmp_path: Path) -> None:
    source = lay_out(tmp_path)
    text = source.proposal(ignore_event)
    assert text.endswith(source.default_recipe())
    assert 'own_domains = ["fjord.kommune.no"]' in text
    assert "file: 13 records" in text
    assert "Ola" not in text


def test_a_mailbox_in_a_folder_with_mails_stays_a_file(tmp_path: Path) -> None:
    source = lay_out(tmp_path)
    (tmp_path / "2019-1 A" / "alle.mbox").write_bytes(b"From a Mon Jan  6 12:00:00 2020\n" + letter(US, THEM))
    (tmp_path / "2019-1 A" / "side.mht").write_bytes(letter(US, THEM))
    made = mapped(source)
    plain = {one.key.rpartition("/")[2] for one in made["Basisregistrering"]}
    assert {"alle.mbox", "side.mht"} <= plain


def test_the_plan_counts_what_came_in_and_went_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(Path("kilde"))
    assert main(["plan", "kilde", "-o", "run"], {}) == 0
    line = "4 incoming, 3 outgoing, 1 internal; 4 attachments; unreadable mails: 1"
    assert line in capsys.readouterr().out
    assert line in Path("run/plan.html").read_text("utf-8")
    journal = json.loads(Path("run/plan-report.json").read_text("utf-8"))["journal"]
    assert journal == {"in": 4, "out": 3, "internal": 1, "attachments": 4, "unreadable_mails": 1}


@pytest.mark.parametrize(
    ("theirs", "line"),
    [
        ("ola@example.no", "fjord.kommune.no: decides which mail is incoming, outgoing or internal"),
        ("ola@sor.kommune.no", "not known, so no mail is incoming or outgoing"),
    ],
)
def test_the_plan_tells_whose_mail_it_took_it_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], theirs: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    correspondence(Path("saker/2024-0017 Byggesak"), "kari@fjord.kommune.no", theirs)
    assert main(["plan", "saker", "-o", "run"], {}) == 0
    assert line in capsys.readouterr().out
    assert line in Path("run/plan.html").read_text("utf-8")
    Path("filer").mkdir()
    Path("filer/a.txt").write_text("a")
    assert main(["plan", "filer", "-o", "other"], {}) == 0
    assert "Own mail" not in capsys.readouterr().out
