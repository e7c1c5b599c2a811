"""How a run was asked for: the command, its source, and the options that were given; what every later command repeats.

It is kept in plan.json for the plan, and in the journal with each load. Nothing of it is in graph.db, whose digest it
must not move, nor in a sealed bundle, whose reader has other paths. A run of before knows nothing of it: `None`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.recipes.read import read_recipe
from noarkit.safe.toml import read_text

ASKED = "asked"
GLOBALS = ("config", "profile", "lang")
_LOAD_NOTE = "ingest_began"
_NAMED_ARCHIVE = "SELECT EXISTS (SELECT 1 FROM event WHERE name = ? AND json_extract(data, ?) IS NOT NULL)"
_ADDRESSES = ("archive", "engine")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What one command was asked to do. `values` has only the options that were given, by their names without dashes:
    True for a flag, a text, or a tuple of texts for one that was given several times."""

    command: str
    source: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    def words(self, *names: str) -> list[str]:
        """The options as a command line has them; with `names` those alone.

        >>> RunRequest("plan", "letters", {"recipe": "/r.toml", "hash": True}).words()
        ['--recipe', '/r.toml', '--hash']
        """
        return [
            word for name, value in self.values.items() if not names or name in names for word in _words(name, value)
        ]

    def without(self, *names: str) -> RunRequest:
        """The same without these options."""
        return replace(self, values={name: value for name, value in self.values.items() if name not in names})

    def updated(self, later: RunRequest) -> RunRequest:
        """The same, where what was given `later` goes before."""
        return replace(self, values={**self.values, **later.values})

    def differing(self, options: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
        """Those of `options` that are not as they were: name, how it was then (empty: not given), how it is now."""
        for name, value in options_given(options).items():
            before = self.values.get(name)
            if before != value:
                yield name, " ".join(_words(name, before)), " ".join(_words(name, value))

    def as_data(self) -> dict[str, object]:
        """Plain values, as JSON has them."""
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in self.values.items()}
        return {"command": self.command, "source": self.source, "options": values}


def run_request(command: str, source: object = "", **options: object) -> RunRequest:
    """A value of what was given. Options by their names with `_` for `-`; None, False and () were not given. A path is
    kept whole, so that it means the same in another folder, and an address that may hold a secret is not kept."""
    return RunRequest(command, str(source), options_given(options))


def options_given(options: Mapping[str, object]) -> dict[str, object]:
    """Those that were given, as `RunRequest` keeps them."""
    values = {name.replace("_", "-"): _normal(value) for name, value in options.items()}
    return {
        name: value
        for name, value in values.items()
        if value not in (None, False, (), "") and not (name in _ADDRESSES and may_hold_secret(str(value)))
    }


def request_of_plan(folder: RunFolder) -> RunRequest | None:
    """How the plan of a run was asked for; None where nobody wrote that down. Raises `JournalFault`."""
    return _from_data(folder.plan().get(ASKED))


def request_of_load(folder: RunFolder) -> RunRequest | None:
    """How a run was loaded last; None where it was not, or nobody wrote that down."""
    if not folder.journal.exists():
        return None
    with closing(folder.open_journal()) as journal:
        note = journal.last_note(_LOAD_NOTE)
    return None if note is None else _from_data(note.get(ASKED))


def has_named_archive(folder: RunFolder) -> bool:
    """True if any load of a run was given its archive on the command line."""
    if not folder.journal.exists():
        return False
    with closing(folder.open_journal()) as journal:
        return bool(journal.rows(_NAMED_ARCHIVE, (_LOAD_NOTE, f"$.{ASKED}.options.archive"))[0][0])


def check_same_request(folder: RunFolder, options: Mapping[str, object]) -> None:
    """Raises `UsageFault` where an option of a plan that stands is given otherwise now. A recipe counts by its text."""
    differing = list(_other_recipe(folder, options.get("recipe")))
    request = request_of_plan(folder)
    if request is not None:
        differing += request.differing({name: value for name, value in options.items() if name != "recipe"})
    for _, before, now in differing:
        by = f"{before or '–'} → {now}"
        run = str(folder.path)
        raise UsageFault(what="other-request", by=by, where=run, do=f"noarkit ingest {quote(run)}")


def _other_recipe(folder: RunFolder, recipe: object) -> Iterator[tuple[str, str, str]]:
    if recipe is not None and not is_planned_by(folder, Path(str(recipe))):
        request = request_of_plan(folder)
        yield "recipe", "" if request is None else " ".join(request.words("recipe")), f"--recipe {recipe}"


def is_planned_by(folder: RunFolder, recipe: Path) -> bool:
    """True if a plan was made with this recipe, as its text is now."""
    with closing(folder.graph_store()) as graph:
        return graph.meta("recipe") == read_recipe(read_text(recipe), str(recipe)).text


def may_hold_secret(address: str) -> bool:
    """True for an address with a user or a query, which is refused wherever it is given."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)


def _from_data(data: object) -> RunRequest | None:
    if not isinstance(data, dict) or not isinstance(data.get("options"), dict):
        return None
    values = {str(name): tuple(value) if isinstance(value, list) else value for name, value in data["options"].items()}
    return RunRequest(str(data.get("command", "")), str(data.get("source", "")), values)


def _normal(value: object) -> object:
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, list | tuple):
        return tuple(str(_normal(item)) for item in value)
    return value if value is None or isinstance(value, bool) else str(value)


def _words(name: str, value: object) -> list[str]:
    if value is True:
        return [f"--{name}"]
    if isinstance(value, tuple):
        return [word for item in value for word in (f"--{name}", str(item))]
    return [] if value in (None, False) else [f"--{name}", str(value)]
