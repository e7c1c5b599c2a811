"""Users and groups of the machine: who runs this process, and whose a file is. Windows tells of neither by number."""

from __future__ import annotations

import getpass
import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import grp
    import pwd

OTHERS = 0o077


def user_name(number: int) -> str:
    """The name of a user; raises `KeyError` where it has none."""
    if sys.platform != "win32":
        return pwd.getpwuid(number).pw_name
    raise KeyError(number)


def group_name(number: int) -> str:
    """The name of a group; raises `KeyError` where it has none."""
    if sys.platform != "win32":
        return grp.getgrgid(number).gr_name
    raise KeyError(number)


def own_name() -> str:
    """The user of this process as the system knows it, its number where it has no name.

    What the environment says anybody could have written; on Windows, there is nothing else.
    """
    if sys.platform == "win32":
        with suppress(OSError, KeyError, ImportError):
            return getpass.getuser()
        return "?"
    number = os.getuid()
    try:
        return user_name(number)
    except KeyError:
        return str(number)


def account_name() -> str:
    """The name of the account that runs this process; its number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return own_name()


def user_state(environment: Mapping[str, str]) -> Path:
    """Returns the state folder of this user: that of the service manager, or else the usual one."""
    state_home = environment.get("STATE_DIRECTORY", "").split(os.pathsep)[0] or environment.get("XDG_STATE_HOME")
    home = Path(environment.get("HOME") or Path.home())
    return (Path(state_home) if state_home else home / ".local" / "state") / "noarkit"


def is_root() -> bool:
    """True for the administrator of the system, where it has one by number."""
    return sys.platform != "win32" and os.geteuid() == 0


def is_own(status: os.stat_result) -> bool:
    """True if a file belongs to the user of this process; also where the system does not tell."""
    return sys.platform == "win32" or status.st_uid == os.geteuid()


def is_open_to_others(status: os.stat_result, rights: int = OTHERS) -> bool:
    """True if others have one of the `rights` to a file; never where rights are not told by such bits."""
    return sys.platform != "win32" and bool(stat.S_IMODE(status.st_mode) & rights)


def is_trusted_owner(status: os.stat_result) -> bool:
    """True if a file belongs to the user of this process or to the administrator."""
    return sys.platform == "win32" or status.st_uid in (os.geteuid(), 0)


def give_to(number: int, path: Path) -> None:
    """Makes a user, and its group of the same number, the owner of a file, of a link itself."""
    if sys.platform != "win32":
        os.chown(path, number, number, follow_symlinks=False)


def take_over(path: Path) -> None:
    """Makes the user of this process the owner of a file."""
    if sys.platform != "win32":
        os.chown(path, os.geteuid(), os.getegid())
