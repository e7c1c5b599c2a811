"""`noarkit runs forget`: removes the local data of the proven runs in a folder that no rule keeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.cli.exit_codes import ITEMS
from noarkit.cli.options import Session
from noarkit.cli.running import settings
from noarkit.words.texts import Texts, grouped, plain

if TYPE_CHECKING:
    from noarkit.retention.forgetting import ForgottenRun
    from noarkit.retention.policy import KeepPolicy

_COUNTED = ("last", "daily", "weekly", "monthly", "yearly")


def forget(session: Session, folder: Path, options: Mapping[str, object]) -> int:
    """A line for each run with what became of it and why, and the sums; 3 where files of others stay."""
    from noarkit.api.removing import forget_runs

    console, texts = session.console, session.texts
    dry_run = bool(options["dry_run"])
    removed = kept_count = size = 0
    code = 0
    runs = forget_runs(
        folder,
        _policy(options),
        because=str(options["because"] or ""),
        dry_run=dry_run,
        settings=settings(session, None),
    )
    for run in runs:
        console.show(run, _line(texts, run))
        kept_count += run.outcome == "kept"
        removed += run.outcome != "kept"
        size += run.size_bytes
        code = ITEMS if not run.is_complete else code
    key = "forget.would" if dry_run else "forget.done"
    console.notify(key, removed=grouped(removed), kept=grouped(kept_count), size=texts.size(size))
    console.count(removed=removed, kept=kept_count, bytes=size)
    return code


def _policy(options: Mapping[str, object]) -> KeepPolicy:
    from noarkit.retention.policy import KeepPolicy, parse_span

    within = options["keep_within"]
    within_s = parse_span(str(within), "--keep-within") if within else 0.0
    return KeepPolicy(within_s=within_s, **{name: int(str(options[f"keep_{name}"] or 0)) for name in _COUNTED})


def _line(texts: Texts, run: ForgottenRun) -> str:
    reasons = ", ".join(texts.say(f"forget.why.{name}") for name in run.reasons)
    proven = "" if run.proof is None else run.proof.at[:16].replace("T", " ")
    parts = [f"{plain(run.path):<32}", f"{texts.say(f'forget.{run.outcome}'):<14}", f"{proven:<16}"]
    if run.erasure is not None:
        parts.append(texts.size(run.erasure.receipt.inventory.size_bytes))
    return "  ".join([*parts, reasons]).rstrip()
