"""Random trees, and what reads a package back whole."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from noarkit.errors import UnsafePath
from noarkit.forms.container.building import File
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.spec import CONTENT
from noarkit.safe.paths import checked_parts, twin_key


def is_plain(name: str) -> bool:
    """True for a name that any package may hold."""
    try:
        return checked_parts(name) == tuple(name.split("/"))
    except UnsafePath:
        return False


part = st.text(
    st.one_of(st.sampled_from("aB%+\\\n\r\t#&<? ~.å\u030aÅ'\";:0"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=12,
).filter(lambda text: "/" not in text and is_plain(text))
names = st.lists(part, min_size=1, max_size=3).map("/".join).filter(is_plain)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, bytes]:
    """Files whose names are no twins, none of which is another's folder."""
    found: dict[str, bytes] = {}
    taken: dict[str, str] = {}
    for name in draw(st.lists(names, max_size=6)):
        steps = [name[:at] for at in range(len(name)) if name[at] == "/"]
        free = twin_key(name) not in taken and all(taken.get(twin_key(step), step) == step for step in steps)
        if free and not any(step in found for step in steps):
            taken.update({twin_key(step): step for step in steps})
            taken[twin_key(name)] = name
            found[name] = draw(st.binary(max_size=200))
    return found


def laid(root: Path, tree: dict[str, bytes]) -> list[File]:
    """The tree as files below a folder, and as the writer takes them."""
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return [(name, root / name, None, "") for name in sorted(tree)]


def content_of(path: Path) -> dict[str, bytes]:
    """What lies in content/, read in both ways that there are."""
    found = {}
    with open_dias(path) as package:
        if package.located.is_tar:
            package.prove_seal()
        for entry in package.entries():
            with package.open(entry.name) as file:
                found[entry.name] = file.read(1 << 23)
                assert file.read(1) == b""
        assert found == {entry.name: file.read() for entry, file in package.contents()}
    above = f"{CONTENT}/"
    return {name.removeprefix(above): held for name, held in found.items() if name.startswith(above)}
