"""TOML → a policy. An unknown key, an unknown rule or a format in two rules is a fault with its line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import orjson

from noarkit.copies.port import VIEWS, Action, Identity, Response, Rule
from noarkit.errors import ConfigFault
from noarkit.model.conversions import Purpose
from noarkit.safe.toml import Document, parse_toml, read_toml

SHIPPED = ("no-raf-2022",)
"""The policies that come along, by name."""
CHECKS = ("pdfa", "opens", "utf-8", "xml", "json", "zip", "self-contained", "image", "tiff", "codec")
"""What `validate` may ask of a document that is kept as it is."""
CONVERTERS = (
    *("office", "pdf-declare", "pdf-repair", "pdftocairo", "ghostscript", "image", "image-pdf", "text", "page", "mail"),
    *("sound", "video", "snapshot", "ocr"),
    *("picture-view", "pdf-view", "sound-view", "video-view", "tables"),
)
TARGETS = ("pdfa-1b", "pdfa-2b", "pdfa-3b", "odt", "ods", "odp", "png", "tiff", "flac", "mkv", "utf-8")
ACCESS_TARGETS = (*TARGETS, *VIEWS)
"""What a copy for reading may be: what is archival, and what holds less than its original."""
_ACCESS_ACTIONS = ("derive", "leave")

_POLICY_KEYS = {"name", "base", "keep-original", "agent", "on-mismatch"}
_OPTIONS: Mapping[str, type] = {
    "validate": str,
    "otherwise": str,
    "freeze-fields": bool,
    "signed": str,
    "decode-as": list,
    "frames": str,
    "codec": str,
    "language": str,
    "reason": str,
    "longest-side": int,
    "resolution": int,
    "quality": int,
}
"""What a rule may say beside the keys that every rule has, with the type of each."""
_BOUNDS: Mapping[str, tuple[int, int]] = {"longest-side": (200, 20_000), "resolution": (50, 1_200), "quality": (1, 100)}
"""The least and the most that each number may be."""
_Mark = tuple[Purpose, str]
"""What a rule is found by, for a purpose."""
_RULE_KEYS: Mapping[str, type] = {
    "match": list,
    "action": str,
    "converters": list,
    "target": str,
    "also": str,
    "findings": dict,
    "why": str,
    "steps": list,
    "purpose": str,
    **_OPTIONS,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a site. Those of a policy that changes another come before what it changes."""

    name: str
    rules: Mapping[str, Rule]
    keep_original: bool = True
    """True where the original of a document with a copy goes along, where its own format is taken too."""
    agent: str = "noarkit"
    """Who makes the copies, for the record of each conversion."""
    refuses_mismatch: bool = True
    """True where a document whose name contradicts its bytes is not converted."""
    _by_match: Mapping[_Mark, str] = field(default_factory=dict, repr=False)

    @property
    def has_access(self) -> bool:
        """True where copies for reading are made too."""
        return any(rule.purpose == "access" for rule in self.rules.values())

    def rule_for(self, identity: Identity, purpose: Purpose = "archive") -> Rule | None:
        """The rule of a document for a purpose: by its PRONOM identifier, else its media type, else its ending where
        the bytes agree.        None where there is none."""
        for mark in _marks(identity):
            name = self._by_match.get((purpose, mark))
            if name is not None:
                return self.rules[name]
        return None

    def otherwise(self, rule: Rule) -> Rule | None:
        """The rule for a document that its own does not fit: one to be kept that does not hold what is asked, or one
        that no converter of its rule takes."""
        name = rule.options.get("otherwise")
        return self.rules[str(name)] if name else None

    def rule_digest(self, rule: Rule) -> str:
        """A digest of what a rule says about making a copy. What it says about findings is no part of it: a person can
        change that, and no copy becomes another by it."""
        parts = [rule.action, rule.converters, rule.target, rule.also, dict(sorted(rule.options.items()))]
        parts += [rule.purpose] if rule.purpose != "archive" else []
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def read_policy(place: Path | None = None) -> Policy:
    """The policy in a file; without one, the shipped one. Raises `ConfigFault` with the line of what cannot be used."""
    if place is None:
        return _policy(_shipped(SHIPPED[0]))
    return _policy(_shipped(str(place)) if str(place) in SHIPPED and not place.exists() else read_toml(place))


def _shipped(name: str) -> Document:
    resource = files("noarkit.copies.policy").joinpath(f"{name}.toml")
    return parse_toml(resource.read_text("utf-8"), Path(f"{name}.toml"))


def _policy(document: Document) -> Policy:
    _refuse_unknown(document, "", document.data, {"policy", "rules"})
    head = _table(document, "policy", document.data.get("policy", {}))
    _refuse_unknown(document, "policy", head, _POLICY_KEYS)
    base = _base(document, head)
    own = _table(document, "rules", document.data.get("rules", {}))
    rules = dict(base.rules) if base else {}
    for name, value in own.items():
        rules[name] = _rule(document, name, _table(document, f"rules.{name}", value), rules.get(name))
    _refuse_unknown_rules(document, rules, own)
    ordered = {name: rules[name] for name in (*own, *(name for name in rules if name not in own))}
    keep = head.get("keep-original", base.keep_original if base else True)
    mismatch = head.get("on-mismatch", "refuse" if base is None or base.refuses_mismatch else "note")
    if not isinstance(keep, bool):
        raise _fault(document, "policy.keep-original", "not-a-bool")
    if mismatch not in ("refuse", "note"):
        raise _fault(document, "policy.on-mismatch", "not-one-of", proposal="refuse, note")
    return Policy(
        str(head.get("name") or document.path.stem),
        ordered,
        keep,
        str(head.get("agent", base.agent if base else "noarkit")),
        mismatch == "refuse",
        _table_of_matches(document, ordered, frozenset(own)),
    )


def _base(document: Document, head: Mapping[str, object]) -> Policy | None:
    name = head.get("base")
    if name is None:
        return None
    if name not in SHIPPED:
        raise _fault(document, "policy.base", "not-one-of", proposal=", ".join(SHIPPED))
    return _policy(_shipped(str(name)))


def _rule(document: Document, name: str, table: Mapping[str, object], base: Rule | None) -> Rule:
    """A rule: what the file says, over what the rule of that name in the base says."""
    at = f"rules.{name}"
    _refuse_unknown(document, at, table, set(_RULE_KEYS))
    for key, value in table.items():
        _check_type(document, f"{at}.{key}", value, _RULE_KEYS[key])
    action: Action = _one_of(document, f"{at}.action", table.get("action", base.action if base else None), Action)
    options = dict(base.options) if base else {}
    options.update((key, table[key]) for key in table.keys() & _OPTIONS.keys())
    responses = dict(base.responses) if base else {}
    for code, response in _table(document, f"{at}.findings", table.get("findings", {})).items():
        responses[code] = _one_of(document, f"{at}.findings", response, Response)
    rule = Rule(
        name,
        _texts(table.get("match"), base.match if base else ()),
        action,
        _texts(table.get("converters"), base.converters if base else ()),
        str(table.get("target", base.target if base else "")),
        str(table.get("also", base.also if base else "")),
        options,
        responses,
        str(table.get("why", base.why if base else "")),
        _texts(table.get("steps"), base.steps if base else ()),
        _one_of(document, f"{at}.purpose", table.get("purpose", base.purpose if base else "archive"), Purpose),
    )
    _check_rule(document, at, rule)
    return rule


def _check_rule(document: Document, at: str, rule: Rule) -> None:
    """Raises `ConfigFault` where a rule cannot be carried out."""
    for converter in rule.converters:
        if converter not in CONVERTERS:
            raise _fault(document, f"{at}.converters", "not-one-of", proposal=_near(converter, CONVERTERS))
    targets = ACCESS_TARGETS if rule.purpose == "access" else TARGETS
    for key, target in (("target", rule.target), ("also", rule.also)):
        if target and target not in targets:
            raise _fault(document, f"{at}.{key}", "not-one-of", proposal=_near(target, targets))
    if rule.purpose == "access" and rule.action not in _ACCESS_ACTIONS:
        raise _fault(document, f"{at}.action", "not-one-of", proposal=", ".join(_ACCESS_ACTIONS))
    if rule.purpose == "access" and rule.also:
        raise _fault(document, f"{at}.also", "unknown-key", proposal="target")
    for key, (least, most) in _BOUNDS.items():
        number = rule.options.get(key, least)
        if not isinstance(number, int) or not least <= number <= most:
            raise _fault(document, f"{at}.{key}", "not-in-range", proposal=f"{least}–{most}")
    check = rule.options.get("validate")
    if check is not None and check not in CHECKS:
        raise _fault(document, f"{at}.validate", "not-one-of", proposal=_near(str(check), CHECKS))
    if rule.action == "derive" and not (rule.converters and rule.target):
        raise _fault(document, f"{at}.{'target' if rule.converters else 'converters'}", "missing")


def _refuse_unknown_rules(document: Document, rules: Mapping[str, Rule], own: Mapping[str, object]) -> None:
    for name in own:
        other = rules[name].options.get("otherwise")
        if other is not None and (
            other not in rules or other == name or rules[str(other)].purpose != rules[name].purpose
        ):
            raise _fault(document, f"rules.{name}.otherwise", "not-one-of", proposal=_near(str(other), tuple(rules)))


def _table_of_matches(document: Document, rules: Mapping[str, Rule], own: frozenset[str]) -> dict[_Mark, str]:
    """The name of the rule of each mark. A site's rule wins over one of its base; two of one file are a fault."""
    by_match: dict[_Mark, str] = {}
    for name, rule in rules.items():
        for mark in rule.match:
            holder = by_match.setdefault((rule.purpose, mark), name)
            if holder != name and (holder in own) == (name in own):
                raise _fault(document, f"rules.{name}.match", "match-twice", proposal=f"{mark}: {holder}")
    return by_match


def _marks(identity: Identity) -> Iterator[str]:
    """What a rule can be found by, the surest first."""
    if identity.puid:
        yield identity.puid
    if identity.media_type:
        yield identity.media_type
    if identity.suffix and identity.puid and not identity.mismatch:
        yield identity.suffix
    if identity.media_type:
        yield identity.media_type.partition("/")[0] + "/*"


def _refuse_unknown(document: Document, at: str, table: Mapping[str, object], choices: set[str]) -> None:
    for key in table:
        if key not in choices:
            near = _near(key, tuple(sorted(choices)))
            raise _fault(document, f"{at}.{key}".lstrip("."), "unknown-key", proposal=near)


def _check_type(document: Document, at: str, value: object, kind: type) -> None:
    whole_list = isinstance(value, list) and all(isinstance(item, str) and item for item in value)
    if not isinstance(value, kind) or (kind is list and not whole_list) or (kind is int and isinstance(value, bool)):
        why = {list: "not-a-list", bool: "not-a-bool", dict: "not-a-table", int: "not-a-number"}.get(kind, "not-a-text")
        raise _fault(document, at, why)


def _table(document: Document, at: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise _fault(document, at, "not-a-table")
    return value


def _one_of(document: Document, at: str, value: object, choices: object) -> Any:  # Any: one word of `choices`
    """The value, which must be one of the words of a Literal. Raises `ConfigFault`."""
    words = get_args(choices)
    if value not in words:
        raise _fault(document, at, "not-one-of", proposal=", ".join(words))
    return value


def _texts(value: object, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else default


def _near(name: str, choices: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(name, choices, 1)), ", ".join(choices))


def _fault(document: Document, key: str, why: str, **data: object) -> ConfigFault:
    return ConfigFault(where=document.where(key), why=why, key=key, **data)
