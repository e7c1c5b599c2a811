"""What one system has and another has not is used in `safe` alone: every other module runs the same everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.package_code import MODULES, tree_of
from tests.test_layers import layer_of, name_of

GONE = frozenset("fcntl grp msvcrt posix pty pwd readline resource spwd syslog termios tty winreg".split())  # noqa: SIM905
OF_OS = frozenset(
    """
    chown copy_file_range fchdir fchmod fchown fdatasync fork forkpty getegid geteuid getgid getgroups getloadavg
    getpgid getpgrp getpriority getsid getuid getxattr initgroups kill killpg lchown listxattr lockf major
    memfd_create minor mkfifo mknod nice open openpty pathconf pidfd_open pipe2 posix_fadvise posix_spawn pread preadv
    pwrite pwritev readv register_at_fork sched_getaffinity sched_setaffinity sendfile set_blocking setegid seteuid
    setgid setgroups setpgid setpriority setsid setuid setxattr startfile statvfs sync sysconf tcgetpgrp ttyname uname
    wait wait3 wait4 waitid waitpid writev name
    supports_dir_fd supports_fd supports_effective_ids supports_follow_symlinks
    """.split()  # noqa: SIM905
)
"""Also what every system has and does otherwise: `os.kill` with 0 ends a process on Windows, `os.open` reads text."""
OF_SIGNAL = frozenset({"alarm", "setitimer", "pthread_kill", "pthread_sigmask", "sigwait", "pause", "set_wakeup_fd"})
EVERYWHERE = frozenset({"SIGINT", "SIGTERM", "SIG_DFL", "SIG_IGN"})
OF_SELECT = frozenset({"poll", "epoll", "kqueue", "select"})
OF_TIME = frozenset({"clock_gettime", "clock_gettime_ns", "tzset"})
OF_SOCKET = frozenset({"AF_UNIX", "SO_REUSEADDR", "SO_REUSEPORT", "SO_PEERCRED", "SO_EXCLUSIVEADDRUSE"})
ARGUMENTS = frozenset({"dir_fd", "preexec_fn", "pass_fds", "start_new_session", "process_group", "creationflags"})


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """What in a module is not the same on every system, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            modules = names if isinstance(node, ast.Import) else [str(node.module)]
            for module in modules:
                if module.partition(".")[0] in GONE:
                    yield node.lineno, module
            if isinstance(node, ast.ImportFrom):
                yield from ((node.lineno, f"{node.module}.{name}") for name in names if differs(str(node.module), name))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if differs(node.value.id, node.attr):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in ARGUMENTS:
            yield node.lineno, f"{node.arg}="
        elif isinstance(node, ast.Constant) and node.value in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "SIGUSR1"):
            yield node.lineno, str(node.value)


def differs(module: str, name: str) -> bool:
    """True for a name of the standard library that some system lacks, or means otherwise."""
    if module == "os":
        return name in OF_OS or (name.startswith("O_") and name not in _OF_EVERY_OPEN)
    if module == "signal":
        return name in OF_SIGNAL or (name.startswith("SIG") and name not in EVERYWHERE)
    if module == "multiprocessing.context":
        return name.startswith("Fork")
    return name in {"select": OF_SELECT, "time": OF_TIME, "socket": OF_SOCKET}.get(module, ())


_OF_EVERY_OPEN = frozenset({"O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND"})


def test_what_differs_between_systems_is_used_in_safe_alone() -> None:
    elsewhere = [
        f"{name_of(path)}:{line} {what}"
        for path in MODULES
        if layer_of(name_of(path)) != "safe"
        for line, what in sorted(uses(tree_of(path)))
    ]
    assert elsewhere == []


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl",
        "from resource import getrlimit",
        "import os\nos.pread(3, 1, 0)",
        "from os import fork",
        "import os\nos.open('a', os.O_RDONLY | os.O_CLOEXEC)",
        "import os\nos.kill(1, 0)",
        "import signal\nsignal.SIGKILL",
        "import select\nselect.poll()",
        "import os\nos.stat('a', dir_fd=3)",
        "import subprocess\nsubprocess.Popen('a', start_new_session=True)",
        "import os\ngetattr(os, 'O_NOFOLLOW', 0)",
    ],
)
def test_each_such_use_is_seen(line: str) -> None:
    assert list(uses(ast.parse(line)))
