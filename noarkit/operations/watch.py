"""All who are told how a command goes, as one listener: begun before its work, given each event and its outcome.

Only two things here can stop a command, both before anything is done: settings that cannot be used, and a hook at the
start. Whatever else cannot be told is a fault of its own (`NotTold`), and changes neither work nor exit code.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from noarkit.config import OperationsConfig
from noarkit.errors import ConfigFault, DiskFull, NoarkitError, NotTold
from noarkit.events import Event
from noarkit.operations.health import HealthCheck, health_check
from noarkit.operations.hooks import EventPipe, run_hooks
from noarkit.operations.job import Job, Moment, Outcome, iso_time, numbers_of
from noarkit.operations.log_lines import UNLOGGED, LogLine, severity_of
from noarkit.operations.logs import LogTarget, log_target
from noarkit.operations.metrics import JobState, write_metrics
from noarkit.operations.systemd import ServiceManager, service_manager
from noarkit.operations.tally import step_text, take_event
from noarkit.safe.children import OUR_THREADS
from noarkit.safe.event_log import loggable_data
from noarkit.words.texts import Texts

METRICS_EVERY_S = 15.0
STATUS_EVERY_S = 5.0
_JOIN_S = 5.0


@dataclass(frozen=True, slots=True)
class WatchDeps:
    """What watching works with: language, environment, who tells a fault, and the clock."""

    texts: Texts
    environment: Mapping[str, str]
    tell_fault: Callable[[NoarkitError], None]
    now_s: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic


class Operations:
    """One command that is watched. `begin`, then `on_event` for each event, then `end`; nothing else tells anybody."""

    def __init__(self, config: OperationsConfig, job: Job, deps: WatchDeps, *, serves: bool = False) -> None:
        self._config = config
        self._job = job
        self._deps = deps
        self._serves = serves
        self._state = JobState(job)
        self._manager: ServiceManager | None = service_manager(deps.environment)
        self._metrics: Path | None = None
        self._metrics_failed = False
        self._health: HealthCheck | None = None
        self._pipes: list[EventPipe] = []
        self._logs: list[LogTarget] = []
        self._pending: deque[NoarkitError] = deque()
        self._alive_s = deps.clock()
        self._ended = threading.Event()
        self._ticker: threading.Thread | None = None

    def begin(self) -> None:
        """Tells the start. Raises `ConfigFault` for what cannot be used, `HookRefused` or `HookPostponed` by a hook."""
        config = self._config
        if config.metrics is not None:
            try:
                write_metrics(config.metrics, self._state)
            except (OSError, DiskFull) as error:
                raise ConfigFault(where=str(config.metrics), why="not-writable") from error
            self._metrics = config.metrics
        if config.ping is not None:
            self._health = health_check(config.ping, config.ping_ca, config.ping_timeout_s, self._deps.environment)
        self._logs = [log_target(address, self._deps.clock, config.log_ca) for address in config.log_to]
        self._pipes = [EventPipe(command) for command in config.hook_each]
        self._send(Event("start"))
        self._ping("start", {})
        faults = run_hooks("start", config.hook_start, self._payload("start", {}), config.hook_timeout_s)
        if faults:
            raise faults[0]
        self._alive_s = self._deps.clock()
        if self._metrics is not None or (self._manager is not None):
            self._ticker = threading.Thread(target=self._tick, name=f"{OUR_THREADS}operations", daemon=True)
            self._ticker.start()
        if not self._serves:
            self.ready()
        self._tell_pending()

    def ready(self) -> None:
        """Tells the service manager that the work has begun, or that a server can be asked."""
        if self._manager is not None:
            self._manager.notify(READY="1", STATUS=self._status())

    def alive(self) -> None:
        """A sign of life without an event."""
        self._alive_s = self._deps.clock()

    def stopping(self) -> None:
        """Tells the service manager that we stop because a signal asked for it; may be called in its handler."""
        if self._manager is not None:
            self._manager.notify(STOPPING="1", STATUS=self._deps.texts.say("run.stopping"))

    def on_event(self, event: Event, /) -> None:
        """Listens to the core."""
        self._alive_s = self._deps.clock()
        self._state.last_event_s = self._deps.now_s()
        if take_event(self._state.tally, event, self._alive_s):
            self._state.note_step(self._alive_s)
        if event.name == "fault":
            code = str(event.data.get("code"))
            self._state.faults[code] = self._state.faults.get(code, 0) + 1
        self._send(event)
        self._tell_pending()

    def end(self, exit_code: int, state: str, summary: Mapping[str, object]) -> None:
        """Tells how it ended: to logs and metrics, to hooks, to the health check, to the service manager."""
        self._ended.set()
        if self._ticker is not None:
            self._ticker.join(_JOIN_S)
        self._tell_pending()
        ended_s = self._deps.now_s()
        outcome = Outcome(
            success=exit_code in self._config.success_exits,
            exit_code=exit_code,
            ended_s=ended_s,
            seconds=max(ended_s - self._job.began_s, 0.0),
            state=state,
            numbers=numbers_of(summary),
            faults=dict(self._state.faults),
        )
        self._state.outcome = outcome
        try:
            self._tell_end(outcome)
        except BaseException:  # Ctrl-C: whoever will not wait for hooks leaves none behind
            for pipe in self._pipes:
                pipe.abandon()
            raise

    def _tell_end(self, outcome: Outcome) -> None:
        self._send(Event("summary", {"success": outcome.success, **outcome.to_dict()}))
        self._write_metrics()
        moment = outcome.moment
        commands = self._config.hook_success if outcome.success else self._config.hook_failure
        payload = self._payload(moment, outcome.to_dict())
        self._pending.extend(run_hooks(moment, commands, payload, self._config.hook_timeout_s))
        self._ping(moment, outcome.to_dict())
        if self._manager is not None and self._manager.is_main_process:
            self._manager.notify(STOPPING="1", STATUS=self._deps.texts.say("operations.ended", code=outcome.exit_code))
        self._close()
        self._tell_pending()

    def _close(self) -> None:
        for pipe in self._pipes:
            fault = pipe.close(self._config.hook_timeout_s)
            if fault is not None:
                self._pending.append(fault)
        self._pipes = []
        for log in self._logs:
            log.close()
            self._pending.extend(log.faults)
        self._logs = []

    def _send(self, event: Event) -> None:
        """To the logs and to the hooks that are given each event: ids, codes and counts alone."""
        if not (self._logs or self._pipes):
            return
        moment = iso_time(self._deps.now_s())
        data = {**self._job.to_dict(), **loggable_data(event.data)}
        for pipe in self._pipes:
            pipe.send({"event": event.name, "time": moment, **data})
        if event.name not in UNLOGGED:
            line = LogLine(moment, severity_of(event.name, event.data), event.name, data)
            for log in self._logs:
                log.send(line)
                self._pending.extend(log.faults)
                log.faults.clear()

    def _payload(self, moment: Moment, data: Mapping[str, object]) -> dict[str, object]:
        return {"event": moment, "time": iso_time(self._deps.now_s()), **self._job.to_dict(), **data}

    def _ping(self, moment: Moment, data: Mapping[str, object]) -> None:
        if self._health is not None:
            fault = self._health.ping(moment, self._payload(moment, data))
            if fault is not None:
                self._pending.append(fault)

    def _tell_pending(self) -> None:
        """Tells what could not be told, in the thread of the work, which alone may speak."""
        while self._pending:
            self._deps.tell_fault(self._pending.popleft())

    def _write_metrics(self) -> None:
        if self._metrics is None:
            return
        try:
            if self._state.outcome is None:
                self._state.note_step(self._deps.clock())
            write_metrics(self._metrics, self._state.copy())
        except (OSError, DiskFull):
            if not self._metrics_failed:
                self._metrics_failed = True
                self._pending.append(NotTold(where=str(self._metrics), why="not-writable"))

    def _tick(self) -> None:
        """Until the end: signs of life, the status, and the metrics, each in its own time."""
        watchdog_s = self._manager.watchdog_s if self._manager is not None else None
        step_s = min(STATUS_EVERY_S, watchdog_s / 3 if watchdog_s else STATUS_EVERY_S)
        told_s, status = self._deps.clock(), ""
        while not self._ended.wait(step_s):
            if self._manager is not None:
                if watchdog_s and self._is_alive(watchdog_s):
                    self._manager.notify(WATCHDOG="1")
                if status != (status := self._status()):
                    self._manager.notify(STATUS=status)
            if self._deps.clock() - told_s >= METRICS_EVERY_S:
                told_s = self._deps.clock()
                self._write_metrics()

    def _is_alive(self, watchdog_s: float) -> bool:
        """True while the work shows signs of life; a server does with each turn of its loop."""
        limit_s = watchdog_s if self._serves else self._config.silence_s
        return not limit_s or self._deps.clock() - self._alive_s < limit_s

    def _status(self) -> str:
        texts, tally = self._deps.texts, self._state.tally
        if not tally.step:
            return texts.say("operations.running", command=self._job.command, run=self._job.place or None)
        step = step_text(tally, texts)
        return texts.say("operations.step", command=self._job.command, run=self._job.place, step=step)
