"""scripts/faults cluster --cold WHEELHOUSE: a cluster of two machines without internet, set up by the manual alone.

A machine is a network and a mount namespace: nothing of this one's files but the system's programs, and a carried
wheelhouse at /media/noarkit. Each command of noarkit on it stands in the chapter `many-machines`, word for word; what
else is done, the chapter tells of (a copied file, a setting). The third machine is the archive, which is there already.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.faults.network import Namespaces
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
_CHAPTER = ROOT / "noarkit" / "manual" / "en" / "many-machines.md"
_HOSTS = ("first", "second", "archive")
_EMPTY = ("/root", "/home", "/opt", "/srv", "/media", "/var/tmp", "/var/lib", "/tmp")
_ETC = ("passwd", "group", "hosts", "ssl", "ld.so.cache", "ld.so.conf", "nsswitch.conf")
_CONFIG = """[archive]
url = "https://10.20.0.3:8443/rms/api/public"
client_id = "admin"
client_secret = { file = "/etc/noarkit/archive.secret" }

[archive.tls]
ca = "/etc/noarkit/archive-ca.pem"
"""
_CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout archive.key -out archive.pem"
    " -days 30 -subj /CN=archive -addext subjectAltName=IP:10.20.0.3"
)
_SERVE = "noarkit serve --data /srv/archive --host 10.20.0.3 --port 8443 --tls-cert archive.pem --tls-key archive.key"
_FILES = (
    "for n in $(seq 1 60); do mkdir -p case-files/case-$((n % 7)); echo $n > case-files/case-$((n % 7))/$n.txt; done"
)


@dataclass(frozen=True, slots=True)
class ColdMachine:
    """A machine that has just been set up: no home, no settings, no internet."""

    name: str
    pid: int

    def run(self, command: str, data: bytes = b"") -> str:
        """Runs a command of a shell to its end, and returns what it said. Raises AssertionError where it fails."""
        ended = subprocess.run(self._line(command), input=data, capture_output=True, check=False)
        said = ended.stdout.decode(errors="replace")
        print(f"{self.name}$ {command}\n{said}{ended.stderr.decode(errors='replace')}", flush=True)
        assert ended.returncode == 0, (self.name, command, ended.returncode)
        return said

    @contextmanager
    def running(self, command: str, sign: str) -> Iterator[None]:
        """Runs a command while the block lasts, from when it said `sign`; SIGTERM must end it in order."""
        print(f"{self.name}$ {command} &", flush=True)
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(self._line(f"exec {command}"), stdout=said, stderr=subprocess.STDOUT)
            try:
                ends = time.monotonic() + PATIENCE_S
                while sign not in _text(said):
                    assert time.monotonic() < ends and process.poll() is None, _text(said)
                    time.sleep(0.1)
                yield
            finally:
                process.terminate()
                code = process.wait(PATIENCE_S)
                print(f"{self.name}: {command.split()[1]} ended with {code}\n{_text(said)}", flush=True)
            assert code in (0, 143), code

    def _line(self, command: str) -> list[str]:
        clean = ["env", "-i", "HOME=/root", "LANG=C.UTF-8", "PATH=/opt/noarkit/bin:/usr/local/bin:/usr/bin:/bin"]
        enter = ["nsenter", "-t", str(self.pid), "-m", "-u", "-n", "--"]
        # Its own /root: the folder that a program begins in is still one of this machine.
        return [*enter, *clean, "sh", "-c", f"cd /root && {command}"]


def main(wheelhouse: Path) -> None:
    """Walks the whole way. Raises AssertionError where it does not lead on."""
    with ExitStack() as stack:
        network = stack.enter_context(closing(Namespaces(_HOSTS, subnet="10.20.0.")))
        first, second, archive = (stack.enter_context(_started(network, host, wheelhouse)) for host in _HOSTS)
        _check_alone(first, second)
        with ThreadPoolExecutor(3) as pool:
            install = _manual("/media/noarkit/install /opt/noarkit")
            list(pool.map(lambda machine: machine.run(install), (first, second, archive)))
        archive.run(_CERTIFICATE)
        stack.enter_context(archive.running(_SERVE, "10.20.0.3:8443"))
        clients = archive.run("cat /srv/archive/clients.toml")
        secret = re.search(r'\[clients.admin\]\nsecret = "([^"]+)"', clients)
        assert secret is not None
        _set_up(first, second, archive.run("cat archive.pem").encode(), secret[1].encode())
        _load(first, second)


def _set_up(first: ColdMachine, second: ColdMachine, authority: bytes, secret: bytes) -> None:
    first.run(_manual("noarkit key cluster cluster --host 10.20.0.1 --host 10.20.0.2 --host 10.20.0.3"))
    first.run("mv cluster/ca.key /media/")
    roles = ("ca.pem scheduler.pem scheduler.key coordinator.pem coordinator.key", "ca.pem worker.pem worker.key")
    for machine, files in zip((first, second), roles, strict=True):
        machine.run("mkdir -p /etc/noarkit/cluster")
        packed = subprocess.run(first._line(f"tar -C cluster -cf - {files}"), capture_output=True, check=True).stdout
        machine.run("tar -C /etc/noarkit/cluster -xf -", packed)
        machine.run("cat > /etc/noarkit/archive-ca.pem", authority)
        machine.run("umask 077; cat > /etc/noarkit/archive.secret", secret)
        machine.run("cat > noarkit.toml", _CONFIG.encode())


def _load(first: ColdMachine, second: ColdMachine) -> None:
    scheduler = _manual("noarkit scheduler --tls /etc/noarkit/cluster --listen 10.20.0.1:8786")
    worker = _manual(
        "noarkit worker dask://10.20.0.1:8786 --tls /etc/noarkit/cluster --slots 4 --listen 10.20.0.2:9000"
    )
    ingest = _manual("noarkit ingest runs/big --engine dask://10.20.0.1:8786 --tls /etc/noarkit/cluster")
    with first.running(scheduler, "dask://10.20.0.1:8786"), second.running(worker, "ready"):
        first.run(_FILES)
        first.run(_manual("noarkit plan case-files -o runs/big"))
        said = first.run(f"{ingest} --ship --json")  # the second machine has no access to the files of the first
        summary = json.loads(said.splitlines()[-1])
        assert (summary["state"], summary["archived"], summary["exit"]) == ("done", 60, 0), summary
        first.run(_manual("noarkit verify runs/big") + " --depth bytes")


def _manual(command: str) -> str:
    """A command, which stands so in the chapter."""
    lines = {re.sub(r"\s+#.*", "", line).strip() for line in _CHAPTER.read_text(encoding="utf-8").splitlines()}
    assert command in lines, f"{_CHAPTER.name} does not say: {command}"
    return command


def _check_alone(*machines: ColdMachine) -> None:
    for machine in machines:
        routes = machine.run("cat /proc/net/route").splitlines()[1:]
        assert routes and all(route.split()[1] != "00000000" for route in routes), routes  # no way out
        assert machine.run("ls -A /root /opt /srv /home").split() == ["/home:", "/opt:", "/root:", "/srv:"]


@contextmanager
def _started(network: Namespaces, host: str, wheelhouse: Path) -> Iterator[ColdMachine]:
    """The machine's own view of the files: what is not the system's is empty, but for the wheelhouse, read only."""
    etc = " ".join(f"/etc/{name}" for name in _ETC)
    script = f"""set -e
        hostname {host}
        mount --make-rprivate /
        mount --bind {shlex.quote(str(wheelhouse))} /mnt
        for place in {" ".join(sorted({*_EMPTY, str(_hidden())}))}; do mount -t tmpfs tmpfs $place; done
        mkdir /media/noarkit && mount --bind -o ro /mnt /media/noarkit && umount /mnt
        mkdir /tmp/etc && cp -a {etc} /tmp/etc && mount --bind /tmp/etc /etc
        echo ready
        exec sleep infinity"""
    line = ["ip", "netns", "exec", network.namespace(host), "unshare", "--mount", "--uts", "sh", "-c", script]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd="/")
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield ColdMachine(host, process.pid)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _hidden() -> Path:
    """The topmost folder that this checkout lies in, where that is not one of the system's."""
    return Path("/", *ROOT.parts[1:2])


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
