"""Virtual time: tasks that take turns, and events that happen at their time. Nothing here waits for a real clock.

One task runs at a time: the coordinator, which is the caller, or one worker. Whoever waits gives its turn away, and
time passes from event to event. The same seed gives the same order of everything.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Act = Callable[[], None]


class Killed(BaseException):
    """The process is gone: nothing after this line runs, nothing is tidied up."""


class World:
    """The clock, what is due, and who has the turn."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.current: Task | None = None
        self._due: list[tuple[float, int, Act]] = []
        self._number = 0
        self._pool: list[_Thread] = []
        self._tasks: list[Task] = []

    def at(self, moment_s: float, act: Act) -> None:
        """Does something when its time has come."""
        self._number += 1
        heapq.heappush(self._due, (max(moment_s, self.now_s), self._number, act))

    def sleep(self, seconds: float) -> None:
        """Lets time pass for whoever has the turn."""
        self.sleep_until(self.now_s + max(seconds, 0.0))

    def sleep_until(self, moment_s: float) -> None:
        """Lets time pass up to a moment."""
        task = self.current
        if task is None:
            self.run_until(lambda: False, moment_s)
        elif self._nothing_before(moment_s) and task.is_free_at(moment_s):
            self.now_s = max(moment_s, self.now_s)
        else:
            task.wait_until(moment_s)

    def step(self, effect_s: float, act: Act, answer_s: float) -> None:
        """Lets something take effect at one moment, and whoever has the turn go on at a later one."""
        task = self.current
        if self._nothing_before(answer_s) and (task is None or task.is_free_at(answer_s)):
            self.now_s = max(effect_s, self.now_s)
            act()
            self.now_s = max(answer_s, self.now_s)
        else:
            self.at(effect_s, act)
            self.sleep_until(answer_s)

    def run_until(self, is_reached: Callable[[], bool], latest_s: float) -> None:
        """What the coordinator does while it waits: lets everything happen, in order, until something is true."""
        while not is_reached():
            if not self._due or self._due[0][0] > latest_s:
                self.now_s = max(self.now_s, latest_s)
                return
            self.now_s, _, act = heapq.heappop(self._due)
            act()

    def run_out(self, longest_s: float = 1e6) -> None:
        """Lets everything happen that is still due."""
        self.run_until(lambda: not self._due, self.now_s + longest_s)

    def start(self, run: Act) -> Task:
        """A new task; its turn comes at once, when the coordinator waits."""
        task = Task(self, self._pool.pop() if self._pool else _Thread(), run)
        self._tasks.append(task)
        self.at(self.now_s, task.resume)
        return task

    def end_tasks(self) -> None:
        """Ends every task where it stands, and forgets what is due: the world is as new, so that what is played next
        does not depend on what was played before."""
        self._due.clear()
        for task in self._tasks:
            task.kill()
        self.run_out()
        self._tasks.clear()
        self._due.clear()
        self.now_s, self._number = 0.0, 0

    def give_back(self, thread: _Thread) -> None:
        """A thread whose task has ended works for the next."""
        self._pool.append(thread)

    def close(self) -> None:
        """Ends the threads that nobody works in."""
        for thread in self._pool:
            thread.stop()
        self._pool.clear()

    def _nothing_before(self, moment_s: float) -> bool:
        return not self._due or self._due[0][0] > moment_s


class Task:
    """A worker's own thread of control, which runs only when it has the turn."""

    def __init__(self, world: World, thread: _Thread, run: Act) -> None:
        self._world = world
        self._thread = thread
        self._run = run
        self._wakes = 0
        self._killed = False
        self.frozen_until_s = 0.0
        self._is_begun = False
        self.has_ended = False

    def resume(self) -> None:
        """Gives the task its turn, until it waits again or ends."""
        if self.has_ended:
            return
        if self._world.now_s < self.frozen_until_s and not self._killed:
            self._world.at(self.frozen_until_s, self.resume)
            return
        if self._killed and not self._is_begun:
            self._end()
            return
        self._is_begun = True
        self._world.current = self
        try:
            is_over = self._thread.turn(self._body)
        finally:
            self._world.current = None
        if is_over:
            self._end()

    def wait_until(self, moment_s: float) -> None:
        """Gives the turn away until a moment."""
        self._wakes += 1
        number = self._wakes
        self._world.at(moment_s, lambda: self.resume() if number == self._wakes else None)
        self._thread.pause()
        if self._killed:
            raise Killed()

    def kill(self) -> None:
        """Ends the task where it stands, as a signal nobody can catch does."""
        if not self.has_ended and not self._killed:
            self._killed = True
            self._wakes += 1
            self._world.at(self._world.now_s, self.resume)

    def freeze(self, until_s: float) -> None:
        """Stops the task until a moment; what was sent is under way all the same."""
        self.frozen_until_s = max(self.frozen_until_s, until_s)

    def is_free_at(self, moment_s: float) -> bool:
        """False where the task is stopped or ended before it could go on."""
        return not self._killed and self.frozen_until_s <= moment_s

    def check(self) -> None:
        """Raises `Killed` in a task that is to end."""
        if self._killed:
            raise Killed()

    def _body(self) -> None:
        try:
            self._run()
        except Killed:
            return

    def _end(self) -> None:
        self.has_ended = True
        self._world.give_back(self._thread)


class _Thread:
    """A thread that runs bodies one after another, and only while somebody waits for its turn to be over."""

    def __init__(self) -> None:
        self._go, self._over = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._over.acquire()
        self._body: Act | None = None
        self._is_idle = True
        self._fault: BaseException | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def turn(self, body: Act) -> bool:
        """Begins a body, or goes on with the one under way; True where it is over."""
        if self._is_idle:
            self._body, self._is_idle = body, False
        self._go.release()
        self._over.acquire()
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault
        return self._is_idle

    def pause(self) -> None:
        """Called by the body: its turn is over until the next."""
        self._over.release()
        self._go.acquire()

    def stop(self) -> None:
        """Ends the thread, which has nothing to do."""
        self._body = None
        self._is_idle = False
        self._go.release()

    def _work(self) -> None:
        while True:
            self._go.acquire()
            if self._body is None:
                return
            try:
                self._body()
            except BaseException as fault:  # noqa: BLE001  # raised where the turn was given
                self._fault = fault
            self._body, self._is_idle = None, True
            self._over.release()


@contextmanager
def new_world() -> Iterator[World]:
    """A world for as long as the block lasts."""
    world = World()
    try:
        yield world
    finally:
        world.close()
