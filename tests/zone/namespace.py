"""A network namespace of one's own, in which there is nothing but loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

import pytest

_UP = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    fcntl.ioctl(line, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def alone(command: Sequence[str]) -> list[str]:
    """The same command where nothing else can be reached. Skips a test where the system has no such thing."""
    way = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if shutil.which("unshare") is None or subprocess.run([*way, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system makes no network namespaces for us (unshare --net)")
    return [*way, sys.executable, "-c", _UP, *command]
