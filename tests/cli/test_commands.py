"""init, config, serve, doctor, completion: each does what its help says."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.archive.administration import Administration
from noarkit.archive.http import connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.cli.connectivity import reach
from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from noarkit.errors import ArchiveAway
from noarkit.model.own_marks import PROBE_TITLE
from tests.archive.certificates import Identity, write
from tests.cli.elsewhere import PROGRAM, environment
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder, with nobody's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)


def run(*arguments: str, **environment: str) -> int:
    """The exit code of a command line."""
    return main(arguments, {"HOME": os.environ["HOME"], **environment})


class Serving:
    """`noarkit serve` in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.child = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", *arguments],
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """The next line of its results."""
        assert self.child.stdout is not None
        return self.child.stdout.readline()

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Sends a signal; exit code and what was still printed."""
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=PATIENCE_S)
        return self.child.returncode, out, err


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Serving]:
    """Serves, and leaves nothing behind."""
    made = Serving(folder, *arguments)
    try:
        yield made
    finally:
        if made.child.poll() is None:
            made.child.kill()
        made.child.communicate()


def test_init_writes_two_files_that_can_be_read_and_keeps_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("init", "site", "--lang", "nb") == 0
    assert "Opprettet site/noarkit.toml" in capsys.readouterr().out
    config = (tmp_path / "site" / "noarkit.toml").read_text("utf-8")
    assert "Skriv aldri hemmeligheten her" in config
    assert tomllib.loads(config) == {"archive": {"tls": {}}, "seal": {}, "copies": {}, "operations": {}}
    assert "agreement" in tomllib.loads((tmp_path / "site" / "package.toml").read_text("utf-8"))
    (tmp_path / "site" / "noarkit.toml").write_text("# mine\n")
    assert run("init", "site", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["event"] for event in events] == ["kept", "kept", "summary"]
    assert (tmp_path / "site" / "noarkit.toml").read_text() == "# mine\n"


def test_what_init_writes_is_a_config_that_can_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init") == 0
    assert run("config", "check") == 0
    assert "noarkit.toml" in capsys.readouterr().out


def test_init_where_nothing_can_be_made_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run("init", "file/below") == 2
    assert "file/below" in capsys.readouterr().err


def test_config_show_tells_values_with_their_origin_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "noarkit.toml").write_text('[archive]\nurl = "https://a.example.org/x"\n')
    code = run("config", "show", "--origin", NOARKIT_CLIENT_SECRET="hush-7", NOARKIT_CLIENT_ID="loader")
    shown = capsys.readouterr().out
    assert code == 0
    assert "https://a.example.org/x  [file noarkit.toml:2]" in shown
    assert "loader  [environment NOARKIT_CLIENT_ID]" in shown
    assert "*** (env NOARKIT_CLIENT_SECRET)  [environment NOARKIT_CLIENT_SECRET]" in shown
    assert "hush-7" not in shown


def test_config_check_names_the_line_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noarkit.toml").write_text('[archive]\nurll = "https://a.example.org/x"\n')
    assert run("config", "check") == 2
    assert "noarkit.toml:2 (archive.urll)" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("completion", shell) == 0
    assert "_NOARKIT_COMPLETE" in capsys.readouterr().out


def test_completion_completes_commands_and_options(tmp_path: Path) -> None:
    for words, wanted in (("noarkit ser", "serve"), ("noarkit serve --da", "--data")):
        done = subprocess.run(
            PROGRAM,
            cwd=tmp_path,
            env=environment(
                tmp_path,
                _NOARKIT_COMPLETE="bash_complete",
                COMP_WORDS=words,
                COMP_CWORD=str(len(words.split()) - 1),
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert wanted in done.stdout


def test_serve_says_where_it_is_never_a_secret_and_stops_in_order(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "a", "--json") as server:
        told = json.loads(server.line())
        clients = tomllib.loads(Path(tmp_path, told["clients"]).read_text("utf-8"))["clients"]
        assert set(told) == {"event", "url", "token_url", "clients"}
        assert stat.S_IMODE(Path(tmp_path, told["clients"]).stat().st_mode) == 0o600
        code, out, err = server.end(signal.SIGTERM)
    assert code == 0
    assert json.loads(out)["event"] == "summary"
    assert err == ""
    assert not [client for client in clients.values() if client["secret"] in json.dumps(told) + out + err]


def test_serve_tells_people_the_same_in_plain_lines(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "a") as server:
        first = server.line()
        code, out, err = server.end(signal.SIGINT)
    assert re.fullmatch(r"Archive: +http://127\.0\.0\.1:\d+/\S+\n", first)
    assert (code, out) == (0, "")
    assert "/idp/oauth2/token" in err
    assert "clients.toml" in err
    assert err.splitlines()[-1] == "Stopped."


def test_a_folder_is_served_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "a", "--json") as first:
        first.line()
        with serving(tmp_path, "--data", "a", "--json") as second:
            out, _ = second.child.communicate(timeout=PATIENCE_S)
            fault, summary = [json.loads(line) for line in out.splitlines()]
    assert (second.child.returncode, fault["code"], summary["exit"]) == (9, "F403", 9)


def test_doctor_without_an_archive_looks_at_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event.get("check") for event in events[:-1]] == ["config", "disk", "clock", "signatures", "no-archive"]


def test_doctor_goes_all_the_way_to_an_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, "--data", "a", "--json") as server:
        told = json.loads(server.line())
        clients = tomllib.loads((tmp_path / "a" / "clients.toml").read_text("utf-8"))["clients"]
        given = {"NOARKIT_CLIENT_ID": "integration", "NOARKIT_CLIENT_SECRET": clients["integration"]["secret"]}
        arguments = ["doctor", "--archive", told["url"], "--json"]
        assert run(*arguments, "--probe", **given) == 0
        events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        steps = [(event["check"], event["state"]) for event in events[:-1]]
        assert steps == [
            ("config", "ok"),
            ("disk", "ok"),
            ("clock", "ok"),
            ("signatures", "ok"),
            ("no-proxy", "ok"),
            ("reach", "ok"),
            ("plain", "ok"),
            ("token", "ok"),
            ("rights", "ok"),
            ("lists", "ok"),
            ("probe", "ok"),
            ("finalised", "ok"),
        ]
        assert [event["title"] for event in events if event.get("check") == "probe"] == [PROBE_TITLE]
        assert run(*arguments, NOARKIT_CLIENT_ID="integration", NOARKIT_CLIENT_SECRET="canary-41") == 6
        out = capsys.readouterr().out
        assert '"code": "F320"' in out
        assert "canary-41" not in out


def test_doctor_says_what_is_missing_before_it_asks_anything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", "--archive", "https://archive.example.org/x") == 2
    assert "archive.client_id" in capsys.readouterr().err


def test_doctor_tells_an_archive_that_is_away_from_one_that_is_not_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"NOARKIT_CLIENT_ID": "x", "NOARKIT_CLIENT_SECRET": "x"}
    assert run("doctor", "--archive", "http://127.0.0.1:9/x", **given) == 5
    assert "F301" in capsys.readouterr().err
    pem = str(write(Identity("archive", addresses=(bytes([127, 0, 0, 1]),), days=(-1, 90)), tmp_path))
    with serving(tmp_path, "--data", "a", "--tls-cert", pem, "--tls-key", pem, "--json") as server:
        told = json.loads(server.line())
        assert run("doctor", "--archive", told["url"], **given) == 6
        assert "F322" in capsys.readouterr().err
        clients = tomllib.loads((tmp_path / "a" / "clients.toml").read_text("utf-8"))["clients"]
        given = {"NOARKIT_CLIENT_ID": "admin", "NOARKIT_CLIENT_SECRET": clients["admin"]["secret"]}
        assert run("doctor", "--archive", told["url"], NOARKIT_ARCHIVE_CA=pem, **given) == 0
        shown = capsys.readouterr().out
        assert "TLSv1" in shown


def test_doctor_opens_an_embedded_archive_and_closes_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("doctor", "--archive", f"embedded:{tmp_path / 'a'}") == 0
    assert "embedded" in capsys.readouterr().out
    assert not (tmp_path / "a" / "serving.json").exists()


def test_doctor_stops_at_a_config_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noarkit.toml").write_text("zone = 3\n")
    assert run("doctor") == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1
    assert "noarkit.toml:1" in err


def test_doctor_warns_of_a_certificate_that_ends_soon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pem = str(write(Identity("archive", addresses=(bytes([127, 0, 0, 1]),), days=(-1, 5)), tmp_path))
    with serving(tmp_path, "--data", "a", "--tls-cert", pem, "--tls-key", pem, "--json") as server:
        url = json.loads(server.line())["url"]
        given = {"NOARKIT_CLIENT_ID": "x", "NOARKIT_CLIENT_SECRET": "x", "NOARKIT_ARCHIVE_CA": pem}
        assert run("doctor", "--archive", url, **given) == 6
    assert "the certificate expires in 4 days" in capsys.readouterr().out


def test_doctor_leaves_what_lies_behind_a_proxy_to_the_token(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"NOARKIT_CLIENT_ID": "x", "NOARKIT_CLIENT_SECRET": "x", "NOARKIT_PROXY": "http://127.0.0.1:9"}
    assert run("doctor", "--archive", "https://archive.example.org/x", **given) == 5
    out, _ = capsys.readouterr()
    assert "proxy        http://127.0.0.1:9" in out
    assert "connection   " not in out
    assert out.count("F301") == 1


def test_doctor_names_the_code_lists_that_block_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_embedded(tmp_path / "a", "admin") as embedded:
        credentials = Credentials(embedded.client_id, embedded.client_secret)
        with connect(ArchiveSettings(embedded.url, credentials, token_url=embedded.token_url)) as archive:
            Administration(archive).delete_code("administrativEnhet", "ADM")
        assert run("doctor", "--archive", f"embedded:{tmp_path / 'a'}") == 4
    out, err = capsys.readouterr()
    assert "Saksmappe.administrativEnhet" in out
    assert "F410" in err


def answering(listener: socket.socket, answer: bytes) -> None:
    """Answers one call, whatever it is."""
    line, _ = listener.accept()
    with line:
        line.recv(4096)
        line.sendall(answer)


@pytest.mark.parametrize(
    ("answer", "skew"),
    [
        (b"HTTP/1.1 404 No\r\nDate: Fri, 01 Jan 2100 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 404 No\r\nDate: yesterday\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", False),
        (b"no HTTP at all\r\n\r\n", False),
    ],
)
def test_the_clock_of_an_archive_is_compared_where_it_tells_one(answer: bytes, skew: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answering, args=(listener, answer))
        thread.start()
        found = reach("127.0.0.1", listener.getsockname()[1], None, 5.0)
        thread.join()
    assert (found.skew_s is not None and found.skew_s > 1e9) is skew
    assert found.tls_version is None


def test_a_host_nobody_knows_is_told_as_that() -> None:
    with pytest.raises(ArchiveAway, match="unknown-host"):
        reach("nobody.invalid", 80, None, 5.0)


def test_config_check_without_any_file_says_that_the_defaults_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("config", "check") == 0
    assert "No noarkit.toml was found" in capsys.readouterr().err


@pytest.mark.parametrize(("host", "open_to_others"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)])  # noqa: S104  # the point
def test_serve_warns_where_it_can_be_heard_by_others(tmp_path: Path, host: str, open_to_others: bool) -> None:
    with serving(tmp_path, "--data", "a", "--host", host) as server:
        server.line()
        _, _, err = server.end(signal.SIGTERM)
    assert ("without TLS" in err) is open_to_others
