"""The rules of `bag-info.txt` and of the addresses in `fetch.txt`."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from noarkit.errors import PackageFault
from noarkit.forms.bagit.read import info_lines
from noarkit.forms.bagit.spec import FETCH, SINGLE_LABELS, BadLine, Declaration, Hole, read_oxum
from noarkit.forms.container.storage import Storage
from noarkit.forms.findings import Hit, Tally, place_data

_OXUM = "payload-oxum"
_SCHEMES = frozenset({"https", "http", "ftp", "ftps", "sftp"})
_MOST_LABELS = 10_000


def check_info(
    storage: Storage, declaration: Declaration, octets: tuple[int, int], tally: Tally
) -> dict[str, tuple[str, ...]]:
    """Checks bag-info.txt; returns its labels for the report, without values, because these may name persons."""
    file = declaration.info_name
    labels: dict[str, str] = {}
    try:
        for entry in info_lines(storage, declaration):
            if isinstance(entry, BadLine):
                _take(tally, "BAGIT-2.2.2-LINE", file, entry.line)
                continue
            line, label, value = entry
            if label.casefold() in labels:
                _check_repeated(tally, file, line, label)
            if len(labels) < _MOST_LABELS:
                labels.setdefault(label.casefold(), label)
            if label.casefold() == _OXUM:
                _check_oxum(tally, (file, line), value, octets)
    except PackageFault as error:
        if error.data.get("line") is None:
            raise
        _take(tally, "BAGIT-2.3-TEXT", file, int(str(error.data["line"])), why=error.data["why"])
    return {"labels": tuple(labels.values())[:100]}


def check_fetch_urls(holes: Iterable[Hole | BadLine], tally: Tally) -> None:
    """Checks that every address in fetch.txt is a URL of an allowed scheme, without a password."""
    for hole in holes:
        if isinstance(hole, Hole) and not _is_address(hole.url):
            _take(tally, "BAGIT-5.2-URL", FETCH, hole.line, scheme=hole.url.partition(":")[0])


def _is_address(url: str) -> bool:
    try:
        split = urlsplit(url)
    except ValueError:
        return False
    return split.scheme.lower() in _SCHEMES and bool(split.hostname) and split.password is None


def _check_repeated(tally: Tally, file: str, line: int, label: str) -> None:
    if label.casefold() == _OXUM:
        _take(tally, "BAGIT-2.2.2-OXUM-TWICE", file, line)
    elif label.casefold() in SINGLE_LABELS:
        _take(tally, "BAGIT-2.2.2-REPEATED", file, line, label=label)


def _check_oxum(tally: Tally, place: tuple[str, int], value: str, octets: tuple[int, int]) -> None:
    declared_octets = read_oxum(value)
    if declared_octets is None:
        _take(tally, "BAGIT-2.2.2-OXUM", *place, value=value)
    elif declared_octets != octets:
        actual_octets = f"{octets[0]}.{octets[1]}"
        _take(tally, "BAGIT-2.2.2-OXUM-DIFFERS", *place, expected=value, found=actual_octets)


def _take(tally: Tally, code: str, file: str, line: int, **data: object) -> None:
    tally.add_hit(Hit(code, file, line=line, data=place_data(data)))
