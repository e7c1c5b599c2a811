"""The embedded archive comes up, is joined, and ends with who started it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.embedded import EmbeddedArchive, keep_services, open_embedded, starter_codes
from noarkit.errors import ConfigFault, RunLocked
from noarkit.model import metamodel
from tests.forked import archives_from_nothing
from tests.processes import have_ended
from tests.server.wire import Wire, wire_to


@pytest.fixture(scope="module", autouse=True)
def started_as_a_person_starts_them() -> Iterator[None]:
    """Archives whose processes start from nothing."""
    with archives_from_nothing():
        yield


def wire(archive: EmbeddedArchive) -> Wire:
    """The archive on the wire, with a token of its client."""
    at = wire_to(archive.url)
    return at.bearing(at.get_token(archive.client_id, archive.client_secret.reveal()))


def test_a_new_folder_becomes_an_archive_that_answers_and_ends_when_told(tmp_path: Path) -> None:
    with open_embedded(tmp_path / "archive") as archive:
        assert archive.was_started
        assert not archive.has_ended
        assert archive.token_url == archive.url.removesuffix("/rms/api/public") + "/idp/oauth2/token"
        assert wire(archive).call("GET", "info/me").json() == {"userId": "integration"}
        assert archive.client_secret.reveal() not in repr(archive)
    assert archive.has_ended
    assert not (tmp_path / "archive" / "serving.json").exists()
    with pytest.raises(ConnectionRefusedError):
        wire_to(archive.url).call("GET", "info/me")


def test_a_second_user_joins_the_running_one_and_does_not_end_it(tmp_path: Path) -> None:
    with open_embedded(tmp_path) as first:
        with open_embedded(tmp_path, client_id="admin") as second:
            assert (second.url, second.was_started) == (first.url, False)
            assert wire(second).call("GET", "info/me").json() == {"userId": "admin"}
        assert wire(first).call("GET", "info/me").status == 200


def test_a_service_that_is_kept_runs_on_between_its_users_and_ends_with_the_block(tmp_path: Path) -> None:
    with keep_services():
        with open_embedded(tmp_path / "kept") as first:
            assert first.was_started
        with keep_services(), open_embedded(tmp_path / "kept") as second:
            assert second.was_started
        assert (second.url, second.has_ended) == (first.url, False)
        with open_embedded(tmp_path / "not-kept", may_be_kept=False) as third:
            assert third.was_started
        assert third.has_ended
    assert first.has_ended and second.has_ended
    with open_embedded(tmp_path / "kept") as again:
        assert again.was_started
    assert again.has_ended


def test_the_codes_of_an_archive_that_is_yet_to_be_made_are_those_that_a_new_one_answers(tmp_path: Path) -> None:
    expected = starter_codes()
    with open_embedded(tmp_path / "archive") as archive:
        types = metamodel().types
        lists = wire(archive).call("GET", "code-lists").json()["results"]
    assert isinstance(lists, list)
    answered = {(entry["type"], entry["field"]): {value["code"] for value in entry["values"]} for entry in lists}
    assert len(answered) > 20
    for (type_name, field), codes in answered.items():
        name = types[type_name].fields[field].code_list
        assert name is not None
        assert codes == expected[name]


def test_a_service_of_a_relative_folder_is_joined_from_another_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "noarkit", "serve", "--data", "archive", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as service:
        assert service.stdout is not None
        assert json.loads(service.stdout.readline())["event"] == "serving"
        assert Path.cwd() != tmp_path
        with open_embedded(tmp_path / "archive") as archive:
            assert not archive.was_started
            assert wire(archive).call("GET", "info/me").json() == {"userId": "integration"}
        service.terminate()


def test_what_was_saved_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    for expected in (200, 204):
        with open_embedded(tmp_path, client_id="admin") as archive:
            method, body = ("PUT", {"name": "Kept"}) if expected == 200 else ("DELETE", None)
            assert wire(archive).call(method, "code-lists/skjerming/KEPT", body).status == expected


def test_a_folder_that_another_process_holds_silently_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "serving.lock").open("w") as lock:
        lock.write("process 1 on elsewhere\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunLocked) as told:
            open_embedded(tmp_path, join_s=0.2)
    assert told.value.exit_code == 9
    assert told.value.data["owner"] == "process 1 on elsewhere"


def test_a_note_left_by_a_killed_archive_does_not_mislead(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    note = {"url": "http://127.0.0.1:1/rms/api/public", "token_url": "", "clients": "", "pid": dead.pid}
    (tmp_path / "serving.json").write_text(json.dumps(note))
    with open_embedded(tmp_path) as archive:
        assert archive.was_started


def test_a_service_whose_starter_was_killed_is_not_joined_in_its_last_moment(tmp_path: Path) -> None:
    script = """import os, signal, sys; from pathlib import Path; from noarkit.embedded import open_embedded
archive = open_embedded(Path(sys.argv[1])); os.kill(archive._child.pid, signal.SIGSTOP); os.kill(0, signal.SIGKILL)"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, start_new_session=True)
    note = json.loads((tmp_path / "serving.json").read_text())
    waiting = threading.Timer(1.0, os.kill, (note["pid"], signal.SIGCONT))
    waiting.start()
    with open_embedded(tmp_path) as archive:
        assert archive.was_started
        assert wire(archive).call("GET", "info/me").status == 200
    waiting.join()
    assert note["starter"] not in (note["pid"], os.getpid())


def test_settings_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text('query_limit = "many"')
    with pytest.raises(ConfigFault) as told:
        open_embedded(tmp_path)
    assert "query_limit" in str(told.value.data["why"])


def test_a_client_that_is_not_in_the_file_is_named_and_nothing_stays_behind(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault):
        open_embedded(tmp_path, client_id="nobody")
    with open_embedded(tmp_path) as archive:
        assert archive.was_started


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process by its id")
def test_the_archive_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from noarkit.embedded import open_embedded;"
        "open_embedded(Path(sys.argv[1])); print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        child = json.loads((tmp_path / "serving.json").read_text())["pid"]
        parent.kill()
        parent.wait()
        assert have_ended([child])
