"""Whatever noarkit says is in the language that was asked for, and in no other: commands that go well and commands that
do not, help, and the pages and tables that they write. Only data may be otherwise: names, paths, settings, values."""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.main import COMMANDS, main
from noarkit.words.texts import LANGUAGES
from tests.languages import foreign_words, page_text

LOCALES = {"en": "en_GB.UTF-8", "nb": "nb_NO.UTF-8"}
HELP = ("", "--help", "help", *(f"{name} --help" for name in COMMANDS))
TOPICS = """
help plan
help F301
help F407
help N410
help journaldato
help Saksmappe
help fields
help commands
help settings
help exit-codes
help faq
""".strip().splitlines()
GOING_WELL = """
version
init
init settings
config show
config show --origin
config check
doctor
doctor --copies
doctor --archive embedded:a
scan share
scan vacuo
recipe new share -o r.toml
recipe check r.toml
recipe check r.toml share
plan share -o run --archive embedded:a --estimate
plan vacuo -o of-nothing --archive embedded:a
estimate run
doctor --run run --until 06:00
approve run --by Zed
ingest run --dry-run
ingest run
-v status run
status run
verify run
verify run --depth bytes
report run
runs
runs . --html runs.html
extract -o del --archive embedded:a
validate del
validate del --report html -o v.html
validate del --report csv -o v.csv
compare del del
convert share --as bagit -o bag
validate bag
search del zeta
search del zeta --csv hits.csv
search del nowhere
find-person del --name name.txt
find-person del --name name.txt --html person.html --csv person.csv
ls del
ls run
show run arkiv:Filarkiv
browse del --static reading --with-documents
browse run --static reading-run
browse bag --static reading-bag
derive share -o copies --dry-run
derive share -o copies
derive -o copies --report copies.html
derive -o copies --report copies.csv
retry run
close run
key new -o k.key
key show k.key
backup a -o b
serve --check a
retract run
retract run --delete --closed
status run
""".strip().splitlines()
GOING_WRONG = """
nosuch
verfy run
--nosuch
plan
plan --nosuch
plan share
plan nosuch -o x
plan share -o run
plan share -o x --recipe bad.toml
plan share -o x --recipe wrong.toml
plan share -o x --recipe nosuch.toml
plan share -o x --since run
plan share -o x --source-kind eark
plan share -o x --encoding nosuch
plan share -o x --hash=3
config check --config bad.toml
config check --config unknown.toml
config check --config nosuch.toml
recipe new share
recipe new nosuch -o x.toml
recipe check bad.toml
recipe check wrong.toml
recipe try r.toml
scan nosuch
doctor --archive https://127.0.0.1:1
ingest
ingest nosuch
ingest run --workers abc
ingest run --workers 999
ingest run --max-errors x
ingest run --max-rate x
ingest run --until x
verify
verify nosuch
verify vacuo
verify run --depth x
status vacuo
retry vacuo
report vacuo
runs nosuch
runs list .
runs forget .
extract
extract -o del --archive embedded:a
validate nosuch.zip
validate vacuo
validate broken.zip
validate share
validate del --report pdf
compare run del
compare del
convert share --as nosuch -o x
convert share
convert broken.zip --as bagit -o x
search nosuch zeta
search del ""
search del "year:x"
find-person del
find-person del --id name.txt
ls nosuch
show del
show del nosuch
get del nosuch -o x
codes
codes embedded:a nosuch
codes nosuch
browse nosuch
derive
derive nosuch -o x
key
key new -o k.key
key show name.txt
backup nosuch -o x
serve --check nosuch
serve --port 99999999
connect
connect nosuch
connect crm
connect crm:test records list
listen
standin
standin nosuch
mcp --nosuch
worker
worker --nosuch
scheduler --nosuch
erase-traces run
help nosuch
help verfy
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Printed:
    """A command line, its exit code, and what it printed."""

    line: str
    exit_code: int
    text: str


def write_places(folder: Path) -> None:
    """Places with names and texts that belong to no language."""
    for case in ("2019-0042 Xanthos", "2020-0117 Quorra"):
        (folder / "share" / case).mkdir(parents=True)
        (folder / "share" / case / "01 Zeta.txt").write_text(f"zeta omega {case}", "utf-8")
        (folder / "share" / case / "02 Kappa.tif").write_bytes(b"II*\x00\x08\x00\x00\x00")
        (folder / "share" / case / "03 Sigma.pdf").write_bytes(b"%PDF-1.4\n%")
    (folder / "share" / "zzz.jpg").write_bytes(b"zzz")
    (folder / "vacuo").mkdir()
    (folder / "name.txt").write_text("Zed Quux\n", "utf-8")
    (folder / "name.txt").chmod(0o600)
    (folder / "bad.toml").write_text("[target\n", "utf-8")
    (folder / "wrong.toml").write_text("[target]\nx = 1\n", "utf-8")
    (folder / "unknown.toml").write_text("zoen = 1\n", "utf-8")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04zzz")


def run(line: str, environment: Mapping[str, str]) -> Printed:
    """Runs a command line here, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(line), environment)
    return Printed(line, code, out.getvalue() + err.getvalue())


@dataclass(frozen=True, slots=True)
class Walk:
    """Everything that was printed in a language, and the folder with what was written."""

    lang: str
    folder: Path
    printed: list[Printed]


@pytest.fixture(scope="module", params=LANGUAGES)
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """All the commands, one after another, in a language that the locale asks for."""
    lang = str(request.param)
    folder = tmp_path_factory.mktemp("walk")
    write_places(folder)
    environment = {"LANG": LOCALES[lang], "HOME": str(folder), "PATH": os.environ["PATH"]}
    with chdir(folder):
        yield Walk(lang, folder, [run(line, environment) for line in (*HELP, *TOPICS, *GOING_WELL, *GOING_WRONG)])


def text_of(printed: Printed) -> str:
    """What is judged of what was printed: of a chapter, all but its code, which stands further in."""
    is_chapter = printed.line in ("help settings", "help exit-codes", "help faq", "help commands")
    return re.sub(r"(?m)^ {6}.*$", "", printed.text) if is_chapter else printed.text


def test_commands_speak_one_language(walk: Walk) -> None:
    assert len(walk.printed) > 150
    foreign = {printed.line: words for printed in walk.printed if (words := foreign_words(text_of(printed), walk.lang))}
    assert foreign == {}


def test_the_walk_goes_as_it_should(walk: Walk) -> None:
    wrong = walk.printed[-len(GOING_WRONG) :]
    assert [printed.line for printed in walk.printed[: -len(GOING_WRONG)] if printed.exit_code not in (0, 3)] == []
    assert [printed.line for printed in wrong if printed.exit_code == 0] == ['search del "year:x"']
    assert not [printed.line for printed in walk.printed if "F900" in printed.text]


def test_help_names_what_a_command_takes_in_the_language(walk: Walk) -> None:
    text = "".join(printed.text for printed in walk.printed if printed.line.endswith("--help"))
    signs = {"en": ("[OPTIONS]", "COMMAND [ARGS]"), "nb": ("[VALG]", "KOMMANDO [ARGUMENTER]")}
    for lang, words in signs.items():
        assert [word in text for word in words] == [lang == walk.lang] * len(words)


def test_pages_speak_one_language(walk: Walk) -> None:
    pages = sorted(walk.folder.rglob("*.html"))
    names = {page.name for page in pages}
    assert {"plan.html", "report.html", "runs.html", "v.html", "person.html", "copies.html", "help.html"} <= names
    assert any(name.startswith("verify-") for name in names)
    foreign = {
        str(page.relative_to(walk.folder)): words
        for page in pages
        if (words := foreign_words(page_text(page.read_text("utf-8")), walk.lang))
    }
    assert foreign == {}


TABLES = ("hits.csv", "person.csv", "v.csv", "copies.csv")
"""Tables that a person asks for; their headings are for people. The lists of a run name their columns for programs."""


def test_tables_for_people_speak_one_language(walk: Walk) -> None:
    for name in TABLES:
        text = (walk.folder / name).read_text("utf-8-sig")
        assert foreign_words(text.replace('"', " "), walk.lang) == [], name


def test_lists_of_a_run_have_the_same_headings_in_every_language(walk: Walk) -> None:
    heads = {path.name: path.read_text("utf-8-sig").splitlines()[0] for path in (walk.folder / "run").glob("*.csv")}
    assert heads["ids.csv"] == '"key";"type";"id";"state"'
    assert heads["set-aside.csv"] == '"key";"state";"code";"meaning";"reason";"recipe_line";"do"'
    assert heads["skipped.csv"] == '"key";"reason"'
    assert heads["faults.csv"] == '"code";"meaning";"key";"reason";"recipe_line"'


def test_sizes_and_numbers_are_written_as_in_the_language(walk: Walk) -> None:
    (doctor,) = (printed for printed in walk.printed if printed.line == "doctor --run run --until 06:00")
    assert re.search(rf"\d{'[.]' if walk.lang == 'en' else ','}\d [kMGT]B", doctor.text)
    assert not re.search(rf"\d{'[.]' if walk.lang == 'nb' else ','}\d [kMGT]B", doctor.text)


def test_what_is_wrong_with_a_config_is_told_in_its_own_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ('lang = "nb"\n[archive\n', 'lang = "nb"\nzoen = 1\n', 'lang = "nb"\nzone = "Mars"\n'):
        (tmp_path / "noarkit.toml").write_text(text, "utf-8")
        with chdir(tmp_path):
            printed = run("config check", {"LANG": "en_GB.UTF-8"})
        assert "Innstillingene kan ikke brukes" in printed.text, text


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("nb", "The plan cannot be read."),
        ("nb", "Planen kan ikke leses: there is no end of a directory"),
        ("nb", "Usage: noarkit plan"),
        ("nb", "Options"),
        ("en", "Planen kan ikke leses."),
        ("en", "F101  Denne verdien kan ikke brukes."),
        ("en", "Ingenting ble gjort."),
    ],
)
def test_the_judge_knows_the_other_language(lang: str, text: str) -> None:
    assert foreign_words(text, lang)


def test_the_judge_lets_data_pass() -> None:
    assert (
        foreign_words("noarkit plan the-files -o run\n--with-documents\n/srv/of/the/file.txt\narchive.url", "nb") == []
    )
