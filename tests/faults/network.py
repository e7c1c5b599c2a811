"""Machines of a cluster as network namespaces on a switch of their own, each with a cable that can be pulled.

`Namespaces` needs root and `ip netns`; `why_not` says what is missing. `Loopback` stands in for it elsewhere: every
machine is this one, and what a machine calls goes through a relay, which is what can be cut. Whatever ends the process
that made them, namespaces are removed: in order by `close`, at the latest by whoever makes the next ones.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

_NAMES = Path("/run/netns")
_PREFIX = "noarkit-test-"
_NEW_NET, _NEW_HOST_NAME = 0x40000000, 0x04000000
_numbers = itertools.count()


class Network(Protocol):
    """Where machines are, by name, and the cables between them."""

    def address(self, host: str) -> str:
        """The address that a machine has and listens at."""
        ...

    def namespace(self, host: str) -> str:
        """The namespace that a machine's processes are started in; empty where that is this one's own."""
        ...

    def route(self, host: str, target: str, port: int) -> tuple[str, int]:
        """Under which address and port a machine reaches a port of another one."""
        ...

    def cut(self, host: str) -> None:
        """Pulls the cable of a machine: nothing passes, and no connection ends."""
        ...

    def mend(self, host: str) -> None:
        """Plugs it in again."""
        ...

    @contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """What this thread connects to meanwhile is reached from that machine."""
        ...

    def close(self) -> None:
        """Takes all of it away."""
        ...


class Loopback:
    """Every machine is this one."""

    def __init__(self) -> None:
        self._cables: dict[str, list[Cable]] = {}

    def address(self, host: str) -> str:
        """See `Network`."""
        return "127.0.0.1"

    def namespace(self, host: str) -> str:
        """See `Network`."""
        return ""

    def route(self, host: str, target: str, port: int) -> tuple[str, int]:
        """See `Network`."""
        cable = Cable(port)
        self._cables.setdefault(host, []).append(cable)
        return "127.0.0.1", cable.port

    def cut(self, host: str) -> None:
        """See `Network`."""
        for cable in self._cables[host]:
            cable.cut()

    def mend(self, host: str) -> None:
        """See `Network`."""
        for cable in self._cables[host]:
            cable.mend()

    @contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """See `Network`."""
        yield

    def close(self) -> None:
        """See `Network`."""
        for cable in itertools.chain.from_iterable(self._cables.values()):
            cable.close()


class Namespaces:
    """A namespace for each machine, and one more for the switch, so that this machine's own network stays as it is."""

    def __init__(self, hosts: tuple[str, ...], subnet: str = "10.99.0.") -> None:
        remove_left_over()
        self._hosts = hosts
        self._subnet = subnet
        self._prefix = f"{_PREFIX}{os.getpid()}-{next(_numbers)}-"
        atexit.register(self.close)
        self._add("switch")
        _ip("-n", self.namespace("switch"), "link", "add", "switch", "type", "bridge")
        _ip("-n", self.namespace("switch"), "link", "set", "switch", "up")
        for host in hosts:
            self._add(host)
            self._plug_in(host)

    def address(self, host: str) -> str:
        """See `Network`."""
        return f"{self._subnet}{self._hosts.index(host) + 1}"

    def namespace(self, host: str) -> str:
        """See `Network`."""
        return self._prefix + host

    def route(self, host: str, target: str, port: int) -> tuple[str, int]:
        """See `Network`."""
        return self.address(target), port

    def cut(self, host: str) -> None:
        """See `Network`."""
        self._set_port(host, "down")

    def mend(self, host: str) -> None:
        """See `Network`."""
        self._set_port(host, "up")

    @contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """See `Network`."""
        with Path("/proc/thread-self/ns/net").open() as before:
            enter_network(self.namespace(host))
            try:
                yield
            finally:
                _enter(before.fileno())

    def close(self) -> None:
        """See `Network`."""
        atexit.unregister(self.close)
        for host in ("switch", *self._hosts):
            _remove(self.namespace(host))

    def _add(self, host: str) -> None:
        _ip("netns", "add", self.namespace(host))
        _ip("-n", self.namespace(host), "link", "set", "lo", "up")

    def _plug_in(self, host: str) -> None:
        ours, switch = self.namespace(host), self.namespace("switch")
        _ip("-n", switch, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", ours)
        _ip("-n", switch, "link", "set", host, "master", "switch", "up")
        _ip("-n", ours, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
        _ip("-n", ours, "link", "set", "eth0", "up")

    def _set_port(self, host: str, state: str) -> None:
        _ip("-n", self.namespace("switch"), "link", "set", host, state)


class Cable:
    """A TCP relay that can be cut: while it is, nothing passes in either direction, and no connection ends."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self._whole = threading.Event()
        self._whole.set()
        self._connections: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def port(self) -> int:
        return int(self._server.getsockname()[1])

    def cut(self) -> None:
        """From now on nothing passes."""
        self._whole.clear()

    def mend(self) -> None:
        """What waited passes, and all that comes."""
        self._whole.set()

    def close(self) -> None:
        """Ends it."""
        self._whole.set()
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # closing alone does not wake who accepts
        self._accepting.join()
        self._server.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                theirs, _ = self._server.accept()
                try:
                    ours = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # what it leads to is not there at the moment
                    theirs.close()
                    continue
                self._connections += [theirs, ours]
                threading.Thread(target=self._pump, args=(theirs, ours, self.note), daemon=True).start()
                threading.Thread(target=self._pump, args=(ours, theirs, lambda _: None), daemon=True).start()

    def note(self, block: bytes) -> None:
        """Hears of what goes out, before it does."""

    def _pump(self, source: socket.socket, target: socket.socket, note: Callable[[bytes], None]) -> None:
        with suppress(OSError):
            while block := source.recv(65536):
                self._whole.wait()
                note(block)
                target.sendall(block)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def why_not() -> str:
    """Why there can be no namespaces here, as a sentence; empty where there can."""
    if shutil.which("ip") is None:
        return "There is no `ip` (iproute2) here."
    if os.geteuid() != 0:
        return "Network namespaces need root."
    probe = f"{_PREFIX}{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"`ip netns add` is not allowed here: {made.stderr.strip()}"
    _ip("netns", "delete", probe)
    return ""


def remove_left_over() -> None:
    """Removes the namespaces of processes that are gone."""
    for path in _NAMES.glob(f"{_PREFIX}*"):
        owner = int(path.name.removeprefix(_PREFIX).split("-")[0])
        if not Path(f"/proc/{owner}").exists():
            _remove(path.name)


def enter_network(name: str) -> None:
    """Moves this thread into a namespace, and all that it starts."""
    with (_NAMES / name).open() as file:
        _enter(file.fileno())


def be_machine(name: str) -> None:
    """Makes a process, with all that it starts, one of the machine that a namespace stands for: its host name too."""
    enter_network(name)
    _checked(ctypes.CDLL(None, use_errno=True).unshare(_NEW_HOST_NAME))
    socket.sethostname(name.rpartition("-")[2])


def _enter(descriptor: int) -> None:
    _checked(ctypes.CDLL(None, use_errno=True).setns(descriptor, _NEW_NET))


def _checked(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _remove(name: str) -> None:
    """A namespace with processes in it would outlive its name."""
    found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
    for pid in map(int, found.stdout.split()):
        with suppress(ProcessLookupError):
            if pid != os.getpid():
                os.kill(pid, signal.SIGKILL)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
