"""What is wrong with a command line is told by the line as it should be: it is pasted here, and must be understood."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.words.texts import texts
from tests.package_code import MODULES, PACKAGE, nodes_of

Output = pytest.CaptureFixture[str]
A_READERS = {
    **{"your own name": "Kari Nordmann", "the source": "share", "your reason, in quotation marks": "for a check"},
    **{"the folder of the project": "none", "the name of a folder": "none", "the name of a file": "none.pem"},
    **{"the place to look into": "share", "the address of the archive": "embedded:a", "the key of a finding": "b"},
    **{"the address of the scheduler": "dask://a:1"},
    **{"a type, a colon and a condition, such as": "Saksmappe: saksaar = 2020", "an encoding:": "cp865"},
    **{"the folder of the run": "run", "the code, an equals sign and its name,": "X=Notat"},
}
RUN_ON = ("serve",)
"""Commands that would not end."""
MISTAKES: tuple[tuple[str, str], ...] = (
    ("approve run --withdraw", "approve run --withdraw --by"),
    ("approve run --output got.zip", "approve run --output got.zip --request"),
    ("approve run --request a.zip --accept b", "approve run --request a.zip --accept b -o"),
    ("approve run --request a.zip --withdraw", "approve run --request a.zip"),
    ("plan share -o run-2 --hsh", "plan share -o run-2 --hash"),
    ("plan share -o run-2 --lang nbb", "plan share -o run-2 --lang nb"),
    ("--lang=nbb plan share -o run-2", "plan share -o run-2 --lang nb"),
    ("pln share -o run-2 --hash", "plan share -o run-2 --hash"),
    ("verify run --dept=ids", "verify run --depth=ids"),
    ("verify run --depth byte", "verify run --depth bytes"),
    ("verify run --receipt-out r.zip --depth ids --sample 5%", "verify run --receipt-out r.zip --depth bytes"),
    ("verify run --without-source --whole", "verify run --without-source"),
    ("verify run --request-out q.zip", "verify run --request-out q.zip --receipt-out run-receipt.zip"),
    ("validate 'my package' -o v.json", "validate 'my package' -o v.json --report json"),
    ("compare share share -o c.html", "compare share share -o c.html --report html"),
    ("derive -o copies", "derive -o copies"),
    ("derive -o copies --add", "derive -o copies --add --archive"),
    ("browse share --with-documents", "browse share --with-documents --static reading-copy"),
    ("deposit new", "deposit new -o project"),
    ("deposit new share", "deposit new share -o project"),
    ("deposit status", "deposit status"),
    ("deposit project --approve", "deposit project --approve --by"),
    ("show share a.txt --reveal", "show share a.txt --reveal --because"),
    ("show share a.txt --because 'a check'", "show share a.txt --because 'a check' --reveal"),
    ("find-person --id ids.txt", "find-person --id ids.txt"),
    ("key new", "key new -o seal.key"),
    ("key new my.key", "key new -o my.key"),
    ("key show", "key show"),
    ("key new --host a", "key cluster --host a"),
    ("runs share --keep-last 2", "runs forget share --keep-last 2"),
    ("runs merge", "runs merge"),
    ("codes embedded:a dokumenttype --set X --set Y=Notat", "codes embedded:a dokumenttype --set Y=Notat --set"),
    ("scan share --encoding cp8650", "scan share --encoding"),
    ("ingest run --tls keys", "ingest run --tls keys --engine"),
    ("ingest run --engine dask://a:1", "ingest run --engine dask://a:1 --tls"),
    ("serve --faults f.toml", "serve --faults f.toml --i-am-testing"),
    ("extract -o pkg --archive embedded:a --select 2020", "extract -o pkg --archive embedded:a --select"),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "a.txt").write_text("text of a")
    (tmp_path / "ids.txt").write_text("01010112345\n")
    (tmp_path / "f.toml").write_text("")
    assert main(["plan", "share", "-o", "run"], {}) == 0
    capsys.readouterr()


def faults_of(capsys: Output, words: list[str]) -> list[dict[str, str]]:
    """The faults that a command line tells, each as its facts."""
    main([*words, "--json"], {})
    said = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    return [event for event in said if event["event"] == "fault"]


def test_a_name_that_the_archive_lacks_is_told_with_those_it_has(capsys: Output) -> None:
    main(["ingest", "run", "--archive", "embedded:a", "--workers", "0"], {})
    capsys.readouterr()
    told = {}
    for name in ("filarkivet", "Byggesaker"):
        (told[name],) = faults_of(capsys, ["extract", "-o", "pkg", "--archive", "embedded:a", "--arkiv", name])
    assert {fault["code"] for fault in told.values()} == {"F101"}
    line = "noarkit extract -o pkg --archive embedded:a --json --arkiv"
    assert told["filarkivet"]["do"] == f"Did you mean {line} Filarkiv?     There are: Filarkiv"
    assert told["Byggesaker"]["do"] == f"{line}     followed by one of: Filarkiv"


@pytest.mark.parametrize(("mistake", "line"), MISTAKES, ids=[mistake for mistake, _ in MISTAKES])
def test_the_whole_line_is_proposed_as_it_was_typed_and_cures_the_fault(
    mistake: str, line: str, capsys: Output
) -> None:
    if "embedded:a" in mistake:
        main(["ingest", "run", "--archive", "embedded:a", "--workers", "0"], {})
    capsys.readouterr()
    (fault,) = faults_of(capsys, shlex.split(mistake))
    assert fault["code"] == "F101"
    match = re.fullmatch(r"(?:Did you mean )?noarkit (.*?)\??(?:     followed by (.*))?", fault["do"])
    assert match is not None, fault["do"]
    words = shlex.split(match[1])
    words.remove("--json")
    assert shlex.join(words) == line
    if words[0] in RUN_ON:
        return
    own = [value for name, value in A_READERS.items() if match[2] and match[2].startswith(name)]
    assert bool(own) == bool(match[2]), match[2]
    assert (fault["what"], fault["where"]) not in [
        (one["what"], one["where"]) for one in faults_of(capsys, words + own)
    ]


def test_what_is_typed_is_not_shown_where_it_may_be_a_secret(capsys: Output) -> None:
    (fault,) = faults_of(capsys, ["plan", "postgresql://kari:sesam@host/db", "-o", "run-2", "--hsh"])
    assert fault["do"] == "Did you mean --hash?"
    (fault,) = faults_of(capsys, ["connect", "crm:main", "configure", "--set", "api_key=sesam", "--mpc"])
    assert "sesam" not in json.dumps(fault)


def test_what_is_typed_is_not_in_the_log(capsys: Output) -> None:
    main(["search", "share", "Ola Nordmann", "--lim", "5", "--jsn", "--log-file", "log.jsonl"], {})
    said = capsys.readouterr().err
    assert "'Ola Nordmann'" in said
    assert not Path("log.jsonl").exists() or "Nordmann" not in Path("log.jsonl").read_text()
    main(["show", "share", "Ola Nordmann", "--reveal", "--log-file", "log.jsonl"], {})
    assert "'Ola Nordmann' --reveal" in capsys.readouterr().err
    assert "'Ola Nordmann' --reveal" not in Path("log.jsonl").read_text()


def test_a_fault_without_a_correction_names_the_help_of_its_command(capsys: Output) -> None:
    (fault,) = faults_of(capsys, ["ingest", "run", "--max-rate", "fast"])
    assert fault["do"] == "Options and examples: noarkit ingest --help"


def test_no_remedy_of_a_usage_fault_is_a_bare_argument_and_each_correction_has_its_words() -> None:
    """A remedy is a sentence or a whole command; what concerns the line at hand is said in `fix`."""
    for path in MODULES:
        for node in nodes_of(path):
            if not isinstance(node, ast.keyword) or node.arg not in ("do", "fix", "own"):
                continue
            parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
            first = parts[0].value if parts and isinstance(parts[0], ast.Constant) else None
            if isinstance(first, str):
                where = f"{path.relative_to(PACKAGE)}:{node.value.lineno}"
                assert node.arg != "do" or not first.startswith("-"), where
                assert node.arg != "own" or texts("nb").has("say", f"own.{first}"), where
