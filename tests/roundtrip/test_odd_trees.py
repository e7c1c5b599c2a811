"""Trees of odd names go into an archive by their default recipe and come back: contents, names and keys exact."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.archive.paging import objects
from noarkit.archive.values import Query
from noarkit.events import ignore_event
from noarkit.graph.store import GraphStore
from noarkit.loading.contents import no_gate
from noarkit.loading.engines.inline import InlineWorkers
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.work import WorkerContext
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.server.areas import open_service
from noarkit.server.service import Service
from noarkit.sources.files.levels import survey
from noarkit.sources.files.names import has_forbidden, is_decodable, path_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from tests.loading.direct import DirectArchive
from tests.loading.journey import _Workshop, copied

EXAMPLES = 200 if os.environ.get("NOARKIT_DEEP") == "1" else 20

_ODD = (
    "æøå",
    "A\u030a",
    "\u00c5",
    "linje\nskift",
    "høyre\u202evenstre",
    "CON",
    ".skjult",
    "tab\tog mellom  rom ",
    "%41",
    "a#b",
    "😀",
)
names = st.one_of(
    st.sampled_from([name.encode() for name in _ODD]),
    st.binary(min_size=1, max_size=40),
    st.text(min_size=1, max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
).filter(lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..") and len(name) < 200)
trees = st.dictionaries(
    st.lists(names, min_size=1, max_size=3).map(tuple), st.binary(max_size=60), min_size=1, max_size=7
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that has been started once."""
    path = tmp_path_factory.mktemp("template") / "archive"
    open_service(path).close()
    return path


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=trees)
def test_odd_trees_come_back_from_the_archive_exactly(template: Path, tree: dict[tuple[bytes, ...], bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        held = _laid_out(root / "source", tree)
        source = FileTree(root / "source", FilePolicy(look_inside=False))
        text = source.default_recipe()
        recipe = read_recipe(text, "default")
        system = recipe.target.external_system
        folder = RunFolder(root / "run")
        make_plan(PlanSpec(source, compile_recipe(recipe), text, system), folder, ignore_event, time.time)
        service = open_service(copied(template, root / "archive"))
        try:
            archive = DirectArchive(service)

            def workers() -> InlineWorkers:
                return InlineWorkers(
                    _Workshop(WorkerContext(archive, GraphStore.open(folder.graph), source.open, no_gate))
                )

            terms = LoadSettings("test", 0.0)
            loaded = load(
                folder, archive, workers, terms, stop_request=StopRequest(), emit=ignore_event, now_s=time.time
            )
            assert loaded.numbers.archived == loaded.numbers.read == len(held)
            assert _came_back(service, system, root) == held
        finally:
            service.close()


def _laid_out(root: Path, tree: dict[tuple[bytes, ...], bytes]) -> dict[bytes, bytes]:
    """Writes what of the tree a file system can hold; returns the contents by path."""
    held: dict[bytes, bytes] = {}
    root.mkdir()
    for steps, content in tree.items():
        file = root.joinpath(*map(os.fsdecode, steps))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as writer:
                writer.write(content)
        except OSError:  # a file stands where a folder should, or the other way round
            continue
        held[b"/".join(steps)] = content
    return held


def _came_back(service: Service, system: str, root: Path) -> dict[bytes, bytes]:
    """The contents of all records in the archive, by the path that their source key spells; titles checked."""
    archive = DirectArchive(service)
    case_level = survey(root / "source").case_level
    found: dict[bytes, bytes] = {}
    for external in objects(archive, Query("EksternId", "eksterntSystem = @s", {"@s": system})):
        if "refRegistrering" not in external.links:
            continue
        path = path_of(
            # a recipe doubles the sign it cuts keys with, and sets «record:» before what looks like a key of its own
            str(external.fields["eksternID"]).replace("##", "#").removeprefix("record:")
        )
        record = external.links["refRegistrering"]
        (title,) = [
            one.fields["tittel"] for one in archive.query(Query("Basisregistrering", "id = @r", {"@r": record})).objects
        ]
        steps = path.split(b"/")
        below = steps[min(case_level, len(steps) - 1) :]  # the folders below the case file, and the name
        if all(is_decodable(step) and not has_forbidden(step.decode()) for step in below):
            assert title == " / ".join(step.decode() for step in below)
        where = Query("Dokumentversjon", "refDokument.refRegistrering.id = @r", {"@r": record})
        (version,) = archive.query(where).objects
        target = root / "came"
        archive.download(str(version.fields["referanseDokumentfil"]), target)
        assert path not in found
        found[path] = target.read_bytes()
    return found
