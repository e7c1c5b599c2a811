"""`noarkit plan`: reads a source, maps, checks and cuts; freezes the plan; sends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from noarkit import ingestion
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import is_run, no_run_named, require_run, settings, working
from noarkit.errors import UsageFault
from noarkit.load.folder import RunFolder
from noarkit.load.plan import PlanResult
from noarkit.load.sealing import Packed
from noarkit.report import plan_report
from noarkit.report.lists import NOT_IN_ARCHIVE
from noarkit.sources.opening import PLACES
from noarkit.words.texts import grouped

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
_MOST_SHOWN = 5
_WAYS = {"in": "incoming", "out": "outgoing"}


@command("plan", exits=(3, 4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("-o", "--output", type=FOLDER, metavar="RUN")
@option("--recipe", type=FILE, metavar="FILE")
@option("--source-kind", type=click.Choice(tuple(PLACES)))
@option("--hash", "hash_contents", is_flag=True)
@option("--since", type=FOLDER, metavar="RUN")
@option("--strict", is_flag=True)
@option("--accept-loss", metavar="FIELD", multiple=True)
@option("--take-incomplete", is_flag=True)
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
@option("--shallow-root", type=FOLDER, metavar="DIR")
@option("--no-carry", is_flag=True)
@option("--archive", metavar="URL", variable=None)
@option("--pack", type=click.Path(path_type=Path), metavar="BUNDLE")
@option("--seal-key", type=FILE, metavar="FILE", variable=None)
@option("--trust-key", type=FILE, metavar="FILE", multiple=True, variable=None)
def plan_command(
    session: Session,
    source: str,
    *,
    output: Path | None,
    recipe: Path | None,
    source_kind: str | None,
    hash_contents: bool,
    since: Path | None,
    strict: bool,
    accept_loss: tuple[str, ...],
    take_incomplete: bool,
    despite_damage: bool,
    encoding: str | None,
    shallow_root: Path | None,
    no_carry: bool,
    archive: str | None,
    pack: Path | None,
    seal_key: Path | None,
    trust_key: tuple[Path, ...],
) -> int:
    """Makes a plan and says what it holds; packs it, where that is wished."""
    output = _run_wanted(session, source, output, pack)
    fresh = not is_run(output)
    if since is not None:
        require_run(since)
    with working(session) as work:
        planned = ingestion.plan(
            source,
            output,
            recipe=recipe,
            source_kind=source_kind,
            hash_contents=hash_contents,
            since=since,
            strict=strict,
            accept_loss=accept_loss,
            take_incomplete=take_incomplete,
            despite_damage=despite_damage,
            encoding=encoding,
            shallow_root=shallow_root,
            carry=not no_carry,
            archive=archive,
            pack=pack,
            seal_key=seal_key,
            trust_key=trust_key or None,
            settings=settings(session, None),
            tell=work.tell,
        )
    if fresh or planned.packed is None:
        tell_plan(session, planned, packed=planned.packed is not None)
    if planned.packed is not None:
        _tell_packed(session, planned.packed)
    left_out = planned.records.get("set_aside") or (planned.packed is not None and planned.packed.left_out)
    return 3 if left_out else 0


def _run_wanted(session: Session, source: str, output: Path | None, pack: Path | None) -> Path:
    """The run that is meant: a new one, or one that stands and is to be packed."""
    if output is None and pack is not None and is_run(Path(source)):
        return Path(source)
    if output is None:
        no_run_named(session, source, "plan")
    if is_run(output) and pack is None:
        raise UsageFault(what="plan-exists", where=str(output))
    return output


def _tell_packed(session: Session, packed: Packed) -> None:
    """Where the bundle lies, whose seal it bears, and what the other side does with it."""
    told = session.texts
    lines = [
        told.say("pack.stood" if packed.already_packed else "pack.made", path=packed.path),
        told.say("pack.holds", count=packed.documents, size=told.size(packed.size_bytes)),
    ]
    if packed.left_out:
        lines.append(told.say("pack.left-out", count=packed.left_out))
    lines.append(told.say("key.fingerprint", fingerprint=packed.fingerprint))
    lines.append(told.say("pack.next", name=packed.path.name))
    session.face.result(
        "packed",
        "\n".join(lines),
        path=str(packed.path),
        id=packed.id,
        seal=packed.seal_sha256,
        documents=packed.documents,
        left_out=packed.left_out,
        bytes=packed.size_bytes,
        fingerprint=packed.fingerprint,
        stood=packed.already_packed,
    )


def _noted(session: Session, folder: RunFolder) -> Iterator[str]:
    """What a person should know before loading, and what nobody could check."""
    told, facts = session.texts, plan_report(folder)
    for one in facts.get("skipped", [])[:_MOST_SHOWN]:
        yield told.say("plan.skipped-why", count=int(one["count"]), why=one["reason"])
    journal = facts.get("journal", {})
    if any(journal.values()):
        yield told.say("plan.journal", **{_WAYS.get(name, name): count for name, count in journal.items()})
    warnings = [(str(one["code"]), int(one["count"])) for one in facts.get("warnings", [])]
    if warnings:
        codes = ", ".join(f"{code} {grouped(count)}" for code, count in warnings)
        yield told.say("plan.noted", count=sum(count for _, count in warnings), codes=codes)
    screening = facts.get("screening", {})
    if screening.get("screened") or screening.get("undecided"):
        yield told.say("plan.screened", count=screening["screened"])
    if screening.get("undecided"):
        yield told.say("plan.undecided", kinds=", ".join(screening["undecided"]))
    lost = facts.get("not_in_archive", {})
    if lost.get("values"):
        first = ", ".join(str(one["element"]) for one in lost["elements"][:_MOST_SHOWN])
        more = " …" if lost["fields"] > _MOST_SHOWN else ""
        list_ = folder.path / NOT_IN_ARCHIVE
        yield told.say("plan.lost", values=lost["values"], fields=lost["fields"], names=first + more, list=list_)
    carried = lost.get("carried", {})
    if carried.get("values"):
        yield told.say("plan.carried", values=carried["values"], fields=carried["fields"])
    written = lost.get("in_documents", {})
    if written.get("values"):
        list_ = folder.path / NOT_IN_ARCHIVE
        yield told.say("plan.in-documents", values=written["values"], fields=written["fields"], list=list_)
    moved = facts.get("context", {}).get("reappeared_count", 0)
    if moved:
        yield told.say("plan.moved", count=moved)
    hints = facts.get("context", {}).get("hints", 0)
    if hints:
        yield told.say("plan.hints", count=hints)
    drift = facts.get("context", {}).get("drift", [])
    if drift:
        shown = ", ".join(f"{stream}.{field} {told.say(f'drift.{how}')}" for stream, field, how in drift[:_MOST_SHOWN])
        yield told.say("plan.drift", count=len(drift), fields=shown + (" …" if len(drift) > _MOST_SHOWN else ""))
    if not facts.get("context", {}).get("asked"):
        yield told.say("plan.unasked")


def tell_plan(session: Session, planned: PlanResult, *, packed: bool = False, loading: bool = False) -> None:
    """What a plan holds, in a few lines; one that is packed is loaded elsewhere, one that is `loading` at once."""
    face, told, folder = session.face, session.texts, planned.folder
    count = {name: planned.records.get(name, 0) for name in ("mapped", "already_there", "set_aside", "skipped")}
    made = ", ".join(f"{grouped(number)} {kind}" for kind, number in planned.entities.items())
    lines = [told.say("plan.read", count=sum(planned.records.values()), made=made or "–")]
    lines += [told.say(f"plan.{name}", count=count[name]) for name in count if name != "mapped" and count[name]]
    lines += _noted(session, folder)
    lines.append(
        told.say("plan.cut", shards=planned.shards, chunks=grouped(planned.chunks), size=told.size(planned.bytes))
    )
    if not loading:
        lines.append(told.say("plan.frozen", path=folder.graph, sha256=planned.sha256))
    lines.append(told.say("plan.look", path=folder.path / "plan.html"))
    if not packed and not loading:
        lines.append(told.say("plan.next", run=folder.path))
    face.result(
        "plan",
        "\n".join(lines),
        run=folder.name,
        sha256=planned.sha256,
        records=dict(planned.records),
        entities=dict(planned.entities),
        bytes=planned.bytes,
        chunks=planned.chunks,
        shards=planned.shards,
    )
    face.count(run=folder.name, read=sum(planned.records.values()), bytes=planned.bytes)
    face.count(set_aside=count["set_aside"], skipped=count["skipped"], already_there=count["already_there"])
