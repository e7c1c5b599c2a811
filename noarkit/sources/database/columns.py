"""The columns of tables, and other values that have a type, as the library and the server's catalogue tell of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.dialects.postgresql import DOMAIN
from sqlalchemy.types import NullType, TypeEngine

from noarkit.sources.database.address import MYSQL, SQLITE
from noarkit.sources.database.catalogue import DeclaredColumn
from noarkit.sources.database.session import Session
from noarkit.sources.database.values import Kind, kind_of

_SIZE = re.compile(r"\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `declared_type` is the type in the server's words (of a `domain`, what that stands for); `size` its
    length or bits, where it has one; `generation` how the server makes its values by itself, in SQL."""

    name: str
    declared_type: str
    kind: Kind
    nullable: bool = True
    default: str | None = None
    comment: str = ""
    size: int | None = None
    precision: int | None = None
    scale: int | None = None
    choices: tuple[str, ...] = ()
    domain: str = ""
    generation: str = ""


def read_column(
    session: Session, info: Any, declaration: DeclaredColumn | None
) -> Column:  # Any: the inspector's own mapping
    """A column as the library found it, and as the server's catalogue declares it."""
    reflected: TypeEngine[Any] = info["type"]
    while isinstance(reflected, DOMAIN):
        reflected = reflected.data_type
    words = (declaration.words if declaration else "") or _words_of(reflected)
    size = getattr(reflected, "length", None)
    if size is None and (match := _SIZE.search(words)):
        size = int(match[1])
    column = Column(
        name=unescaped(session.family, info["name"]),
        declared_type=words,
        kind=kind_of(session.family, words, reflected),
        nullable=bool(info.get("nullable", True)),
        default=None if info.get("default") is None else str(info["default"]),
        comment=str(info.get("comment") or ""),
        size=size,
        precision=getattr(reflected, "precision", None),
        scale=getattr(reflected, "scale", None),
        choices=tuple(
            str(choice) for choice in getattr(reflected, "enums", ()) or getattr(reflected, "values", ()) or ()
        ),
        generation=declaration.generation
        if declaration and declaration.generation
        else _generation(session.family, info),
    )
    if declaration is None or not declaration.domain:
        return column
    base = column_of(session, column.name, words)  # the library knows nothing of the figures of a domain
    return replace(column, domain=declaration.domain, size=base.size, precision=base.precision, scale=base.scale)


def column_of(session: Session, name: str, words: str) -> Column:
    """A value that stands in no table, by its type in the server's words: the parameter of a routine, or a part of a
    structure."""
    plain = words.lower().removesuffix("[]").split("(")[0].removesuffix(" unsigned").strip()
    shape = getattr(session.dialect, "ischema_names", {}).get(plain, NullType)
    figures = [int(part) for part in _FIGURES.findall(_LABELS.sub("", words))]
    kind = kind_of(session.family, words, shape())
    labels = tuple(part.replace("''", "'") for part in _LABELS.findall(words)) if kind is Kind.CHOICE else ()
    numeric = kind is Kind.DECIMAL and len(figures) > 0
    return Column(
        name=name,
        declared_type=words,
        kind=kind,
        size=figures[0] if figures else None,
        precision=figures[0] if numeric else None,
        scale=figures[1] if numeric and len(figures) > 1 else None,
        choices=labels,
    )


_FIGURES = re.compile(r"\d+")
_LABELS = re.compile(r"'((?:[^']|'')*)'")


def _generation(family: str, info: Any) -> str:  # Any: the inspector's own mapping
    """How a server makes the values of a column by itself, as SQL has it; of SQLite its own statement tells."""
    if family == SQLITE:
        return ""
    computed, identity = info.get("computed"), info.get("identity")
    if computed:
        return f"GENERATED ALWAYS AS ({computed['sqltext']}){' STORED' if computed.get('persisted') else ''}"
    if isinstance(identity, str):  # PostgreSQL's JSON, which our sessions take as text
        identity = json.loads(identity)
    if not identity:
        return ""
    options = [f"{word} {identity[name]}" for name, word in _IDENTITY.items() if identity.get(name) is not None]
    options += ["CYCLE"] if identity.get("cycle") else []
    return f"GENERATED {'ALWAYS' if identity.get('always') else 'BY DEFAULT'} AS IDENTITY ({' '.join(options)})"


_IDENTITY = {"start": "START WITH", "increment": "INCREMENT BY", "minvalue": "MINVALUE", "maxvalue": "MAXVALUE"}


def unescaped(family: str, name: str) -> str:
    """The library reads MySQL's names from a statement, and leaves doubled quotes in them as they stand there."""
    return name.replace("``", "`") if family == MYSQL else name


def _words_of(reflected: TypeEngine[Any]) -> str:
    if isinstance(reflected, NullType):
        return ""
    return str(reflected)
