"""A program in the sandbox sees nothing, uses no more than it may, and leaves nothing running."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.safe.sandbox import Completed, Limits, Progress, Sandbox, Stopped
from tests.copies.converters.tasks import needs_bubblewrap
from tests.processes import command_line, running_with
from tests.waiting import PATIENCE_S, came

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")

KINDS = [pytest.param("bwrap", marks=needs_bubblewrap), pytest.param("", id="without-walls")]
SHORT = Limits(cpu_s=0.4, wall_s=PATIENCE_S, memory_bytes=512 * 1024**2, output_bytes=4 * 1024**2)

Run = Callable[..., Completed]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder to read and one to write."""
    for name in ("inputs", "outputs"):
        (tmp_path / name).mkdir()
    (tmp_path / "inputs" / "letter").write_text("Kjære Åse")
    return tmp_path / "inputs", tmp_path / "outputs"


@pytest.fixture(params=KINDS)
def run(request: pytest.FixtureRequest, folders: tuple[Path, Path]) -> Run:
    """Runs a line of shell in either kind of sandbox."""
    sandbox = Sandbox(request.param)
    assert sandbox.isolated == bool(request.param)

    def shell(line: str, limits: Limits = SHORT, **more: object) -> Completed:
        command = ["/bin/sh", "-c", line]
        return sandbox.run(command, inputs=folders[0], outputs=folders[1], limits=limits, **more)  # type: ignore[arg-type]  # as named there

    return shell


def test_it_reads_inputs_and_writes_outputs(run: Run, folders: tuple[Path, Path]) -> None:
    inputs, outputs = folders
    completed = run(f"cat {inputs}/letter > {outputs}/copy; echo told; echo complained >&2; exit 3")
    assert (completed.exit_code, completed.reason) == (3, None)
    assert (completed.stdout, completed.stderr) == ("told\n", "complained\n")
    assert (outputs / "copy").read_text() == "Kjære Åse"
    assert (outputs / "copy").stat().st_uid == os.geteuid()


def test_inputs_stay_as_they_are(run: Run, folders: tuple[Path, Path]) -> None:
    inputs, _ = folders
    run(f"echo other > {inputs}/letter; rm -f {inputs}/letter; touch {inputs}/more")
    if os.geteuid() != 0 and not Sandbox().isolated:
        pytest.skip("an ordinary user without walls writes where that user may")
    assert [path.name for path in inputs.iterdir()] == ["letter"]
    assert (inputs / "letter").read_text() == "Kjære Åse"


def test_it_is_nobody_and_knows_no_secret(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOARKIT_CLIENT_SECRET", "hemmelig")
    monkeypatch.setenv("HARMLESS", "hemmelig")
    assert "hemmelig" not in run("env").stdout
    if os.geteuid() == 0:
        completed = run("id -u; cat /etc/shadow; grep NoNewPrivs /proc/self/status")
        assert completed.stdout.split()[0] == "65534"
        assert "root:" not in completed.stdout
        assert completed.stdout.split()[-1] == "1"


@pytest.mark.parametrize("sandbox", KINDS[:1])
def test_walls_hide_files_processes_and_network(sandbox: str, folders: tuple[Path, Path]) -> None:
    inputs, outputs = folders
    secret = inputs.parent / "secret"
    secret.write_text("hemmelig")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        line = f"cat {secret}; ls /proc | grep -c '^[0-9]'; exec 3<>/dev/tcp/127.0.0.1/{port}; hostname; ls /root /home"
        completed = Sandbox(sandbox).run(["/bin/bash", "-c", line], inputs=inputs, outputs=outputs, limits=SHORT)
        with pytest.raises(TimeoutError):
            server.accept()
    assert "hemmelig" not in completed.stdout
    assert int(completed.stdout.split()[0]) < 8
    assert "Connection refused" in completed.stderr or "unreachable" in completed.stderr
    assert "cannot access '/root'" in completed.stderr and "cannot access '/home'" in completed.stderr


def test_processor_time_is_limited_and_measured(run: Run) -> None:
    completed = run("while :; do :; done")
    assert completed.reason is Stopped.TIMED_OUT
    assert 0.3 < completed.cpu_s < 3


def test_time_that_passes_is_limited(run: Run) -> None:
    completed = run("sleep 3600", Limits(cpu_s=5, wall_s=0.5))
    assert completed.reason is Stopped.TIMED_OUT
    assert completed.wall_s < PATIENCE_S


def test_memory_is_limited_for_one_and_for_all_together(run: Run) -> None:
    limits = Limits(cpu_s=20, wall_s=PATIENCE_S, memory_bytes=300 * 1024**2)
    greedy = "head -c 900000000 /dev/zero | tail -c 800000000"
    one = run(greedy, limits)
    assert one.reason is Stopped.MEMORY
    # each within the limit, and twice as much as is allowed together
    hold = "head -c 100000000 /dev/zero | tail -c 100000000 | (sleep 30; wc -c)"
    many = run(f"({hold})& ({hold})& ({hold})& ({hold})& ({hold})& wait", limits)
    assert many.reason is Stopped.MEMORY
    assert many.peak_bytes > 300 * 1024**2


def test_what_it_writes_is_limited_for_a_file_and_for_all(run: Run, folders: tuple[Path, Path]) -> None:
    outputs = folders[1]
    limits = Limits(cpu_s=20, wall_s=PATIENCE_S, output_bytes=2 * 1024**2)
    assert run(f"head -c 50000000 /dev/zero > {outputs}/one", limits).reason is Stopped.TOO_LARGE
    assert (outputs / "one").stat().st_size <= 2 * 1024**2
    (outputs / "one").unlink()
    line = f"for n in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > {outputs}/$n; done; sleep 30"
    assert run(line, limits).reason is Stopped.TOO_LARGE


def test_a_child_that_leaves_group_and_session_does_not_outlive(run: Run) -> None:
    sign = sign_of("01")
    completed = run(f"setsid setsid sleep {sign} & sleep 0.2; exit 0")
    assert (completed.exit_code, completed.reason) == (0, None)
    assert came(lambda: not running_with(sign))


def test_a_fork_bomb_is_ended(run: Run) -> None:
    ten, sign = "1 2 3 4 5 6 7 8 9 10", sign_of("02")
    bomb = f"for a in {ten}; do (for b in {ten}; do setsid sleep {sign} & done; wait) & done; wait"
    completed = run(bomb, Limits(cpu_s=20, wall_s=PATIENCE_S))
    assert completed.reason is Stopped.CRASHED
    assert came(lambda: not running_with(sign))


def test_a_flood_of_words_is_cut_to_its_beginning_and_its_end(run: Run) -> None:
    completed = run(
        "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", Limits(cpu_s=10, wall_s=PATIENCE_S)
    )
    assert completed.stdout.startswith("first\n") and completed.stdout.endswith("last\n")
    assert len(completed.stdout) < 200_000


def test_a_crash_is_told_by_its_signal(run: Run) -> None:
    assert run("kill -SEGV $$").reason is Stopped.CRASHED
    assert run("exit 1").reason is None
    assert run("exec /no/such/program").exit_code == 127


def test_each_document_of_a_batch_has_the_time_of_one(run: Run, folders: tuple[Path, Path]) -> None:
    outputs = folders[1]
    for scale in (1, 4, 16):  # on a busy machine a document takes longer than it sleeps
        made = outputs / f"made-{scale}"
        made.mkdir()
        line = f"for n in 1 2 3; do sleep {0.7 * scale}; touch {made}/$n; done; sleep 3600"
        completed = run(line, Limits(cpu_s=9, wall_s=1.5 * scale), progress=Progress(made, 3))
        if len(list(made.iterdir())) == 3:
            break
    assert completed.reason is Stopped.TIMED_OUT
    assert len(list(made.iterdir())) == 3
    assert 3 * scale < completed.wall_s < PATIENCE_S


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_asked_is_killed_and_the_program_goes_with_it(kind: str, folders: tuple[Path, Path]) -> None:
    sign = sign_of("03")
    code = (
        "from pathlib import Path; from noarkit.safe.sandbox import Sandbox; "
        "from noarkit.copies.port import Limits; "
        f"command = ['/bin/sh', '-c', 'setsid sleep {sign} & sleep {sign}']; "
        f"Sandbox({kind!r}).run(command, inputs=Path({str(folders[0])!r}), outputs=Path({str(folders[1])!r}), "
        "limits=Limits(cpu_s=60, wall_s=600))"
    )
    asker = subprocess.Popen([sys.executable, "-c", code])
    assert came(lambda: len([pid for pid in running_with(sign) if command_line(pid).startswith(b"sleep\0")]) == 2)
    asker.kill()
    asker.wait()
    assert came(lambda: not running_with(sign))


def sign_of(test: str) -> str:
    """Seconds to sleep by which a process is known, here and of no other run of the tests on this machine."""
    return f"4711.{os.getpid()}{test}"


def test_where_bubblewrap_is_missing_or_refused_it_says_so(tmp_path: Path) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    assert not Sandbox(str(refusing)).isolated
    assert not Sandbox(str(tmp_path / "nothing")).isolated
    assert not Sandbox("").isolated
