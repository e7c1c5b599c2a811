"""Chromium without a screen, for tests of pages: open, click, type, look, take pictures, run axe-core, note requests.

Speaks Chromium's DevTools protocol over a pipe, so it needs no driver and no port, and the browser ends with its test.
No name but 127.0.0.1 resolves in it: nothing that a page asks for can leave the machine, and each request is noted.
Where Chromium or axe-core is missing the fixtures `browser` and `page` skip; scripts/browser-tools installs both.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from tests.devtools import HANDLERS, WATCH, BrowserError, Json, Notes, Request, start_chromium
from tests.waiting import PATIENCE_S

__all__ = [
    *("AXE", "SERIOUS", "Browser", "BrowserError", "Frame", "Page", "Request", "Violation", "find_chromium"),
    "looks_in",
]

Scheme = Literal["light", "dark"]

ROOT = Path(__file__).resolve().parent.parent
AXE = Path(os.environ.get("NOARKIT_BROWSER_TOOLS") or ROOT / ".browser-tools") / "node_modules/axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
_FLAGS = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--no-proxy-server",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
    "--no-default-browser-check",
    "--password-store=basic",
    "--use-mock-keychain",
]
_ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"


def find_chromium() -> str | None:
    """The path of Chromium, or None where there is none; NOARKIT_CHROMIUM names it."""
    return shutil.which(os.environ.get("NOARKIT_CHROMIUM") or "chromium")


@dataclass(frozen=True, slots=True)
class Violation:
    """What axe-core found, and where."""

    rule: str
    impact: str
    help: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A document that scripts can be evaluated in: the page itself first, then its frames."""

    url: str
    session: str
    context: int


def looks_in(lang: str) -> list[tuple[int, Scheme]]:
    """The widths and colours in which a page in this language is held to its rules: every width, colour and language
    meets every other of the two once. NOARKIT_DEEP=1 takes all of them in both languages."""
    schemes: tuple[Scheme, Scheme] = ("light", "dark") if lang == "en" else ("dark", "light")
    looks = [(1280, schemes[0]), (375, schemes[1])]
    return [*looks, (375, schemes[0]), (1280, schemes[1])] if os.environ.get("NOARKIT_DEEP") == "1" else looks


class Browser:
    """A Chromium of its own, with a profile that is deleted after it; each page has cookies and storage of its own."""

    def __init__(self, *flags: str) -> None:
        chromium = find_chromium()
        assert chromium is not None, "no Chromium: scripts/browser-tools installs it"
        self._profile = Path(tempfile.mkdtemp(prefix="noarkit-browser-"))
        words = [chromium, *_FLAGS, _ONLY_HERE, f"--user-data-dir={self._profile}", *flags, "about:blank"]
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")
        self._pid, self.connection = start_chromium(words, self._profile)
        self.version = str(self.connection.call("Browser.getVersion")["product"])
        self._downloads: dict[str, str] = {}
        self.connection.listeners[""] = self._listen

    def _listen(self, method: str, params: Json, _: str) -> None:
        if method == "Browser.downloadProgress":
            self._downloads[params["guid"]] = params["state"]

    def new_page(
        self, *, width: int = 1280, height: int = 800, scheme: Scheme = "light", language: str | None = None
    ) -> Page:
        """An empty page in a window of its own; `language` is what it prefers to be answered in."""
        context = self.connection.call("Target.createBrowserContext")["browserContextId"]
        params = {"url": "about:blank", "browserContextId": context, "width": width, "height": height}
        target = self.connection.call("Target.createTarget", params)["targetId"]
        attached = self.connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        page = Page(self, context, target, attached["sessionId"])
        page.set_viewport(width, height)
        page.set_scheme(scheme)
        if language:
            agent = self.connection.call("Browser.getVersion")["userAgent"]
            page.call("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": language})
        return page

    def take_download(self, folder: Path, timeout_s: float = PATIENCE_S) -> Path:
        """The file that a page with `allow_downloads(folder)` brings home next; waits until it is whole."""
        is_done = lambda: "completed" in self._downloads.values()  # noqa: E731  # one line says it
        if not self.connection.pump(is_done, timeout_s):
            raise BrowserError(f"nothing was downloaded in {timeout_s:.0f} s")
        guid = next(guid for guid, state in self._downloads.items() if state == "completed")
        del self._downloads[guid]
        return folder / guid

    def close(self) -> None:
        """Ends Chromium and all that it started, and deletes its profile."""
        with suppress(BrowserError, OSError):
            self.connection.call("Browser.close")
        self.connection.close()
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Page:
    """A page in a window of its own. Selectors are CSS; the first element that fits is meant."""

    def __init__(self, browser: Browser, context: str, target: str, session: str) -> None:
        self._browser, self._context, self._target, self._session = browser, context, target, session
        self._connection = browser.connection
        self._notes = Notes()
        self._media: Json = {"media": "", "features": []}
        self._connection.listeners[session] = self._listen
        for method, params in WATCH:
            self.call(method, params)
        self.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self._frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]

    def call(self, method: str, params: Json | None = None) -> Json:
        """Calls any method of the protocol on this page."""
        return self._connection.call(method, params, self._session)

    def _listen(self, method: str, params: Json, session: str) -> None:
        handler = HANDLERS.get(method)
        if handler is not None:
            handler(self._notes, params, session)
        elif method == "Page.loadEventFired" and session == self._session:
            self._notes.loads += 1
        elif method == "Page.javascriptDialogOpening":
            self._notes.dialogs.append(params["message"])
            self._connection.send("Page.handleJavaScriptDialog", {"accept": False}, session)
        elif method == "Target.attachedToTarget":  # a frame in a process of its own
            child = params["sessionId"]
            self._connection.listeners[child] = self._listen
            for watched, wanted in (*WATCH, ("Runtime.runIfWaitingForDebugger", {})):
                self._connection.send(watched, wanted, child)
        elif method == "Target.detachedFromTarget":
            child = params["sessionId"]
            self._connection.listeners.pop(child, None)
            self._notes.contexts = [context for context in self._notes.contexts if context[0] != child]

    # --- going places

    def goto(self, url: str | Path) -> int:
        """Opens an address or a file and waits until it is loaded; the HTTP status, 0 for a file."""
        address = url.resolve().as_uri() if isinstance(url, Path) else url
        loads = self._notes.loads
        answer = self.call("Page.navigate", {"url": address})
        if "errorText" in answer:
            raise BrowserError(f"{address}: {answer['errorText']}")
        if "loaderId" in answer:  # else only the fragment changed
            self._wait(lambda: self._notes.loads > loads, f"{address} was not loaded")
        return self._notes.statuses.get(answer.get("loaderId", ""), 0)

    @contextmanager
    def navigation(self) -> Iterator[None]:
        """Waits until what is done inside has loaded another page."""
        loads = self._notes.loads
        yield
        self._wait(lambda: self._notes.loads > loads, "no other page was loaded")

    def wait_for(self, expression: str, timeout_s: float = PATIENCE_S) -> None:
        """Waits until an expression of JavaScript is true on the page; it is asked again whenever the page changes."""
        deadline = time.monotonic() + timeout_s
        while not self.evaluate(f"!!({expression})"):
            if time.monotonic() > deadline:
                raise BrowserError(f"not true in {timeout_s:.0f} s: {expression}\n{self.text()[:2000]}")
            self._connection.pump(lambda: False, 0.05)

    def _wait(self, until: Callable[[], bool], complaint: str) -> None:
        if not self._connection.pump(until, PATIENCE_S):
            raise BrowserError(f"{complaint} in {PATIENCE_S:.0f} s")

    # --- looking

    def evaluate(self, expression: str, frame: Frame | None = None) -> Any:  # whatever JavaScript answers
        """The value of an expression of JavaScript, awaited where it is a promise."""
        params: Json = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        if frame is not None:
            params["contextId"] = frame.context
        answer = self._connection.call("Runtime.evaluate", params, frame.session if frame else self._session)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(str(details.get("exception", {}).get("description") or details.get("text")))
        return answer["result"].get("value")

    @property
    def url(self) -> str:
        return str(self.evaluate("location.href"))

    @property
    def title(self) -> str:
        return str(self.evaluate("document.title"))

    def text(self, selector: str = "body") -> str:
        """What a reader sees of an element: nothing of what is hidden or folded."""
        return str(self.evaluate(f"{_element(selector)}.innerText"))

    def texts(self, selector: str) -> list[str]:
        """The text of each element that fits."""
        wanted = json.dumps(selector)
        answer: list[str] = self.evaluate(f"[...document.querySelectorAll({wanted})].map(e => e.innerText)")
        return answer

    def count(self, selector: str) -> int:
        """How many elements fit."""
        return int(self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def frames(self) -> list[Frame]:
        """The page and every frame in it that can be asked, wherever it runs; frames come and go, so ask again."""
        found = []
        for session, number in sorted(self._notes.contexts, key=lambda context: context[0] != self._session):
            with suppress(BrowserError):  # gone in the meantime
                url = self.evaluate("location.href", Frame("", session, number))
                found.append(Frame(str(url), session, number))
        return found

    @property
    def requests(self) -> tuple[Request, ...]:
        """All that the page and its frames asked for since it was opened, in order."""
        self._connection.pump(lambda: False, 0.05)
        return tuple(self._notes.requests.values())

    def outside_requests(self, *allowed: str) -> list[Request]:
        """What was asked for, and not stopped, elsewhere than in the page, on the disk and at the origins named."""
        return [
            request
            for request in self.requests
            if not request.is_inner
            and not request.blocked
            and urlsplit(request.url).scheme != "file"
            and "{0.scheme}://{0.netloc}".format(urlsplit(request.url)) not in allowed
        ]

    @property
    def console(self) -> tuple[str, ...]:
        """What the page logged, errors that nothing caught, and what the browser complained of."""
        self._connection.pump(lambda: False, 0.05)
        return tuple(self._notes.console)

    @property
    def dialogs(self) -> tuple[str, ...]:
        """The messages of dialogs that scripts opened; each was closed unanswered."""
        self._connection.pump(lambda: False, 0.05)
        return tuple(self._notes.dialogs)

    def sideways(self) -> list[str]:
        """What makes the page wider than its window; empty where nobody must scroll sideways.

        An element that scrolls within itself, as a wide table may, is no fault of the page.
        """
        answer: list[str] = self.evaluate(_SIDEWAYS)
        return answer

    def axe(self, *impacts: str) -> list[Violation]:
        """What axe-core finds on the page; only these impacts where some are named, as `*SERIOUS`."""
        world = {"frameId": self._frame, "worldName": "axe", "grantUniveralAccess": False}
        context = int(self.call("Page.createIsolatedWorld", world)["executionContextId"])
        frame = Frame("", self._session, context)
        if not self.evaluate("typeof axe !== 'undefined'", frame):
            self.evaluate(AXE.read_text("utf-8") + ";0", frame)
        answer: list[Json] = self.evaluate(_AXE, frame)
        violations = [Violation(one["id"], one["impact"], one["help"], tuple(one["places"])) for one in answer]
        return [one for one in violations if not impacts or one.impact in impacts]

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Writes a PNG of the page, or of the window alone."""
        params: Json = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", params)["data"]))

    def pdf(self, path: Path) -> None:
        """Prints the page to a PDF."""
        printed = self.call("Page.printToPDF", {"preferCSSPageSize": True})
        path.write_bytes(base64.b64decode(printed["data"]))

    # --- doing

    def click(self, selector: str) -> None:
        """Clicks the middle of an element with the mouse; it must be in sight, and nothing may lie over it."""
        x, y = self.evaluate(_MIDDLE.format(element=_element(selector), selector=json.dumps(selector)))
        for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1}
            self.call("Input.dispatchMouseEvent", event)

    def type(self, selector: str, text: str) -> None:
        """Clicks a field, empties it, and types into it."""
        self.click(selector)
        self.evaluate(f"{_element(selector)}.select()")
        self.press("Delete")
        self.call("Input.insertText", {"text": text})

    def choose(self, selector: str, value: str) -> None:
        """Chooses a value of a list, and says so to the page as a user would."""
        self.evaluate(
            f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('input', {{bubbles: true}}));"
            f" e.dispatchEvent(new Event('change', {{bubbles: true}})); }})({_element(selector)})"
        )

    def press(self, *keys: str) -> None:
        """Presses keys one after another: `Tab`, `Enter`, `ArrowDown`, `a`, `Shift+Tab`, `Control+k`."""
        for key in keys:
            for event in _key_events(key):
                self.call("Input.dispatchKeyEvent", event)

    def focused(self) -> str:
        """The element that has the keyboard, as its HTML without what is in it."""
        return str(self.evaluate("document.activeElement.cloneNode(false).outerHTML"))

    def set_viewport(self, width: int, height: int = 800, *, scale: float = 1) -> None:
        """Makes the window as wide as a telephone (375) or a screen (1280)."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", metrics)

    def set_scheme(self, scheme: Scheme) -> None:
        """Whether the reader prefers light or dark pages."""
        self._media["features"] = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", self._media)

    def set_media(self, media: Literal["", "print", "screen"]) -> None:
        """Shows the page as it would be printed; an empty name ends that."""
        self._media["media"] = media
        self.call("Emulation.setEmulatedMedia", self._media)

    def allow_downloads(self, folder: Path) -> None:
        """What the page downloads goes into `folder`; `Browser.take_download` waits for it."""
        params = {"behavior": "allowAndName", "browserContextId": self._context, "downloadPath": str(folder)}
        self._connection.call("Browser.setDownloadBehavior", {**params, "eventsEnabled": True})

    def cookies(self) -> list[Json]:
        """The cookies of the page's window, as the protocol tells them."""
        answer: list[Json] = self._connection.call("Storage.getCookies", {"browserContextId": self._context})["cookies"]
        return answer

    def close(self) -> None:
        """Closes the page and forgets its cookies and storage."""
        self._connection.listeners.pop(self._session, None)
        self._connection.call("Target.disposeBrowserContext", {"browserContextId": self._context})

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _element(selector: str) -> str:
    """JavaScript for the first element that fits, which complains where there is none."""
    wanted = json.dumps(selector)
    return f"(document.querySelector({wanted}) ?? (() => {{ throw new Error('no element fits ' + {wanted}) }})())"


_KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "Space": 32,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Delete": 46,
    "Backspace": 8,
}
_TEXTS = {"Enter": "\r", "Space": " "}
_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


def _key_events(keys: str) -> Iterator[Json]:
    """The events of one key that is pressed and released, with those of its modifiers left out, as browsers allow."""
    *modifiers, key = keys.split("+") if keys != "+" else ["+"]
    mask = sum(_MODIFIERS[name] for name in modifiers)
    text = "" if mask & ~_MODIFIERS["Shift"] else _TEXTS.get(key, key if len(key) == 1 else "")
    event = {
        "key": " " if key == "Space" else key,
        "code": key if len(key) > 1 else f"Key{key.upper()}" if key.isalpha() else "",
        "modifiers": mask,
        "windowsVirtualKeyCode": _KEYS.get(key, ord(key.upper()[0])),
    }
    yield {**event, "type": "keyDown" if text else "rawKeyDown", **({"text": text} if text else {})}
    yield {**event, "type": "keyUp"}


_MIDDLE = """(element => {{
  element.scrollIntoView({{block: 'center', inline: 'nearest', behavior: 'instant'}});
  const box = [...element.getClientRects()].find(box => box.width && box.height);
  if (!box) throw new Error('cannot be seen: ' + {selector});
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const top = document.elementFromPoint(x, y);
  if (!top || !(element.contains(top) || top.contains(element)))
    throw new Error('lies beneath ' + (top ? top.outerHTML.slice(0, 200) : 'nothing') + ': ' + {selector});
  return [x, y];
}})({element})"""

_SIDEWAYS = """(() => {
  const width = document.documentElement.clientWidth;
  const whole = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth);
  if (whole <= width) return [];
  const scrolls = e => e && e !== document.body && e !== document.documentElement
    && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
  const wide = [...document.body.querySelectorAll('*')].filter(e =>
    e.getBoundingClientRect().right > width + 0.5 && !scrolls(e.parentElement));
  return [`the page is ${whole} px wide, its window ${width} px`,
    ...wide.slice(0, 10).map(e => e.cloneNode(false).outerHTML.slice(0, 200))];
})()"""

_AXE = """axe.run(document, {resultTypes: ['violations'], iframes: false, preload: false}).then(result =>
  result.violations.map(v => ({id: v.id, impact: v.impact, help: v.help,
    places: v.nodes.map(n => `${n.target.join(' ')}: ${n.failureSummary}`)})))"""
