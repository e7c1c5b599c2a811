"""A database on its second day: what the first load told and settled is neither told nor counted again."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from samples.database.make import main
from tests.journeys.deposits import noarkit
from tests.journeys.test_day_two import verdict_of
from tests.journeys.test_other_roads import walk


def test_an_open_case_is_told_once_however_many_runs_load_into_it(tmp_path: Path, reference: Path) -> None:
    main(tmp_path / "kilde")
    with closing(sqlite3.connect(tmp_path / "kilde" / "sak.db")) as db:
        db.execute("ALTER TABLE sak ADD COLUMN avsluttet_dato TEXT")
        db.execute("UPDATE sak SET avsluttet_dato = '2020-02-20' WHERE aar = 2019")
        db.commit()
    codes, _, _ = walk("sqlite:///kilde/sak.db", tmp_path, reference / "xsd" / "noark5" / "5.0", "close")
    assert codes == [0, 4, 0]
    assert verdict_of(tmp_path, "project/package")["open-in-source"]["count"] == 1
    with closing(sqlite3.connect(tmp_path / "kilde" / "sak.db")) as db:
        db.execute(
            "INSERT INTO brev VALUES (7, 2020, 3, 'Svar på rekvisisjon', '2020-01-20', 'svar.txt', ?)", (b"Ja.\n",)
        )
        db.commit()
    said = noarkit("deposit", "project", cwd=tmp_path).stdout
    assert re.search(r"^Will be loaded +1$", said, re.MULTILINE), said
    assert "Still open" not in said, "the first load closed it"
    assert noarkit("deposit", "project", "--approve", "--by", "Kari", cwd=tmp_path).returncode == 0
    reason = verdict_of(tmp_path, "project/package-2")["open-in-source"]
    assert (reason["grade"], reason["count"]) == ("remark", 1)
