"""Database servers of our own, in a folder that is thrown away: to be stopped, killed and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from tests.ports import free_port
from tests.sources.database.sample import engine
from tests.waiting import PATIENCE_S


@dataclass
class PrivateServer:
    """A server of one family; `url` is that of its first database."""

    family: str
    place: Path
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where it is."""
        if self.family == "postgresql":
            return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        return f"mysql://root@127.0.0.1:{self.port}/mysql"

    def make(self) -> None:
        """Makes its files, and starts it."""
        self.port = free_port()
        self.place.mkdir(parents=True)
        data = self.place / "data"
        if self.family == "postgresql":
            if os.geteuid() == 0:
                shutil.chown(self.place, account())
                self.place.parent.chmod(0o755)
            _run([program("initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"], self.place)
        else:
            data.mkdir()
            command = [program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db"]
            _run([*command, "--auth-root-authentication-method=normal", f"--user={account('root')}"], self.place)
        self.start()

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        data = self.place / "data"
        if self.family == "postgresql":
            command = [program("postgres"), "-D", str(data), "-p", str(self.port), "-k", str(self.place), "-F"]
            command += ["-c", "listen_addresses=127.0.0.1"]
        else:
            command = [program("mariadbd"), "--no-defaults", f"--datadir={data}", f"--port={self.port}"]
            command += [f"--socket={self.place / 's'}", "--bind-address=127.0.0.1", f"--user={account('root')}"]
        with (self.place / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.place, **as_account(self.family))  # type: ignore[call-overload]  # who runs it
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                with engine(self.url).connect():
                    return
            except sa.exc.DBAPIError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """Ends it at once, whoever is connected."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT if self.family == "postgresql" else signal.SIGKILL)
        self._process.wait(PATIENCE_S)
        self._process = None


def program(name: str) -> str:
    """Where a program of a server is; empty where it is not installed."""
    found = shutil.which(name)
    if found:
        return found
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((str(one / name) for one in (*folders, Path("/usr/sbin")) if (one / name).exists()), "")


def installed(family: str) -> bool:
    """True where a server of ours can be made."""
    return bool(program("initdb") if family == "postgresql" else program("mariadbd") and program("mariadb-install-db"))


def account(wanted: str = "postgres") -> str:
    """Who runs a server: one refuses to be run by root."""
    return wanted if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def as_account(family: str) -> dict[str, object]:
    """How a process is started as that account."""
    if os.geteuid() != 0 or family != "postgresql":
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _run(command: list[str], folder: Path) -> None:
    family = "postgresql" if "initdb" in command[0] else "mysql"
    subprocess.run(command, check=True, capture_output=True, cwd=folder, **as_account(family))  # type: ignore[call-overload]  # who runs it
