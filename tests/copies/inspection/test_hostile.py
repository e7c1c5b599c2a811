"""Documents made to hurt cost little: each is inspected within ten seconds, all of them in 1 GB of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from noarkit.copies.inspection import inspect
from noarkit.copies.port import Failure, Identity
from noarkit.copies.reasons import Reason
from tests.copies.corpus.hostile import HOSTILE

_LOOK = """
import json, resource, signal, sys, time
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (1024**3, 1024**3))
from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import inspect
took = {}
with Identifier() as identifier:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        signal.alarm(60)
        begun = time.process_time()
        inspect(path, identifier.identify(path, path.name))
        took[path.name] = time.process_time() - begun
print(json.dumps(took))
"""
_MOST_SECONDS = 10.0


def test_what_is_made_to_hurt_is_looked_at_in_little_time_and_memory(tmp_path: Path) -> None:
    assert len(HOSTILE) >= 40
    for name, build in HOSTILE.items():
        (tmp_path / name).write_bytes(build())
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    told = subprocess.run([sys.executable, "-c", _LOOK, str(tmp_path)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    took = json.loads(told.stdout)
    assert took.keys() == HOSTILE.keys()
    assert {name: seconds for name, seconds in took.items() if seconds > _MOST_SECONDS} == {}
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_tiff_whose_later_pages_are_missing_is_cut_off(tmp_path: Path) -> None:
    from PIL import Image

    pictures = [Image.effect_noise((120, 90), 60).convert("RGB") for _ in range(3)]
    whole = tmp_path / "whole.tif"
    pictures[0].save(whole, save_all=True, append_images=pictures[1:], compression="tiff_lzw")
    content = whole.read_bytes()
    identity = Identity("fmt/353", "image/tiff", "tif", "signature")
    assert isinstance(inspect(whole, identity), tuple)
    for share in (0.4, 0.6, 0.95):
        cut = tmp_path / "cut.tif"
        cut.write_bytes(content[: int(len(content) * share)])
        outcome = inspect(cut, identity)
        assert isinstance(outcome, Failure) and outcome.reason is Reason.CUT_OFF, share
