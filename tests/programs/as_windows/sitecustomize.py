"""Makes this machine look like Windows to noarkit, in every interpreter that finds this folder on its path.

Modules of noarkit, and they alone, are given an `import` of their own: modules that Windows has not are not there, the
others lack what they lack there, and what works otherwise there (folders that cannot be opened, files that are text
unless they are opened as bytes, signals that end a process) fails in the same way. Libraries see the machine as it is,
as they bring their own ways for Windows; but a file that this process has open can nobody remove or replace.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import os
import stat
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

_GONE = frozenset("fcntl grp posix pty pwd readline resource spwd syslog termios tty uvloop".split())  # noqa: SIM905
_MISSING = {
    "os": """
        chown chroot confstr copy_file_range ctermid eventfd fchdir fchmod fchown fdatasync fork forkpty
        fpathconf fwalk getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid
        getxattr initgroups killpg lchown listxattr lockf major makedev memfd_create minor mkfifo mknod nice openpty
        pathconf pidfd_open pipe2 plock posix_fadvise posix_fallocate posix_spawn pread preadv pwrite pwritev readv
        register_at_fork removexattr sched_getaffinity sched_setaffinity sched_yield sendfile set_blocking setegid
        seteuid setgid setgroups setpgid setpriority setresuid setsid setuid setxattr splice statvfs sync sysconf
        tcgetpgrp ttyname uname wait wait3 wait4 waitid writev WNOHANG WEXITED EX_OK
        O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NDELAY O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC
        O_TMPFILE POSIX_FADV_DONTNEED POSIX_FADV_SEQUENTIAL SEEK_DATA SEEK_HOLE
    """,
    "signal": """
        SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1 SIGUSR2 SIGWINCH
        SIGXCPU SIGXFSZ ITIMER_REAL alarm getitimer pause pidfd_send_signal pthread_kill pthread_sigmask setitimer
        siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
    """,
    "select": "EPOLLIN POLLERR POLLHUP POLLIN POLLOUT epoll poll",
    "socket": "AF_UNIX SO_PEERCRED SO_REUSEPORT CMSG_LEN send_fds recv_fds",
    "time": "CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_REALTIME clock_gettime clock_gettime_ns clock_getres tzset",
    "mmap": "MADV_DONTNEED MADV_SEQUENTIAL MADV_WILLNEED MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE",
    "multiprocessing.context": "ForkContext ForkProcess ForkServerContext ForkServerProcess",
    "multiprocessing": "",
    "multiprocessing.connection": "",
    "subprocess": "",
    "ctypes": "",
    "sys": "abiflags getdlopenflags setdlopenflags",
}
_BINARY, _NO_INHERIT = 1 << 40, 1 << 41
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_TIMED_OUT, _SIGNALED = 258, 0
_LOCKED_BYTE_FROM = 0x1000_0000  # a lock on the first bytes of a file would keep others from reading them
_EXCLUSIVE = 0xFFFFFFFB


class Substitute(ModuleType):
    """A module as Windows has it: what is `missing` there is not found, what is `changed` is another."""

    def __init__(self, real: ModuleType, missing: frozenset[str], changed: dict[str, object]) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(_real=real, _missing=missing, _changed=changed)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_changed"]:
            return self.__dict__["_changed"][name]
        if name in self.__dict__["_missing"]:
            raise AttributeError(f"{self.__name__}.{name} is not there on Windows")
        return getattr(self.__dict__["_real"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_real"], name, value)


class _SocketsOnly:
    """`select.select`, which knows nothing but sockets there."""

    def __call__(self, *sets: Any) -> Any:
        import select

        for waiting in sets[:3]:
            for item in waiting:
                if not stat.S_ISSOCK(os.fstat(item if isinstance(item, int) else item.fileno()).st_mode):
                    raise OSError(10038, "an operation was attempted on something that is not a socket")
        return select.select(*sets)


def _open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if not flags & _BINARY:
        raise AssertionError(f"{path!r} would be opened as text, and its line ends changed")
    if os.path.isdir(path):  # noqa: PTH112
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return os.open(path, flags & ~(_BINARY | _NO_INHERIT), mode)


def _without_descriptors(name: str) -> Any:
    real = getattr(os, name)

    def call(path: Any = ".", *words: Any, dir_fd: int | None = None, **options: Any) -> Any:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if isinstance(path, int) and name != "stat":
            raise TypeError(f"{name}: path should be string, bytes or os.PathLike, not int")
        return real(path, *words, **options)

    return call


def _fsync(descriptor: Any) -> None:
    import fcntl

    number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
    if fcntl.fcntl(number, fcntl.F_GETFL) & _ACCESS == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    os.fsync(number)


def _kill(process: int, number: int) -> None:
    import signal

    if number != signal.SIGTERM:
        raise AssertionError(f"signal {number} to {process}: any number but that of Ctrl-C ends a process there")
    os.kill(process, signal.SIGKILL)


def _symlink(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "A required privilege is not held by the client")


def _locking(descriptor: int, mode: int, size: int) -> None:
    import fcntl

    if os.lseek(descriptor, 0, os.SEEK_CUR) < _LOCKED_BYTE_FROM:
        raise AssertionError("nobody else could read what is locked")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(errno.EACCES, "Permission denied") from error


class _Kernel:
    """The calls of the system that ask whether a process is there."""

    class _Call:
        restype: object = None

        def __init__(self, call: Any) -> None:
            self._call = call

        def __call__(self, *words: Any) -> Any:
            return self._call(*words)

    def __init__(self, *_: object, **__: object) -> None:
        self.OpenProcess = self._Call(lambda _access, _inherits, process: process if _is_there(process) else None)
        self.WaitForSingleObject = self._Call(lambda handle, _: _TIMED_OUT if _is_there(handle.value) else _SIGNALED)
        self.CloseHandle = self._Call(lambda _: 1)


def _is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _changed(name: str) -> dict[str, object]:
    """What works otherwise there."""
    if name == "os":
        names = ("access", "chmod", "listdir", "lstat", "mkdir", "rename", "scandir", "stat", "unlink", "utime")
        plain: dict[str, object] = {each: _without_descriptors(each) for each in names}
        return plain | {
            "name": "nt",
            "open": _open,
            "fsync": _fsync,
            "kill": _kill,
            "symlink": _symlink,
            "supports_dir_fd": set(),
            "supports_fd": set(),
            "supports_effective_ids": set(),
            "O_BINARY": _BINARY,
            "O_NOINHERIT": _NO_INHERIT,
        }
    if name == "sys":
        return {"platform": "win32"}
    if name == "signal":
        import signal

        return {"SIGBREAK": signal.SIGUSR2}
    if name == "select":
        return {"select": _SocketsOnly()}
    if name == "socket":
        import socket

        return {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR}
    if name == "multiprocessing.connection":
        from multiprocessing.connection import Connection

        return {"PipeConnection": Connection}
    if name == "multiprocessing":
        return {"get_context": _context}
    if name == "ctypes":
        return {"WinDLL": _Kernel, "get_last_error": lambda: 0, "CDLL": None}
    if name == "subprocess":
        return _programs()
    return {}


def _context(method: str | None = None) -> Any:
    import multiprocessing

    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r}")
    return multiprocessing.get_context("spawn")


def _programs() -> dict[str, object]:
    import subprocess

    class Popen(subprocess.Popen[Any]):
        def __init__(self, *words: Any, creationflags: int = 0, **options: Any) -> None:
            for name in ("pass_fds", "preexec_fn", "start_new_session", "process_group"):
                assert not options.get(name), f"{name} is not supported on Windows"
            super().__init__(*words, start_new_session=bool(creationflags), **options)

    return {"Popen": Popen, "CREATE_NEW_PROCESS_GROUP": 0x200, "CREATE_NO_WINDOW": 0x8000000}


def _msvcrt() -> ModuleType:
    module = ModuleType("msvcrt")
    module.__dict__.update(locking=_locking, LK_LOCK=1, LK_NBLCK=2, LK_UNLCK=0)
    return module


_SUBSTITUTES: dict[str, ModuleType] = {}


def _substitute(name: str) -> ModuleType:
    if name not in _SUBSTITUTES:
        if name == "msvcrt":
            _SUBSTITUTES[name] = _msvcrt()
        else:
            real = importlib.import_module(name)
            _SUBSTITUTES[name] = Substitute(real, frozenset(_MISSING[name].split()), _changed(name))
    return _SUBSTITUTES[name]


def _import(name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """The `import` of noarkit."""
    if name.partition(".")[0] in _GONE:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    wanted = name if fromlist else name.partition(".")[0]
    if level == 0 and (wanted in _MISSING or wanted == "msvcrt"):
        if wanted != "msvcrt":
            builtins.__import__(name, globals_, locals_, fromlist, level)  # what is a module itself is loaded
        return _substitute(wanted)
    return builtins.__import__(name, globals_, locals_, fromlist, level)


_BUILTINS = {**vars(builtins), "__import__": _import}


class _ForWindows(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As usual."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """With an `import` of its own."""
        module.__dict__["__builtins__"] = _BUILTINS
        self._loader.exec_module(module)
        if module.__name__ == "noarkit.safe.windows":
            module.__dict__["extended"] = str  # our disks know no such form

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The modules of noarkit."""
        if fullname.partition(".")[0] != "noarkit":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _ForWindows(spec.loader)
        return spec


def _guard_open_files() -> None:
    """Nothing that is open is removed or replaced, and no rename replaces what is there."""

    def guarded(name: str) -> Any:
        real = getattr(os, name)

        def call(path: Any, *words: Any, **options: Any) -> Any:
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if caller != "tempfile" and not options:
                for place in (path, *words[:1]) if name in ("rename", "replace") else (path,):
                    _refuse_open(os.fspath(place))
                if name == "rename" and os.path.lexists(words[0]):
                    raise FileExistsError(errno.EEXIST, "File exists", os.fspath(path), None, os.fspath(words[0]))
            return real(path, *words, **options)

        return call

    for name in ("unlink", "remove", "rename", "replace", "rmdir"):
        setattr(os, name, guarded(name))


def _refuse_open(path: Any) -> None:
    folder, name = os.path.split(os.fsdecode(path))
    whole = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118  # a link itself is no open file
    below = whole + "/"
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            place = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
        except OSError:
            continue
        if place == whole or place.startswith(below):
            raise PermissionError(errno.EACCES, "The process cannot access the file: it is open", path)


def _note_start() -> None:
    """Whoever asks where all this took hold reads it in the file of that name."""
    place = os.environ.get("AS_WINDOWS_STARTS")
    if place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(" ".join(sys.orig_argv[1:]) + "\n")


for _name in ("magic", "pylibmagic"):  # nobody publishes libmagic for Windows in a wheel of this age
    sys.modules[_name] = None  # type: ignore[assignment]  # as if it were not there
sys.meta_path.insert(0, _Finder())
_note_start()
_guard_open_files()
