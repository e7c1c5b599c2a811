"""Checks that need the whole package: ids, numbers, references, documents and files, journals."""

from __future__ import annotations

from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.case import Case, add_findings
from noarkit.forms.noark5.rules.fields import REFERENCES
from noarkit.forms.noark5.rules.formats import alone, unaccepted_documents, wrongly_converted
from noarkit.forms.noark5.rules.journals import JOURNALS
from noarkit.forms.noark5.rules.keys import keys_in
from noarkit.forms.noark5.rules.relations import FAR_NUMBERS
from noarkit.forms.noark5.rules.store import unpack_id
from noarkit.forms.noark5.rules.walk_state import FILE, UNITS

_SHA256 = "sha256"
_CLASSIFYING = (UNITS.index("klassifikasjonssystem"), UNITS.index("klasse"))
_TWICE = """
    SELECT id, at FROM (
        SELECT id, at, kind, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at) AS place,
               MIN(kind) OVER (PARTITION BY id) AS least, MAX(kind) OVER (PARTITION BY id) AS most
        FROM units WHERE id IN (SELECT id FROM units GROUP BY id HAVING COUNT(*) > 1)
    ) WHERE place > 1 AND {condition} ORDER BY at
"""


def judge_ids(case: Case) -> None:
    """Every systemID once. A classification system that several arkivdeler repeat is told apart."""
    if not case.store.number("SELECT EXISTS (SELECT 1 FROM units GROUP BY id HAVING COUNT(*) > 1)"):
        return
    repeated = "least = most AND kind IN ({}, {})".format(*_CLASSIFYING)
    add_findings(case, "N301", FILE, case.store.ask(_TWICE.format(condition=f"NOT ({repeated})")))
    add_findings(case, "N302", FILE, case.store.ask(_TWICE.format(condition=repeated)))


def judge_numbers(case: Case) -> None:
    """Every number of a journal year once. A journal that rises, and agrees with every entry, has shown it already."""
    if any(_agrees(case, number) for number in case.heads):
        return
    twice = """SELECT id, at, year, sequence FROM (
                   SELECT *, ROW_NUMBER() OVER (PARTITION BY year, sequence ORDER BY at) AS place FROM posts
                   WHERE year IS NOT NULL AND sequence IS NOT NULL
               ) WHERE place > 1 ORDER BY at"""
    add_findings(case, "N332", FILE, case.store.ask(twice), ("year", "sequence"))


def judge_once(case: Case) -> None:
    """Numbers that stand once in what may hold millions; those of a year in its series, or in a journal unit of it."""
    twice = """WITH repeated AS (SELECT name, scope, number FROM numbers GROUP BY 1, 2, 3 HAVING COUNT(*) > 1)
               SELECT at, name, number FROM (
                   SELECT n.*, ROW_NUMBER() OVER (PARTITION BY name, scope, number ORDER BY at) AS place
                   FROM numbers n JOIN repeated USING (name, scope, number)
               ) WHERE place > 1 ORDER BY at"""
    for at, name, number in case.store.ask(twice):
        number_row = FAR_NUMBERS[str(name)]
        # units are not found by their places, save for the few that are shown
        is_shown = case.tally.has_room(number_row.code)
        owners = case.store.ask("SELECT id FROM units WHERE at = ?", (at,)) if is_shown else iter(())
        row = (next(owners, (None,))[0], at, name, number, number_row.within)
        add_findings(case, number_row.code, FILE, iter([row]), ("element", "value", "within"))
    if case.has_repeated_numbers:
        twice = """SELECT id, at, number FROM (
                       SELECT *, ROW_NUMBER() OVER (PARTITION BY case_file, number ORDER BY at) AS place FROM posts
                       WHERE case_file IS NOT NULL AND number IS NOT NULL
                   ) WHERE place > 1 ORDER BY at"""
        rows = ((id_, at, "journalpostnummer", number, "saksmappe") for id_, at, number in case.store.ask(twice))
        add_findings(case, "N337", FILE, rows, ("element", "value", "within"))
    twice = """SELECT id, case_file, year, sequence FROM (
                   SELECT *, ROW_NUMBER() OVER (PARTITION BY series, unit, year, sequence ORDER BY case_file) AS place
                   FROM cases WHERE year IS NOT NULL AND sequence IS NOT NULL
               ) WHERE place > 1 ORDER BY case_file"""
    add_findings(case, "N334", FILE, case.store.ask(twice), ("year", "sequence"))


def judge_references(case: Case) -> None:
    """Every reference leads to a unit, and to one of the kind it is for."""
    for number, (name, (code, target)) in enumerate(REFERENCES.items()):
        kind = UNITS.index(target)
        missing = """SELECT owner, at, target FROM refs WHERE kind = ?
                     AND NOT EXISTS (SELECT 1 FROM units WHERE id = refs.target) ORDER BY at"""
        rows = case.store.ask(missing, (number,))
        add_findings(
            case, code, FILE, ((owner, at, _display_id(id_), name) for owner, at, id_ in rows), ("value", "element")
        )
        to_itself = "SELECT owner, at, target FROM refs WHERE kind = ? AND owner = target ORDER BY at"
        rows = case.store.ask(to_itself, (number,))
        add_findings(
            case, "N314", FILE, ((owner, at, _display_id(id_), name) for owner, at, id_ in rows), ("value", "element")
        )
        wrong = """SELECT owner, at, target FROM refs WHERE kind = ?1
                   AND EXISTS (SELECT 1 FROM units WHERE id = refs.target)
                   AND NOT EXISTS (SELECT 1 FROM units WHERE id = refs.target AND kind = ?2) ORDER BY at"""
        rows = case.store.ask(wrong, (number, kind))
        add_findings(
            case, "N310", FILE, ((owner, at, _display_id(id_), name) for owner, at, id_ in rows), ("value", "element")
        )


def judge_documents(case: Case) -> None:
    """Every version of a document has its file, and every file a version."""
    ask = case.store.ask
    if case.registered:
        case.tally.add("N418", FILE, found=case.registered)
    add_findings(case, "N410", FILE, unaccepted_documents(case.store), ("value", "path"))
    add_findings(case, "N424", FILE, alone(case.store), ("value", "path"))
    add_findings(case, "N419", FILE, wrongly_converted(case.store), ("value", "found", "path"))
    if case.tally.has("N414"):
        return
    add_findings(case, "N401", FILE, ask(_OBJECTS.format("f.name IS NULL", "o.path")), ("value",))
    mismatch = f"f.sum != o.sum AND o.algorithm = '{_SHA256}'"
    add_findings(case, "N402", FILE, ask(_OBJECTS.format(mismatch, "o.path")), ("path",))
    _judge_other_algorithms(case)
    wrong = "o.size NOT GLOB '*[^0-9]*' AND CAST(o.size AS INTEGER) != f.size"
    add_findings(case, "N403", FILE, ask(_OBJECTS.format(wrong, "o.path, o.size, f.size")), ("path", "value", "found"))
    if case.version != "5.0":
        add_findings(
            case, "N404", FILE, ask(_OBJECTS.format("o.size GLOB '*[^0-9]*'", "o.path, o.size")), ("path", "value")
        )
    folder = (f"{case.folder}/".encode(), f"{case.folder}0".encode())
    for code, condition in _FILES.items():
        for (name,) in ask(_DOCUMENTS.format(condition), folder):
            case.tally.add(code, name.decode("utf-8", "replace") if isinstance(name, bytes) else "")
    shared = "SELECT COUNT(*) FROM (SELECT path FROM objects GROUP BY path HAVING COUNT(*) > 1)"
    case.counts.add_number(case.store.number(shared), "N924")


_DOCUMENTS = "SELECT name FROM files WHERE kind = 'file' AND name >= ? AND name < ? AND {} ORDER BY name"
_OBJECTS = """SELECT o.owner, o.at, {1} FROM objects o LEFT JOIN files f ON f.name = o.path AND f.kind = 'file'
              WHERE {0} ORDER BY o.at"""
_FILES = {
    "N405": "NOT EXISTS (SELECT 1 FROM objects WHERE path = files.name)",
    "N406": "size = 0",
    "N408": "fits = 0",
    "N423": "whole = 0",
    "N409": "ending = 'pdf' AND size > 0 AND fits = 1 AND claim = 0 AND whole IS NOT 0",
}


def _judge_other_algorithms(case: Case) -> None:
    """Checksums by other means than SHA-256 are rare enough to be made one by one."""
    rows = case.store.ask(
        _OBJECTS.format(f"o.algorithm != '{_SHA256}' AND f.name IS NOT NULL", "o.path, o.sum, o.algorithm")
    )
    for owner, at, path, digest, algorithm in rows:
        name = path.decode("utf-8", "replace") if isinstance(path, bytes) else ""
        place = iter([(owner, at, name, algorithm)])
        actual = case.digest_of(name, algorithm) if isinstance(algorithm, str) and algorithm else None
        if actual is None:
            add_findings(case, "N412", FILE, place, ("path", "value"))
        elif actual != digest:
            add_findings(case, "N402", FILE, iter([(owner, at, name)]), ("path",))
        else:
            add_findings(case, "N411", FILE, place, ("path", "value"))


def judge_journals(case: Case) -> None:
    """The journals against each other, their heads, and arkivstruktur."""
    present = [number for number, journal in enumerate(JOURNALS) if case.has(journal) and number in case.heads]
    agreeing = [number for number in present if case.has(spec.STRUCTURE) and _agrees(case, number)]
    if agreeing != present:
        case.store.make_findable("entries")
    if case.has(spec.STRUCTURE) and not agreeing:
        homeless = """SELECT id, at FROM posts p WHERE case_file IS NULL
                      AND NOT EXISTS (SELECT 1 FROM entries WHERE id = p.id) ORDER BY at"""
        add_findings(case, "N519", FILE, case.store.ask(homeless))
    for number in present:
        _judge_head(case, number)
        _judge_creators(case, number)
        if case.has(spec.STRUCTURE) and number not in agreeing:
            _judge_entries(case, number)
    if len(present) == len(JOURNALS):
        _judge_pair(case, same=len(agreeing) == len(JOURNALS))


def _agrees(case: Case, number: int) -> bool:
    """True if a journal has every entry of arkivstruktur once, and no other, and each says the same.

    One pass shows it, and saves asking for each kind of difference: an entry that stood twice would break the order.
    """
    head = case.heads[number]
    posts = case.store.number("SELECT COUNT(*) FROM posts")
    if number not in case.agreeing:
        case.agreeing[number] = (
            head.rises
            and posts == head.entries
            and not case.store.number("SELECT EXISTS (SELECT 1 FROM posts GROUP BY id HAVING COUNT(*) > 1)")
            and posts == case.store.number(_AGREEING, (number,))
        )
    return case.agreeing[number]


_AGREEING = """
    SELECT COUNT(*) FROM entries e JOIN posts p ON p.id = e.id LEFT JOIN cases c ON c.case_file = p.case_file
    WHERE e.journal = ?1 AND e.year = p.year AND e.sequence = p.sequence AND e.number = p.number AND e.day = p.day
      AND e.written IN (p.written, '')
      AND (e.case_year != c.year OR e.case_sequence != c.sequence OR e.case_ident != c.ident) IS NOT 1
      AND (e.ident != p.ident OR e.class != c.class OR e.class_title != c.class_title) IS NOT 1 AND e.answer = p.answers
      AND CASE ?1 WHEN 0 THEN e.title = p.title AND e.parties = p.parties AND (e.case_title != c.title) IS NOT 1
          ELSE (p.hidden = 1 AND e.title = p.title) IS NOT 1 AND p.secret = x''
           AND (c.hidden = 1 AND e.case_title = c.title) IS NOT 1
           AND (c.hidden_class = 1 AND e.class = c.class) IS NOT 1
           AND (c.hidden_class_title = 1 AND e.class_title = c.class_title) IS NOT 1 END
"""


def _judge_head(case: Case, number: int) -> None:
    head, file = case.heads[number], f"{JOURNALS[number]}.xml"
    count_text = head.values.get("antallJournalposter", "").strip()
    place = (head.at, None)
    if count_text != str(head.entries):
        case.tally.add("N502", file, place, value=count_text, found=head.entries)
    if not case.has_sharp_period() or not case.has(spec.STRUCTURE):
        return
    first, last = head.values.get("journalStartDato", "")[:10], head.values.get("journalSluttDato", "")[:10]
    rows = case.store.ask(
        """SELECT MIN(day), MAX(day) FROM posts p WHERE day != '' AND (case_file IS NOT NULL
           OR EXISTS (SELECT 1 FROM entries WHERE journal = ? AND id = p.id))""",
        (number,),
    )
    actual = [str(day) for day in next(rows) if day is not None]
    if actual and [first, last] != actual:
        case.tally.add("N504", file, place, value=f"{first} – {last}", found=" – ".join(actual))


def _judge_creators(case: Case, number: int) -> None:
    """A journal is kept by those whose archive it is."""
    head = case.heads[number]
    other_names = sorted(set(head.creators) - set(case.creators))
    if other_names and case.creators and case.has(spec.STRUCTURE):
        creator_names = ", ".join(case.creators)
        case.tally.add(
            "N520", f"{JOURNALS[number]}.xml", (head.at, None), value=", ".join(other_names), found=creator_names
        )


def _judge_entries(case: Case, number: int) -> None:
    ask, file = case.store.ask, f"{JOURNALS[number]}.xml"
    unknown = """SELECT id, at FROM entries e WHERE journal = ?
                 AND NOT EXISTS (SELECT 1 FROM posts WHERE id = e.id) ORDER BY at"""
    if case.has_sharp_period():
        add_findings(case, "N506", file, ask(unknown, (number,)))
    missing = """SELECT id, at FROM posts p WHERE case_file IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM entries WHERE journal = ? AND id = p.id) ORDER BY at"""
    add_findings(case, "N507", file, ((id_, None) for id_, _ in ask(missing, (number,))))
    twice = """SELECT id, MAX(at) FROM entries WHERE journal = ? GROUP BY id HAVING COUNT(*) > 1 ORDER BY 2"""
    add_findings(case, "N510", file, ask(twice, (number,)))
    differs = """SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id WHERE e.journal = ? AND (
                 e.year != p.year OR e.sequence != p.sequence OR e.number != p.number OR e.day != p.day
                 OR e.ident != p.ident
                 OR (e.written != p.written AND e.written != ''){}) ORDER BY 2"""
    title = " OR e.title != p.title" if number == 0 else ""
    add_findings(case, "N509", file, ask(differs.format(title), (number,)))
    other_case = """SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id JOIN cases c USING (case_file)
                    WHERE e.journal = ? AND (e.case_year != c.year OR e.case_sequence != c.sequence
                    OR e.case_ident != c.ident) ORDER BY 2"""
    add_findings(case, "N513", file, ask(other_case, (number,)))
    other_class = """SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id JOIN cases c USING (case_file)
                     WHERE e.journal = ? AND (e.class != c.class OR e.class_title != c.class_title) ORDER BY 2"""
    add_findings(case, "N521", file, ask(other_class, (number,)))
    _judge_answers(case, number)
    if number == 1:
        _judge_screening(case)
        return
    other_parties = """SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id
                WHERE e.journal = 0 AND e.parties != p.parties AND p.parties != x'' ORDER BY 2"""
    add_findings(case, "N514", file, ask(other_parties))
    title = """SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id JOIN cases c USING (case_file)
               WHERE e.journal = 0 AND e.case_title != c.title ORDER BY 2"""
    add_findings(case, "N515", file, ask(title))


def _judge_answers(case: Case, number: int) -> None:
    """An entry tells one of the sign-offs of its journal post, and none only where there is none."""
    rows = case.store.ask(
        """SELECT e.id, e.at, e.answer, p.answers FROM entries e JOIN posts p ON p.id = e.id
           WHERE e.journal = ? AND e.answer != p.answers ORDER BY 2""",
        (number,),
    )
    other_answers = (row[:2] for row in rows if row[2] not in keys_in(_bytes(row[3])))
    add_findings(case, "N516", f"{JOURNALS[number]}.xml", other_answers)


def _judge_screening(case: Case) -> None:
    """The public journal shows no title and no name that arkivstruktur says is screened."""
    file, ask = f"{JOURNALS[1]}.xml", case.store.ask
    for code, screened in _SCREENED_TITLES.items():
        bare = f"""SELECT e.id, e.at FROM entries e JOIN posts p ON p.id = e.id
                   LEFT JOIN cases c ON c.case_file = p.case_file
                   WHERE e.journal = 1 AND ({screened}) ORDER BY 2"""  # noqa: S608  # one of three texts of ours
        add_findings(case, code, file, ask(bare))
    rows = ask("""SELECT e.id, e.at, e.parties, p.secret FROM entries e JOIN posts p ON p.id = e.id
                  WHERE e.journal = 1 AND p.secret != x'' ORDER BY 2""")
    with_names = (row[:2] for row in rows if not set(keys_in(_bytes(row[2]))).isdisjoint(keys_in(_bytes(row[3]))))
    add_findings(case, "N518", file, with_names)


_SCREENED_TITLES = {
    "N511": "p.hidden = 1 AND e.title = p.title",
    "N517": "c.hidden = 1 AND e.case_title = c.title",
    "N522": "c.hidden_class = 1 AND e.class = c.class OR c.hidden_class_title = 1 AND e.class_title = c.class_title",
}


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


def _judge_pair(case: Case, *, same: bool) -> None:
    running, public = case.heads[0], case.heads[1]
    file = f"{JOURNALS[1]}.xml"
    for name in ("journalStartDato", "journalSluttDato", "antallJournalposter"):
        running_value, public_value = running.values.get(name, "").strip(), public.values.get(name, "").strip()
        if running_value != public_value and not (case.tally.has("N502") and name == "antallJournalposter"):
            case.tally.add("N501", file, (public.at, None), element=name, value=public_value, found=running_value)
    if same or (case.has(spec.STRUCTURE) and case.tally.has("N507")):
        return
    for own_number, other_number in ((0, 1), (1, 0)):
        alone_sql = """SELECT id, at FROM entries e WHERE journal = ? AND NOT EXISTS
                   (SELECT 1 FROM entries WHERE journal = ? AND id = e.id) ORDER BY at"""
        if not case.tally.has("N506"):
            add_findings(
                case, "N508", f"{JOURNALS[own_number]}.xml", case.store.ask(alone_sql, (own_number, other_number))
            )


def _display_id(key: object) -> str | None:
    return unpack_id(key) if isinstance(key, bytes) else None
