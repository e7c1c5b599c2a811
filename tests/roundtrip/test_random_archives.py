"""Whatever an archive holds: what comes out of it, and out of another that it went into, is the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from noarkit.archive.values import Link, Save
from noarkit.model.mapping import mapping
from tests.roundtrip.circle import archive_in, circle_of_extract, extract_to, files_of
from tests.roundtrip.worlds import build, imagined

# the archive fills these in itself, or a rule of the form does
FILLED_IN = {("Dokument", name) for name in ("forventetKassasjonsDato", "kassertDato", "kassertAv")} | {
    ("Dokumentversjon", name) for name in ("sjekksum", "sjekksumAlgoritme", "filstoerrelse")
}
EXAMPLES = 200 if os.environ.get("NOARKIT_DEEP") == "1" else 12


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(min_value=0, max_value=2**32))
@example(3568108)  # a telephone number that begins with a blank line and "; "
def test_any_archive_comes_out_of_a_second_one_as_it_came_out_of_the_first(seed: int) -> None:
    place = Path(tempfile.mkdtemp(prefix="noarkit-circle-"))
    try:
        with archive_in(place / "a") as archive:
            world = build(random.Random(seed), archive)
            extract_to(archive, place / "first")
        second, (way,) = circle_of_extract(place / "first", place)
        assert way.numbers.archived == way.numbers.read == world.units()
        assert way.closed.refused_count == 0
        there, back = files_of(place / "first"), files_of(second)
        assert sorted(there) == sorted(back)
        for name, content in there.items():
            assert content.decode("utf-8", "replace") == back[name].decode("utf-8", "replace"), name
    finally:
        shutil.rmtree(place)


def test_the_archives_have_every_type_field_and_link_that_the_form_can_tell(tmp_path: Path) -> None:
    fields: set[tuple[str, str]] = set()
    links: set[tuple[str, str]] = set()
    with archive_in(tmp_path) as archive:
        for seed in range(40):
            for action in imagined(random.Random(seed), archive).actions:
                if isinstance(action, Save):
                    fields |= {(action.type, name) for name in action.fields}
                elif isinstance(action, Link):
                    links.add((action.type, action.reference))
    told = {kind: one for kind, one in mapping().types.items() if one.group is not None}
    wanted = {
        (kind, name) for kind, one in told.items() for name, field in one.fields.items() if field.path is not None
    }
    assert wanted - fields == FILLED_IN
    referred = {
        (kind, name) for kind, one in told.items() for name, link in one.links.items() if link.placement == "refer"
    }
    assert {name for _, name in referred} - {name for _, name in links} == {"refArkivdelArvtaker"}
