"""`noarkit plan`: reads a source, maps, checks and cuts; freezes the plan; sends nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any  # facts of a page, plain JSON

import click

from noarkit.api.origins import check_same_source, is_bundle
from noarkit.api.planning import plan_with
from noarkit.cli.estimate import print_estimate
from noarkit.cli.line_names import value_on_line
from noarkit.cli.next_command import is_within_project, next_command
from noarkit.cli.option_values import options_of
from noarkit.cli.options import FILE, FOLDER, Session, command, option
from noarkit.cli.register_lines import ODDITIES, register_lines
from noarkit.cli.running import CommandWork, refuse_missing_run, require_run, settings, working
from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import command_line
from noarkit.loading.options import PlanOptions
from noarkit.loading.plan import PackResult, PlanResult
from noarkit.places import is_run
from noarkit.reports import has_plan_page, plan_report
from noarkit.reports.lists import MAIL_LIST, NOT_IN_ARCHIVE, OTHER_VALUES, REGISTER_LIST
from noarkit.reports.meeting_words import keeps_values, meeting_lines
from noarkit.settings import Settings, resolve_settings
from noarkit.words.texts import Texts, grouped

_MOST_SHOWN = 5
_WAYS = {"in": "incoming", "out": "outgoing"}
_PLUMBING = frozenset({"EksternId", "Dokumentversjon"})
"""Types that come with others and tell a records manager nothing of their own: each key, each file of a document."""


@command("plan", exits=(3, 4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("-o", "--output", type=FOLDER, metavar="RUN")
@options_of(options=PlanOptions)
@option("--estimate", "estimates", is_flag=True)
@option("--pack", type=click.Path(path_type=Path), metavar="BUNDLE")
@option("--seal-key", type=FILE, metavar="FILE", variable=None)
def plan_command(
    session: Session,
    /,
    source: str,
    *,
    output: Path | None,
    options: PlanOptions,
    estimates: bool,
    pack: Path | None,
    seal_key: Path | None,
) -> int:
    """Makes a plan and says what it holds; packs it, where that is wished."""
    output = _require_output(session, source, output, pack)
    fresh = not is_run(output) or (Path(source) != output and not has_plan_page(RunFolder(output)))
    require_earlier_runs(options)
    final_settings = resolve_settings(options.archive, settings(session, None))
    if is_received_bundle(source, options):
        code = _receive(session, source, output, options, final_settings)
        return _with_estimate(session, output, final_settings, code) if estimates else code
    with working(session) as work:
        _check_seal_key(final_settings, seal_key, pack)
        if fresh:
            result = plan_with(source, RunFolder(output), options, final_settings, work.emit)
        else:
            result = _planned_before(RunFolder(output), source)
        is_strict = options.strict
        bundle = _pack(work, output, pack, seal_key, strict=is_strict, settings=final_settings) if pack else None
    code = _print_planned(session, result, bundle, is_known=not fresh)
    return _with_estimate(session, output, final_settings, code) if estimates else code


def require_earlier_runs(options: PlanOptions) -> None:
    """Raises `UsageFault` for an earlier run that is named and is none."""
    for earlier in (options.since, options.same_as):
        if earlier is not None:
            require_run(Path(earlier))


def is_received_bundle(source: str, options: PlanOptions) -> bool:
    """True for a sealed bundle, which is proven and not planned; the key may be that of a folder of copies, too."""
    return is_bundle(source) or (bool(options.trust_key) and options.copies is None)


def _check_seal_key(settings: Settings, seal_key: Path | None, pack: Path | None) -> None:
    """A key that cannot be read is told before hours of planning."""
    if pack is not None:
        from noarkit.api import keys

        keys.signer(settings, seal_key)


def _with_estimate(session: Session, run: Path, settings: Settings, code: int) -> int:
    """Tells how long the load of the plan will take, after what it holds."""
    from noarkit.api.estimating import estimate

    with working(session) as work:
        result = estimate(run, settings=settings, listener=work.emit)
    print_estimate(session, result)
    return code


def _receive(session: Session, bundle: str, run: Path, options: PlanOptions, settings: Settings) -> int:
    from noarkit.api import bundles

    with working(session) as work:
        trust = options.trust_key or None
        result = bundles.receive(bundle, run, trust_key=trust, settings=settings, listener=work.emit)
    return _print_planned(session, result, None)


def _pack(
    work: CommandWork, run: Path, target: Path, seal_key: Path | None, *, strict: bool, settings: Settings
) -> PackResult:
    from noarkit.api import bundles

    return bundles.pack(run, target, seal_key=seal_key, strict=strict, settings=settings, listener=work.emit)


def _print_planned(session: Session, result: PlanResult, bundle: PackResult | None, *, is_known: bool = False) -> int:
    """What was planned, unless an earlier command said so, and the bundle that it was packed into."""
    if bundle is None or not is_known:
        print_plan(session, result, packed=bundle is not None)
    if bundle is not None:
        _print_bundle(session, bundle)
    return 3 if result.records.get("set_aside") or (bundle is not None and bundle.left_out) else 0


def _planned_before(folder: RunFolder, source: str) -> PlanResult:
    """The plan that exists and is to be packed; it must be of the source named."""
    from noarkit.airgap.receiving import read_plan_result

    if Path(source) != folder.path:
        check_same_source(folder, source)
    return read_plan_result(folder)


def _require_output(session: Session, source: str, output: Path | None, pack: Path | None) -> Path:
    """The run that is meant: a new one, or one that stands and is to be packed."""
    if output is None and pack is not None and is_run(Path(source)):
        return Path(source)
    if output is None:
        refuse_missing_run(session, source, "plan")
    if is_run(output) and pack is None and has_plan_page(RunFolder(output)):
        load = next_command("ingest", output, run=RunFolder(output))
        raise UsageFault(what="plan-exists", where=str(output), load=load)
    return output


def _print_bundle(session: Session, packed: PackResult) -> None:
    """Where the bundle lies, whose seal it bears, and what the other side does with it."""
    texts = session.texts
    lines = [
        texts.say("pack.stood" if packed.already_packed else "pack.made", path=packed.path),
        texts.say("pack.holds", count=packed.documents, size=texts.size(packed.size_bytes)),
    ]
    if packed.left_out:
        lines.append(texts.say("pack.left-out", count=packed.left_out))
    lines.append(texts.say("key.fingerprint", fingerprint=packed.fingerprint))
    run, key = packed.path.name.partition(".")[0], value_on_line("seal_key") or session.config().seal.key
    there = command_line("ingest", packed.path.name, "-o", run, "--trust-key", f"{Path(key or run).name}.pub")
    lines.append(texts.say("pack.next", command=shlex.join(there)))
    session.console.show(packed, "\n".join(lines))


def _plan_notes(session: Session, folder: RunFolder) -> Iterator[str]:
    """What a person should know before loading, and what nobody could check."""
    texts, facts = session.texts, plan_report(folder)
    for entry in facts.get("skipped", [])[:_MOST_SHOWN]:
        yield texts.say("plan.skipped-why", count=int(entry["count"]), why=entry["reason"])
    journal = facts.get("journal", {})
    if any(journal.values()):
        yield texts.say("plan.journal", **{_WAYS.get(name, name): count for name, count in journal.items()})
    if (domains := facts.get("mail_owner")) is not None:
        yield texts.say("plan.mail-owner" if domains else "plan.no-mail-owner", domains=", ".join(domains))
    if dates := facts.get("date_evidence"):
        counts = ", ".join(texts.say(f"plan.dates-{entry['evidence']}", count=entry["count"]) for entry in dates)
        yield texts.say("plan.dates", told=counts)
    yield from _column_lines(texts, facts.get("source_columns") or {})
    if register := facts.get("register"):
        yield from register_lines(texts, register)
        if any(register[name] for name in ODDITIES):
            yield texts.say("plan.register-list", list=folder.path / REGISTER_LIST)
    yield from _mail_lines(texts, facts.get("mail_filing"), folder)
    warnings = [(str(entry["code"]), int(entry["count"])) for entry in facts.get("warnings", [])]
    if warnings:
        codes = ", ".join(f"{code}: {grouped(count)}" for code, count in warnings)
        yield texts.say("plan.noted", count=sum(count for _, count in warnings), codes=codes)
    if facts.get("copies"):
        yield texts.say("plan.copies", **facts["copies"])
    if (facts.get("copies") or {}).get("access"):
        yield texts.say("plan.access-copies", **facts["copies"])
    screening = facts.get("screening", {})
    if screening.get("screened") or screening.get("undecided"):
        yield texts.say("plan.screened", **screening["units"])
    if screening.get("undecided"):
        yield texts.say("plan.undecided", kinds=", ".join(screening["undecided"]))
    lost_facts = facts.get("not_in_archive", {})
    if lost_facts.get("values"):
        first = ", ".join(str(entry["element"]) for entry in lost_facts["elements"][:_MOST_SHOWN])
        more = " …" if lost_facts["fields"] > _MOST_SHOWN else ""
        list_ = folder.path / NOT_IN_ARCHIVE
        yield texts.say(
            "plan.lost", values=lost_facts["values"], fields=lost_facts["fields"], names=first + more, list=list_
        )
    carried_facts = lost_facts.get("carried", {})
    if carried_facts.get("values"):
        yield texts.say("plan.carried", values=carried_facts["values"], fields=carried_facts["fields"])
    document_facts = lost_facts.get("in_documents", {})
    if document_facts.get("values"):
        list_ = folder.path / NOT_IN_ARCHIVE
        yield texts.say(
            "plan.in-documents", values=document_facts["values"], fields=document_facts["fields"], list=list_
        )
    moved_count = facts.get("context", {}).get("reappeared_count", 0)
    if moved_count:
        yield texts.say("plan.moved", count=moved_count)
    hints = facts.get("context", {}).get("hints", 0)
    if hints:
        yield texts.say("plan.hints", count=hints)
    yield from _drift_lines(texts, facts.get("context", {}).get("drift", []))
    if not facts.get("context", {}).get("asked"):
        yield texts.say("plan.unasked")


def _drift_lines(texts: Texts, drift: Sequence[Sequence[str]]) -> Iterator[str]:
    """What a service has changed of its own fields."""
    if drift:
        names = ", ".join(f"{stream}.{field} {texts.say(f'drift.{how}')}" for stream, field, how in drift[:_MOST_SHOWN])
        yield texts.say("plan.drift", count=len(drift), fields=names + (" …" if len(drift) > _MOST_SHOWN else ""))


def _column_lines(texts: Texts, columns: Mapping[str, Any]) -> Iterator[str]:
    """What the source has and the plan does not take: columns, and the numbers and dates that go with them."""
    if unused := columns.get("unused"):
        names = ", ".join(
            f"{one['table']}.{one['column']} ({texts.say('plan.looks-' + one['look'])})" for one in unused
        )
        yield texts.say("plan.columns", count=len(unused), names=names)
    for name in ("unnumbered", "undated", "still_open", "without_correspondent"):
        if columns.get(name):
            yield texts.say(f"plan.{name}", count=columns[name])


def _other_values(session: Session, folder: RunFolder, facts: Mapping[str, Any]) -> Iterator[str]:
    """What has other values in the source than earlier runs loaded, and where all of it is listed."""
    texts, meeting = session.texts, facts.get("meeting")
    yield from (texts.say("plan.other-values", told=line) for line in meeting_lines(meeting, texts))
    if keeps_values(meeting):
        yield texts.say("plan.other-values-stay", list=folder.path / OTHER_VALUES)


def _mail_lines(texts: Texts, counts: Mapping[str, int] | None, folder: RunFolder) -> Iterator[str]:
    """How mails were filed by case number, where they were."""
    if counts:
        yield texts.say("plan.mail-filing", **counts)
        others = [name for name in ("no_number", "unknown", "several") if counts[name]]
        if others:
            reasons = ", ".join(texts.say(f"plan.mail-filing-{name}", count=counts[name]) for name in others)
            yield texts.say("plan.mail-filing-others", told=reasons, list=folder.path / MAIL_LIST)


def print_plan(session: Session, result: PlanResult, *, packed: bool = False, loading: bool = False) -> None:
    """What a plan holds, in a few lines; one that is packed is loaded elsewhere, one that is `loading` at once."""
    console, texts, folder = session.console, session.texts, result.folder
    read = sum(result.records.values())
    count = {name: result.records.get(name, 0) for name in ("mapped", "already_there", "set_aside", "skipped")}
    is_told_all = console.verbosity > 0
    entity_counts = ", ".join(
        f"{grouped(number)} {kind}" for kind, number in result.entities.items() if is_told_all or kind not in _PLUMBING
    )
    lines = [texts.say("plan.read", count=read, made=entity_counts or "–")]
    facts = plan_report(folder)
    changed = (facts.get("meeting") or {}).get("with_documents")
    if facts.get("meeting"):
        lines.append(texts.say("plan.loadable", count=count["mapped"]))
    numbers = {name: number for name, number in count.items() if name != "mapped" and number}
    lines += [texts.say(f"plan.{name}", count=number, changed=changed or None) for name, number in numbers.items()]
    lines += _other_values(session, folder, facts)
    lines += _plan_notes(session, folder)
    lines.append(texts.say("plan.cut", size=texts.size(result.bytes)))
    if is_told_all:
        lines.append(texts.say("plan.batches", shards=result.shards, chunks=grouped(result.chunks)))
        lines.append(texts.say("plan.locked", path=folder.graph, sha256=result.sha256))
    if not loading:
        lines.append(texts.say("plan.made", path=folder.path))
    lines.append(texts.say("plan.look", path=folder.path / "plan.html"))
    if not packed and not loading and not is_within_project(session):
        command = next_command("ingest", folder.path, run=folder)
        lines.append(texts.say("plan.next", command=command))
    if console.verbosity < 0:
        lines = [texts.say("plan.quiet", run=folder.name, read=read, **count)]
    console.show(result, "\n".join(lines))
    console.count(run=folder.name, read=read, bytes=result.bytes)
    console.count(set_aside=count["set_aside"], skipped=count["skipped"], already_there=count["already_there"])
