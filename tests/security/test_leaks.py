"""Every command, going well and going wrong, with secrets and names that must not come out.

What may stand where:

    secrets    nowhere but in the file, variable or credential that holds them, and in the archive's own clients.toml
    names      of records and persons: in the run folder's plan, journal, report and lists, in packages and archives, in
               results that a person asked for (SHOWN below) and as arguments that a person wrote
               in a fault on stderr that is about one item and ends the command (TOLD below): somebody must find it
               never else on stderr, never in a log (--log-file, run.log), never in events
"""
# ruff: noqa: E501  # a case is a line

from __future__ import annotations

import base64
import http.server
import json
import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.cli.main import COMMANDS, main
from noarkit.cli.options import Session, command

SECRETS = {name: f"canary-{name}-5f1c" for name in (
    "env", "file", "credential", "command", "argument", "inline", "url", "proxy", "database", "webhook", "tool", "key",
    "token", "consent", "api",
)}  # fmt: skip
NAME = "Canaryson"  # a person's name, in titles, names of files, fields and mails
LONG = 60.0

# results whose point is what is in the records, and where they show it
SHOWN = {"compare", "recipe", "ls", "show", "search", "find-person", "retract"}
# commands that one bad item ends, and that therefore name it
TOLD = {"convert"}
# files that are there to hold what others may not
HOLDERS = re.compile(r"^/(secrets|config|source)/|/clients\.toml$")
LOGS = re.compile(r"(\.log$|\.out$)")


@dataclass(frozen=True)
class Case:
    """A command line, what it ends with, and what it finds in its environment."""

    words: tuple[str, ...]
    codes: tuple[int, ...]
    environment: dict[str, str] = field(default_factory=dict)
    config: str = ""

    @property
    def command(self) -> str:
        return self.words[0]


def case(line: str, *codes: int, config: str = "", **environment: str) -> Case:
    """`DIR` stands for the folder of the world, `URL` for a server that gives back whatever it is sent."""
    return Case(tuple(line.split()), codes or (0,), environment, config)


_ARCHIVE = '[archive]\nurl = "{url}"\nclient_id = "integration"\nclient_secret = {secret}\n'
_CRM = """[connections.crm.main]
api_url = "{url}"
accounts_url = "{url}"
client_id = "id"
client_secret = {{ file = "{dir}/secrets/api" }}
refresh_token = {{ file = "{dir}/secrets/consent" }}
mcp_urls = [{{ file = "{dir}/secrets/tool-url" }}]
state = "{dir}/state"
"""
_SPEND = """[connections.spend.main]
api_url = "{url}"
auth = "key"
api_key = {{ file = "{dir}/secrets/api" }}
company_id = "7"
webhook_secret = {{ file = "{dir}/secrets/webhook" }}
mcp_url = {{ file = "{dir}/secrets/tool-url" }}
state = "{dir}/state"
"""
_ENV = {"NOARKIT_ARCHIVE": "URL", "NOARKIT_CLIENT_ID": "integration", "NOARKIT_CLIENT_SECRET": SECRETS["env"]}
_CREDENTIAL = _ARCHIVE.replace("{secret}", '{{ credential = "archive" }}')
_FILE = _ARCHIVE.replace("{secret}", '{{ file = "{dir}/secrets/file" }}')
_COMMAND = _ARCHIVE.replace("{secret}", '{{ command = ["sh", "-c", "echo {command}; exit 3"] }}')
_INLINE = _ARCHIVE.replace("{secret}", '"{inline}"')
_OPEN = _ARCHIVE.replace("{secret}", '{{ file = "{dir}/secrets/open" }}')
_CASES = [
    case("init DIR/new"), case("init DIR/secrets/file", 2),
    case("doctor"), case("doctor", 6, **_ENV), case("doctor", 6, config=_FILE), case("doctor", 6, config=_CREDENTIAL),
    case("doctor", 2, config=_COMMAND), case("doctor", 2, config=_INLINE), case("doctor", 2, config=_OPEN),
    case("doctor", 2, NOARKIT_ARCHIVE=f"https://u:{SECRETS['url']}@archive.example/x"),
    case("doctor", 2, NOARKIT_PROXY=f"http://u:{SECRETS['proxy']}@127.0.0.1:9", **_ENV),
    case(f"doctor --archive https://u:{SECRETS['url']}@archive.example/x", 2),
    case(f"doctor --client-secret {SECRETS['argument']}", 2), case(f"doctor --password={SECRETS['argument']}", 2),
    case("doctor --run DIR/run --until 06:00", 6, config=_FILE),
    case("config show --origin", config=_FILE), case("config show", **_ENV), case("config check", 2, config=_INLINE),
    case("config show", config=_CRM + _SPEND), case("config check", 2, config='[archive]\nclient_sekret = "{inline}"\n'),
    case("serve --data DIR/bad.toml --port 0", 2), case("serve --data DIR/x --tls-cert DIR/secrets/key --tls-key DIR/secrets/key --port 0", 2),
    case("scan DIR/source", 3), case("scan DIR/none", 8), case("-v scan DIR/source", 3), case("scan DIR/source --json", 3),
    case(f"scan postgresql://u:{SECRETS['database']}@127.0.0.1:1/db", 2), case("scan crm:main", 4, 5, 6, config=_CRM),
    case(f"scan mysql://u@127.0.0.1:1/db?password={SECRETS['database']}", 2), case("scan spend:main", 4, 5, 6, config=_SPEND),
    case("scan postgresql://u@127.0.0.1:1/db", 2, 5, config='[connections.cases]\nurl = "postgresql://u@127.0.0.1:1/db"\npassword = {{ file = "{dir}/secrets/database" }}\n'),
    case("recipe new DIR/source -o DIR/new.toml"), case("recipe check DIR/new.toml DIR/source"),
    case("recipe check DIR/bad.toml DIR/source", 4), case("recipe new crm:main -o DIR/crm.toml", 0, 4, 5, 6, config=_CRM),
    case("deposit new DIR/source -o DIR/project --no-copies"), case("deposit status DIR/project"), case("deposit DIR/project", 4),
    case("deposit DIR/source", 2), case(f"deposit new postgresql://u:{SECRETS['database']}@127.0.0.1:1/db -o DIR/p2", 2),
    case("plan DIR/source -o DIR/run", 2), case("plan DIR/source -o DIR/run2", 3), case("-vv plan DIR/source -o DIR/run3", 3),
    case("plan DIR/source -o DIR/run4 --strict", 4, 3), case("plan DIR/source --recipe DIR/bad.toml -o DIR/run5", 3),
    case("plan DIR/source -o DIR/run6 --archive URL", 6, config=_FILE), case("plan spend:main -o DIR/run7", 4, 5, 6, config=_SPEND),
    case("estimate DIR/run2"), case("estimate DIR/run2 --archive URL", 6, **_ENV), case("estimate DIR/source", 2),
    case("approve DIR/run --by Kari"), case("approve DIR/source --by Kari", 2), case("ingest DIR/run4 --approved-only", 2, 4),
    case("ingest DIR/run --dry-run", 0, 3), case("-v ingest DIR/run2 --archive embedded:DIR/archive2", 3),
    case("ingest DIR/run3 --archive URL", 6, **_ENV), case("ingest DIR/run3", 6, config=_FILE),
    case("ingest DIR/run3 --check-command false --archive embedded:DIR/archive3 --json", 3),
    case(f"ingest DIR/run3 --archive https://u:{SECRETS['url']}@h/x", 2), case("ingest DIR/changed --archive embedded:DIR/archive4", 3, 8),
    case("status DIR/run2", 0, 3), case("status DIR/source", 2), case("retry DIR/run2", 0, 3), case("retry DIR/source", 2),
    case("close DIR/run2"), case("close DIR/run2 --archive URL", 6, **_ENV),
    case("verify DIR/run2 --depth bytes", 3), case("verify DIR/run2 --archive URL", 6, config=_FILE), case("-v verify DIR/gone", 7, 2),
    case("verify DIR/run2 --depth bytes --json", 3), case("report DIR/run2"), case("report DIR/source", 2),
    case("extract -o DIR/extract --archive embedded:DIR/archive2", 3), case("extract -o DIR/e2 --archive URL", 6, **_ENV),
    case("extract -o DIR/e3 --as dias-aip --archive embedded:DIR/archive2", 3),
    case("convert DIR/source --as eark-sip -o DIR/sip", 0, 3, 4), case("convert DIR/none --as bagit -o DIR/b", 8, 4, 2),
    case("convert DIR/extract --as bagit -o DIR/bag", 3), case("validate DIR/extract", 3), case("validate DIR/bag --report json -o DIR/v.json", 3),
    case("validate DIR/broken", 4), case("validate DIR/source", 4), case("validate DIR/bag --second-opinion", 3),
    case("compare DIR/extract DIR/other", 7, 4), case("compare DIR/extract embedded:DIR/archive2"), case("compare DIR/extract URL", 6, **_ENV),
    case("backup DIR/archive2 -o DIR/backup"), case("backup DIR/none -o DIR/backup2", 2, 8), case("serve --check DIR/archive2"),
    case("retract DIR/run2", 0, 2, 3), case("retract DIR/run2 --archive URL", 6, 2, **_ENV), case("retract DIR/source", 2),
    case("find-person DIR/run DIR/other --name DIR/secrets/api --because x", 0, 3), case("find-person DIR/none --name DIR/secrets/api", 8),
    case(f"find-person DIR/source --id {SECRETS['argument']}", 2), case("find-person DIR/source --id DIR/secrets/api", 2),
    case("erase-traces DIR/run2 --dry-run", 0, 2), case("erase-traces DIR/source", 2), case("runs forget DIR --keep-last 9 --dry-run"),
    case("ls DIR/run2"), case("ls DIR/none", 8), case("ls URL", 6, **_ENV), case("show DIR/run2 nothing", 2), case("show DIR/extract arkivuttrekk.xml", 0),
    case("search DIR/extract letter --read-documents"), case("search DIR/none x", 8), case("get DIR/run2 nothing -o DIR/got", 2),
    case("get URL x -o DIR/got", 6, config=_FILE), case("browse DIR/extract --static DIR/copy"), case("browse DIR/none --static DIR/copy2", 8),
    case("codes embedded:DIR/archive2"), case("codes URL", 6, **_ENV), case("groups embedded:DIR/archive2"), case("groups URL", 6, config=_FILE),
    case("derive DIR/source -o DIR/copies --workers 1", 0, 3), case("derive DIR/none -o DIR/copies", 8, 2),
    case("derive --archive URL -o DIR/copies2", 6, config=_FILE), case("-v derive -o DIR/copies --check", 0, 7),
    case("runs DIR"), case("runs DIR/none", 2), case("key new -o DIR/seal.key", 0, 2), case("key show DIR/secrets/key", 2, 4),
    case("key cluster DIR/tls"), case("key cluster DIR/tls", 2), case("scheduler", 2), case("scheduler --tls DIR/none", 2),
    case("worker dask://127.0.0.1:1", 2), case("worker dask://127.0.0.1:1 --tls DIR/none", 2),
    case(f"worker dask://u:{SECRETS['argument']}@127.0.0.1:1 --tls DIR/tls", 2), case("ingest DIR/run3 --engine dask://127.0.0.1:1", 2),
    case(f"ingest DIR/run3 --engine dask://u:{SECRETS['argument']}@127.0.0.1:1 --tls DIR/tls", 2),
    case("ingest DIR/run3 --engine dask://127.0.0.1:1 --tls DIR/tls --archive URL", 6, **_ENV),
    case("connect crm:main", 4, 5, 6, config=_CRM), case("connect crm:main status", config=_CRM), case("connect spend:main", 4, 5, 6, config=_SPEND),
    case("connect crm:main --mcp", 2, 4, 5, 6, config=_CRM), case("connect spend:main --mcp --call x", 2, 4, 5, 6, config=_SPEND),
    case("connect crm:main forget", config=_CRM), case("connect crm:other", 2, config=_CRM),
    case("connect crm:main", 2, config=_CRM.replace('{{ file = "{dir}/secrets/api" }}', '"{inline}"')),
    case("connect crm:main --mcp", 2, config=_CRM.replace('{{ file = "{dir}/secrets/tool-url" }}', '"https://tools.example/{inline}"')),
    case("listen spend:main --port 1 --host 192.0.2.1", 2, config=_SPEND), case("listen spend:none", 2, config=_SPEND),
    case("mcp --root DIR --port 1 --host 192.0.2.1 --token-file DIR/secrets/open", 2),
    case("mcp --root DIR --port 0 --host 0.0.0.0", 2), case(f"standin crm --set token={SECRETS['argument']} --port x", 2),
    case("standin nothing", 2), case("help F111"), case("help nothing", 2), case("man"), case("completion bash"),
    case("version"), case("version --log-file DIR/none/x.log", 2),
]  # fmt: skip
CASES = [
    pytest.param(one, id=f"{number:03}-{one.command if one.command[0] != '-' else one.words[1]}")
    for number, one in enumerate(_CASES)
]


def command_of(one: Case) -> str:
    """The command on a line that may begin with an option."""
    return next(word for word in one.words if not word.startswith("-"))


@dataclass(frozen=True)
class World:
    """A folder with all that the lines speak of, and a server that tells everything back."""

    place: Path
    url: str

    def fill(self, text: str) -> str:
        return text.replace("DIR", str(self.place)).replace("URL", self.url)


class _Parrot(http.server.BaseHTTPRequestHandler):
    """Lets nobody in, and says back what it was sent: headers, body, and the password in them in plain."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        told = f"{self.path} {body} {dict(self.headers)}"
        basic = re.search(r"Basic (\S+)", told)
        if basic:
            told += base64.b64decode(basic[1]).decode("utf-8", "replace")
        text = json.dumps({"error": "invalid_client", "error_description": told, "description": told, "message": told})
        answer = text.encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Sources, plans and secrets."""
    place = tmp_path_factory.mktemp("leaks")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Parrot)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="noarkit-parrot")
    thread.start()
    try:
        made = World(place, f"http://127.0.0.1:{server.server_address[1]}")
        _lay_out(made)
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _lay_out(world: World) -> None:
    place = world.place
    for name in ("source/Sak " + NAME, "other-source", "secrets", "config"):
        (place / name).mkdir(parents=True)
    case_file = place / "source" / f"Sak {NAME}"
    for at in range(3):
        (case_file / f"Brev fra Kari {NAME} {at}.txt").write_text(f"Kjære {NAME} {at}", "utf-8")
    (case_file / f"{NAME}.eml").write_bytes(
        f"From: Kari {NAME} <kari@example.no>\r\nSubject: Sykdom hos {NAME}\r\nMessage-ID: <1@x>\r\n\r\nHei\r\n".encode()
    )
    os.mkfifo(case_file / f"rør {NAME}")
    (place / "bad.toml").write_text(
        f'[source]\nkind = "files"\n[target]\nexternal_system = "x"\nmodel = 1\n[[map]]\ntype = "Basisregistrering"\n'
        f'fields = {{ tittel = "= record.nothing_there", beskrivelse = "{NAME}" }}\n',
        "utf-8",
    )
    (place / "other-source" / "sak").mkdir()
    (place / "other-source" / "sak" / f"Annet {NAME}.txt").write_text("x", "utf-8")
    for name, secret in SECRETS.items():
        path = place / "secrets" / name
        path.write_text(secret + "\n", "utf-8")
        path.chmod(0o600)
    tool_url = place / "secrets" / "tool-url"
    tool_url.write_text(f"{world.url}/{SECRETS['tool']}/mcp\n", "utf-8")
    tool_url.chmod(0o600)
    (place / "secrets" / "open").write_text(SECRETS["key"] + "\n", "utf-8")
    (place / "secrets" / "open").chmod(0o644)
    (place / "secrets" / "archive").write_text(SECRETS["credential"] + "\n", "utf-8")
    for run in ("run", "changed", "gone"):
        source = "source"
        if run != "run":
            (place / f"{run}-source" / "sak").mkdir(parents=True)
            (place / f"{run}-source" / "sak" / f"{NAME}.txt").write_text("før", "utf-8")
            source = f"{run}-source"
        _call(world, ["plan", str(place / source), "-o", str(place / run), "-q"], {})
    (place / "changed-source" / "sak" / f"{NAME}.txt").write_text("etter", "utf-8")
    (place / "gone-source").rename(place / "moved-source")
    _call(
        world,
        [
            "ingest",
            str(place / "other-source"),
            "-o",
            str(place / "other-run"),
            "-q",
            "--archive",
            f"embedded:{place}/archive9",
        ],
        {},
    )
    _call(world, ["extract", "-o", str(place / "other"), "-q", "--archive", f"embedded:{place}/archive9"], {})
    shutil.copytree(place / "other", place / "broken")
    (place / "broken" / "arkivstruktur.xml").write_text(f"<arkiv><tittel>{NAME}", "utf-8")


def _call(world: World, words: list[str], environment: dict[str, str]) -> int:
    return main(words, {"HOME": str(world.place / "home"), "NOARKIT_PROGRESS": "plain", **environment})


def test_every_command_has_cases_that_go_well_and_wrong() -> None:
    named = {command_of(one) for one in _CASES}
    assert named == set(COMMANDS)
    wrong = {command_of(one) for one in _CASES if one.codes != (0,)}
    assert set(COMMANDS) - wrong == {"man", "completion"}


@pytest.mark.parametrize("one", CASES)
def test_nothing_leaks(
    one: Case, world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = world.place
    monkeypatch.chdir(place)
    log = place / f"{len(list(place.glob('*.log'))):03}.log"
    config = place / "config" / "noarkit.toml"
    filled = {"url": world.url, "dir": str(place), "inline": SECRETS["inline"], "command": SECRETS["command"]}
    config.write_text(one.config.format(**filled), "utf-8")
    words = [world.fill(word) for word in one.words]
    logging = ["--config", str(config), *([] if "--log-file" in words else ["--log-file", str(log)])]
    environment = {name: world.fill(value) for name, value in one.environment.items()}
    environment |= {"CREDENTIALS_DIRECTORY": str(place / "secrets")}
    code = _call(world, [*words, *logging], environment)
    out, err = capfd.readouterr()
    assert code in one.codes, err + out
    told = {"stdout": out, "stderr": err, "log": log.read_text("utf-8") if log.exists() else ""}
    told |= {str(path): path.read_text("utf-8", "replace") for path in place.rglob("run.log")}
    for where, text in told.items():
        assert not [name for name, secret in SECRETS.items() if secret in text], where
        may = {"stdout": SHOWN, "stderr": TOLD}.get(where, set())
        assert NAME not in text or command_of(one) in may, f"{where}: {_around(text)}"


def _around(text: str) -> str:
    at = text.index(NAME)
    return text[max(0, at - 300) : at + 100]


def test_what_was_written_meanwhile_holds_no_secret_either(world: World) -> None:
    looked = 0
    own = [re.compile(rb'secret = "([^"]+)"').findall(path.read_bytes()) for path in world.place.rglob("clients.toml")]
    secrets = [*(secret.encode() for secret in SECRETS.values()), *(one for some in own for one in some)]
    assert len(secrets) > len(SECRETS)
    for path in world.place.rglob("*"):
        told = f"/{path.relative_to(world.place)}"
        if not path.is_file() or HOLDERS.search(told):
            continue
        looked += 1
        held = path.read_bytes()
        assert not [secret for secret in secrets if secret in held], told
        assert NAME.encode() not in held or not LOGS.search(told), told
    assert looked > 50


def test_what_nobody_foresaw_is_traced_without_its_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    @command("version")
    def broken(session: Session) -> None:
        try:
            raise KeyError(f"{NAME} {SECRETS['token']}")
        except KeyError as error:
            raise RuntimeError(SECRETS["token"]) from error

    log = tmp_path / "x.log"
    assert main(["--log-file", str(log), "version"], {"HOME": str(tmp_path)}, lambda name: broken) == 1
    told = log.read_text("utf-8")
    assert "KeyError" in told and "RuntimeError" in told
    out, err = capfd.readouterr()
    assert not [text for text in (told, out, err) if NAME in text or SECRETS["token"] in text]
    assert "F900" in err


def test_the_names_are_where_they_belong(world: World) -> None:
    with closing(sqlite3.connect(world.place / "run" / "graph.db")) as graph, graph:
        assert any(NAME in row[0] for row in graph.execute("SELECT fields FROM entity"))
    assert NAME in (world.place / "run" / "plan.html").read_text("utf-8")
    assert NAME in (world.place / "run2" / "set-aside.csv").read_text("utf-8-sig")
