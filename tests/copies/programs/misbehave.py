"""A converter's program that does on purpose what real ones do by accident. Its first word says what.

misbehave.py MODE SOURCE TARGET
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

mode, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
if mode in ("good", "old"):
    target.write_bytes(source.read_bytes())
elif mode == "no-file":
    pass
elif mode == "empty":
    target.touch()
elif mode == "partial":
    target.write_bytes(source.read_bytes()[: max(1, source.stat().st_size // 2)])
elif mode == "wrong-format":
    target.write_bytes(b"%PDF-1.7\n" + bytes(40))
elif mode == "hang":
    time.sleep(3600)
elif mode == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
elif mode == "link":
    target.symlink_to("/etc/hostname")
elif mode == "fifo":
    os.mkfifo(target)
elif mode == "fork":
    # the child outlives the program and goes on writing what was judged
    target.write_bytes(source.read_bytes())
    child = """
import sys, time
with open(sys.argv[1], "ab") as file:
    while True:
        file.write(b"late")
        file.flush()
        time.sleep(0.01)
"""
    process = subprocess.Popen([sys.executable, "-c", child, str(target)], start_new_session=True)
    target.with_suffix(".pid").write_text(str(process.pid))
elif mode == "fill":
    with target.open("wb") as file:
        for _ in range(3):
            file.write(bytes(1024 * 1024))
elif mode == "fail":
    sys.exit(3)
