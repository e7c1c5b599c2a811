"""The fault script: makes the archive misbehave on purpose at chosen calls, to test its clients.

A script is TOML (`[[rule]]`) or JSON (`{"rule": [...]}`). Each rule names a call (`"POST transaction"`,
`"GET download"`, `"PUT code-lists/*"`, `"POST idp/oauth2/token"`, `"*"`), which of its calls (`nth = 3`,
`nth = [2, 5]`, `every = 4`; else each), how often at most (`times`), and a kind:

    delay         waits `seconds`, then serves
    delay-answer  serves; the answer leaves `seconds` later
    delay-commit  takes the whole request, serves it `seconds` later, whoever is still there, and then answers
    refuse        answers `status` (with `retry_after`, in seconds, where given) and serves nothing
    reset         resets the connection and serves nothing
    commit-reset  serves, then resets the connection instead of answering
    commit-fail   serves, then answers `status`
    late-commit   answers `status` at once (0: never answers) and serves `seconds` later
    trickle       serves; the answer's body comes in pieces of `bytes`, one each `seconds`
    cut           serves; half of the answer's body comes, then a reset
    flip-answer   serves; one bit of the answer's body is another
    flip-stored   serves an upload, then changes one bit of the stored file
    die-before    kills the archive's process instead of serving
    die-after     serves, then kills the archive's process instead of answering

Rules count separately; of several that fire at one call the first counts. What fired is appended to `faults.log` in the
archive's folder, one JSON object a line, before it happens.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from noarkit.errors import ConfigFault
from noarkit.safe.signals import kill
from noarkit.safe.toml import load_toml, read_text
from noarkit.server.exchange import TRANSPORT, BodyLimits, Exchange, Message, Receive, Scope, Send
from noarkit.server.routing import below_base
from noarkit.server.wire import Refusal

FAULT_LOG = "faults.log"

App = Callable[[Scope, Receive, Send], Awaitable[None]]
_BODY = BodyLimits(0, 60.0)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a script; the members are those of the script."""

    call: str
    kind: str
    nth: tuple[int, ...] = ()
    every: int = 0
    times: int = 0
    seconds: float = 0.0
    status: int = 503
    retry_after: int = 0
    bytes: int = 1


def read_script(path: Path) -> list[Rule]:
    """The rules of a script. Raises ConfigFault."""
    text = read_text(path)
    try:
        script = json.loads(text) if path.suffix == ".json" else load_toml(text)
        return [_rule(table) for table in script["rule"]]
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise ConfigFault(where=str(path), why=f"no fault script: {fault}") from fault


def _rule(table: Mapping[str, object]) -> Rule:
    members = dict(table)
    nth = members.get("nth", ())
    members["nth"] = (nth,) if isinstance(nth, int) else tuple(nth)  # type: ignore[arg-type]  # a TypeError is a bad script
    kinds = {field.name: type(field.default) for field in fields(Rule) if field.name not in ("call", "kind", "nth")}
    for name, kind in kinds.items():
        if name in members and not isinstance(members[name], (int, kind)):
            raise TypeError(f"{name} must be a number")
    rule = Rule(**members)  # type: ignore[arg-type]  # a TypeError is a bad script
    if rule.kind not in _KINDS:
        raise ValueError(f"there is no kind {rule.kind}")
    return rule


class FaultInjector:
    """The archive's application behind a fault script. `stored` returns the path of the stored file of an upload id."""

    def __init__(self, app: App, rules: list[Rule], log: Path, stored_path: Callable[[int], Path]) -> None:
        self._app = app
        self._rules = rules
        self._log = log
        self._stored_path = stored_path
        self._call_counts = [0] * len(rules)
        self._fire_counts = [0] * len(rules)
        self._late_tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        rule = self._next(scope) if scope["type"] == "http" else None
        if rule is None:
            await self._app(scope, receive, send)
        else:
            await _KINDS[rule.kind](self, rule, _Request(scope, receive, send))

    def _next(self, scope: Scope) -> Rule | None:
        name = _call_name(scope)
        firing: Rule | None = None
        for index, rule in enumerate(self._rules):
            if not fnmatch.fnmatchcase(name, rule.call):
                continue
            self._call_counts[index] += 1
            if firing is None and self._fires(index, rule):
                self._fire_counts[index] += 1
                firing = rule
                self._note(index, rule, name)
        return firing

    def _fires(self, index: int, rule: Rule) -> bool:
        if rule.times and self._fire_counts[index] >= rule.times:
            return False
        if rule.nth:
            return self._call_counts[index] in rule.nth
        return not rule.every or self._call_counts[index] % rule.every == 0

    def _note(self, index: int, rule: Rule, name: str) -> None:
        entry = {"rule": index + 1, "kind": rule.kind, "call": name, "count": self._call_counts[index]}
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    async def _serve(self, request: _Request) -> list[Message]:
        """Serves a request to its end; the messages of its answer, unsent."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(request.scope, request.receive, keep)
        return messages

    async def _delay(self, rule: Rule, request: _Request) -> None:
        await asyncio.sleep(rule.seconds)
        await self._app(request.scope, request.receive, request.send)

    async def _delay_answer(self, rule: Rule, request: _Request) -> None:
        messages = await self._serve(request)
        await asyncio.sleep(rule.seconds)
        await request.send_all(messages)

    async def _delay_commit(self, rule: Rule, request: _Request) -> None:
        repeated = request.replayed(await request.read())
        await asyncio.sleep(rule.seconds)
        await request.send_all(await self._serve(repeated))

    async def _refuse(self, rule: Rule, request: _Request) -> None:
        await request.read()
        await request.refuse(rule)

    async def _reset(self, rule: Rule, request: _Request) -> None:
        await request.read()
        await request.break_off()

    async def _commit_reset(self, rule: Rule, request: _Request) -> None:
        await self._serve(request)
        await request.break_off()

    async def _commit_fail(self, rule: Rule, request: _Request) -> None:
        await self._serve(request)
        await request.refuse(rule)

    async def _late_commit(self, rule: Rule, request: _Request) -> None:
        repeated = request.replayed(await request.read())

        async def later() -> None:
            await asyncio.sleep(rule.seconds)
            await self._serve(repeated)

        task = asyncio.get_running_loop().create_task(later())
        self._late_tasks.add(task)
        task.add_done_callback(self._late_tasks.discard)
        if rule.status:
            await request.refuse(rule)
        else:
            await request.wait_for_disconnect()

    async def _trickle(self, rule: Rule, request: _Request) -> None:
        head, body = _split(await self._serve(request))
        await request.send(head)
        for start in range(0, len(body), rule.bytes):
            await request.send(
                {"type": "http.response.body", "body": body[start : start + rule.bytes], "more_body": True}
            )
            await asyncio.sleep(rule.seconds)
        await request.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _cut(self, rule: Rule, request: _Request) -> None:
        head, body = _split(await self._serve(request))
        await request.send(head)
        await request.send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        await asyncio.sleep(0.05)
        await request.break_off()

    async def _flip_answer(self, rule: Rule, request: _Request) -> None:
        head, body = _split(await self._serve(request))
        await request.send(head)
        await request.send({"type": "http.response.body", "body": _flip_bit(body), "more_body": False})

    async def _flip_stored(self, rule: Rule, request: _Request) -> None:
        messages = await self._serve(request)
        _, body = _split(messages)
        path = self._stored_path(int(json.loads(body)["id"]))
        path.write_bytes(_flip_bit(path.read_bytes()))
        await request.send_all(messages)

    async def _die_before(self, rule: Rule, request: _Request) -> None:
        await request.read()
        kill(os.getpid())

    async def _die_after(self, rule: Rule, request: _Request) -> None:
        await self._serve(request)
        kill(os.getpid())


_KINDS: Mapping[str, Callable[[FaultInjector, Rule, _Request], Awaitable[None]]] = {
    "delay": FaultInjector._delay,
    "delay-answer": FaultInjector._delay_answer,
    "delay-commit": FaultInjector._delay_commit,
    "refuse": FaultInjector._refuse,
    "reset": FaultInjector._reset,
    "commit-reset": FaultInjector._commit_reset,
    "commit-fail": FaultInjector._commit_fail,
    "late-commit": FaultInjector._late_commit,
    "trickle": FaultInjector._trickle,
    "cut": FaultInjector._cut,
    "flip-answer": FaultInjector._flip_answer,
    "flip-stored": FaultInjector._flip_stored,
    "die-before": FaultInjector._die_before,
    "die-after": FaultInjector._die_after,
}


@dataclass(frozen=True, slots=True)
class _Request:
    """One request that a rule takes over."""

    scope: Scope
    receive: Receive
    send: Send

    async def read(self) -> bytes:
        """The whole body of the request."""
        return await Exchange(self.scope, self.receive, self.send).body(_BODY)

    def replayed(self, body: bytes) -> _Request:
        """The same request, with a body that was read before, to be served whether its client is there or not."""

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        scope = {name: value for name, value in self.scope.items() if name != "extensions"}
        framing = (b"content-length", b"transfer-encoding")
        scope["headers"] = [
            *(header for header in scope["headers"] if header[0] not in framing),
            (b"content-length", str(len(body)).encode()),
        ]
        return _Request(scope, receive, self.send)

    async def refuse(self, rule: Rule) -> None:
        """Answers with the rule's status."""
        headers = {b"retry-after": str(rule.retry_after).encode()} if rule.retry_after else {}
        if rule.status == 401:
            headers[b"www-authenticate"] = b"Bearer"
        replayed = self.replayed(b"")
        await Exchange(replayed.scope, replayed.receive, replayed.send).refuse(
            Refusal(rule.status, "refused by the fault script"), headers=headers
        )

    async def send_all(self, messages: list[Message]) -> None:
        """Sends an answer that was held."""
        for message in messages:
            await self.send(message)

    async def wait_for_disconnect(self) -> None:
        """Waits until the client gives up."""
        while (await self.receive())["type"] != "http.disconnect":
            await asyncio.sleep(0.01)

    async def break_off(self) -> None:
        """Resets the connection."""
        transport: asyncio.Transport = self.scope["extensions"][TRANSPORT]
        with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
        await self.wait_for_disconnect()


def _call_name(scope: Scope) -> str:
    parts = tuple(part for part in scope["raw_path"].split(b"/") if part)
    below = below_base(parts)
    return f"{scope['method']} {b'/'.join(parts if below is None else below).decode('latin-1')}"


def _split(messages: list[Message]) -> tuple[Message, bytes]:
    return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


def _flip_bit(content: bytes) -> bytes:
    if not content:
        return content
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
