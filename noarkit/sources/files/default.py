"""The recipe of a source of plain files: one record with one document and one version for every file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

from noarkit.recipes.comments import as_comment, comment, with_comments
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.sources.files.case_names import Fit
from noarkit.sources.files.levels import Levels
from noarkit.sources.files.mail_filing import MailEvidence
from noarkit.sources.files.owners import Owner
from noarkit.sources.files.register.cases import PROPERTY
from noarkit.sources.files.register.finder import FoundRegister
from noarkit.sources.files.register.recipe_text import (
    folder_lines,
    register_section,
    with_case_rule,
    with_documents,
    with_party,
)

TOP = Levels()
"""Case files are the folders of the first level: for sources whose folders nobody looked at."""
NOBODY = Owner()
_OF_A_JOURNAL = ("journalposttype", "registreringsDato")
"""Lines of a rule that only a Journalpost has fields for."""
_CASE_NUMBERS = (
    'saksaar = "= record.case.year | default(none)"',
    'sakssekvensnummer = "= record.case.number | default(none)"',
)
_MAPPE_ID = 'mappeID = "= record.case.ident | default(none)"'
_MUNICIPALITY = '#: municipality\n[defaults.Eiendom]\nknr = "ask"\n'
_PROPERTIES = """
[[map.parents.identifiers]]
each = "= record.case.properties | default([])"
type = "Eiendom"
[map.parents.identifiers.fields]
gnr = "= item.gnr"
bnr = "= item.bnr"
fnr = "= item.fnr | default(none)"
snr = "= item.snr | default(none)"
"""
_MOST_TWICE = 40
_NO_CLASS, _NO_CLASS_TITLE = "0", "Uten klasse"
"""The default class in the template."""


def default_recipe(
    kind: str,
    system: str,
    root_name: str,
    levels: Levels = TOP,
    owner: Owner = NOBODY,
    *,
    letters: bool = True,
    lang: str = "en",
    asks: bool = False,
) -> str:
    """The text for a source of a `kind`, known in the archive as `system`; folders down to the level of the case files
    become Mappe, each inside the one above it.

    Where there are mails, they have their parties, dates and attachments; where the folders are named like cases, the
    folders become Saksmappe and the mails Journalpost. Without an `owner` that waits for the line `own_domains = …`:
    until then it is not known which mails came in. `letters` is False if the source itself says how mails are read.
    Comments are in the language `lang`. `asks`: what of a register a person has to decide is a question, at which a
    plan stops.
    """
    register = levels.register
    of_cases = register is not None and register.rules.of_cases
    in_cases = of_cases or bool(levels.mails and levels.are_cases)
    text = _template("case-recipe.toml" if in_cases else "default-recipe.toml")
    if levels.fit or of_cases:
        text = _with_numbers(text, register if of_cases else None, in_cases=in_cases)
    if register and of_cases:
        text = with_party(text, register)
    elif register:
        text = with_documents(text, register)
    in_column = of_cases and register is not None and PROPERTY in register.rules.columns
    if in_cases and asks and (levels.with_property or in_column):
        text = _with_properties(text)
    if levels.mails:
        text = _with_mails(text, in_cases=in_cases, owned=bool(owner.domain))
    if of_cases:
        text = with_case_rule(text, lang)
    level_text, owner_text = _level_comment(levels, lang), _owner_comment(owner, lang)
    text = with_comments(
        *(text, lang), seen=level_text, level=levels.case_level, way=owner_text, count=levels.with_property
    )
    text = text.replace("CLASS", _class(levels.case_level)).replace("LEVEL", str(levels.case_level))
    if levels.copied:
        days = ", ".join(map(basic_string, levels.copied))
        remark = as_comment(comment(lang, "copied"))
        text = text.replace('case = "span"\n', f'case = "span"\n{remark}\ncopied = [{days}]\n')
    if register:
        section = register_section(register, lang, asks=asks)
        text = text.replace("[personal_data]", f"{section}[personal_data]", 1)
    text = text.replace(
        'kind = "files"', "\n".join(_source(kind, levels, owner, letters=letters, lang=lang, asks=asks))
    )
    text = text.replace('external_system = "files"', f"external_system = {basic_string(system)}")
    return text.replace('{ tittel = "Filer" }', f"{{ tittel = {basic_string(f'Filer: {root_name}')} }}")


def _source(kind: str, levels: Levels, owner: Owner, *, letters: bool, lang: str, asks: bool) -> Iterator[str]:
    yield f"kind = {basic_string(kind)}"
    if kind == "files":
        yield f"case_level = {levels.case_level}"
        if levels.fit:
            yield from _case_names(levels.fit, lang, asks=asks)
    if asks and levels.left_behind:
        yield as_comment(comment(lang, "left-behind", count=levels.left_behind))
        yield 'system = "skip"'
    if levels.mails:
        if letters:
            yield 'mail = "letters"'
        yield as_comment(comment(lang, "own-domains"))
        if owner.candidates:
            yield as_comment(comment(lang, "own-candidates", names=", ".join(owner.candidates)))
        domain = ASK if asks and owner.candidates else owner.domain
        yield f"own_domains = [{basic_string(domain) if domain else ''}]"
        if levels.mail_cases and letters:
            yield from _mail_cases(levels.mail_cases, lang)


def _case_names(fit: Fit, lang: str, *, asks: bool) -> Iterator[str]:
    """The form of the names of case files with its evidence, and what of it somebody should decide."""
    key = "case-name-asks" if fit.asks else "case-name"
    counts = {"matching": fit.matching, "folders": fit.folders, "agreeing": fit.agreeing, "known": fit.known}
    yield as_comment(comment(lang, key, **counts))
    yield f"{'# ' if fit.asks else ''}case_name = {basic_string(fit.form.text)}"
    if fit.twice:
        yield as_comment(comment(lang, "case-twice-asks" if asks else "case-twice"))
        open_answer = [ASK] if asks else []
        names = ", ".join(basic_string(name) for name in (*open_answer, *fit.twice[:_MOST_TWICE]))
        yield f"{'# ' if fit.asks else ''}case_exceptions = [{names}]"


def _mail_cases(evidence: MailEvidence, lang: str) -> Iterator[str]:
    """That the mails of mailboxes go to the cases that they name, with the evidence, or as a question."""
    counts = {"mailboxes": evidence.mailboxes, "messages": evidence.messages, "named": evidence.by_number}
    key = "mail-cases-asks" if evidence.asks else "mail-cases"
    yield as_comment(comment(lang, key, **counts, others=evidence.messages - evidence.by_number))
    yield f'{"# " if evidence.asks else ""}mail_cases = "number"'


def _with_numbers(text: str, register: FoundRegister | None, *, in_cases: bool) -> str:
    """The recipe with the number and the title of a case file where its name, or its row in a register, tells them."""
    names = ["record.case.title"]
    if register and "tittel" in register.rules.columns:
        names.insert(0, "record.case.row.tittel")
    if in_cases:
        first, *other_names = (*names, "record.folders[:LEVEL] | last")
        title = first + "".join(f" | default({name})" for name in other_names)
        lines = (*_CASE_NUMBERS, _MAPPE_ID, *(folder_lines(register) if register else ()))
        plain = 'tittel = "= record.folders[:LEVEL] | last | default(record.root)"'
        return text.replace(plain, "\n".join((f'tittel = "= {title} | default(record.root)"', *lines)))
    plain = 'fields = { tittel = "= item" }'
    at_level = "if index == LEVEL - 1 else"
    title = f"= record.case.title | default(item) {at_level} item"
    ident = f"= record.case.ident | default(none) {at_level} none"
    return text.replace(plain, f'fields = {{ tittel = "{title}", mappeID = "{ident}" }}')


def _with_properties(text: str) -> str:
    """The recipe with the properties of each case file; in which municipality they lie is asked."""
    before, of_cases, after = text.partition("[defaults.Saksmappe]\n")
    unit, _, other_lines = after.partition("\n")
    return f"{before}{of_cases}{unit}\n\n{_MUNICIPALITY}{other_lines}".rstrip() + f"\n{_PROPERTIES}"


def _with_mails(text: str, *, in_cases: bool, owned: bool) -> str:
    """The recipe with a rule for mails before that for files, in the same folders. Where nobody knows whose they are, a
    mail is a journal post only if its direction is known."""
    parents = text[text.index("[[map.parents]]") :].rstrip()
    rule = _template("mail-map.toml")
    plain = rule.replace('"Journalpost"', '"Basisregistrering"')
    plain = "".join(line for line in plain.splitlines(keepends=True) if not line.startswith(_OF_A_JOURNAL))
    rules = [rule] if in_cases else [plain]
    if in_cases and not owned:
        known = rule.replace('parties"\ntype', 'parties and record.mail.direction"\ntype')
        rules = [known, plain[plain.index("[[map]]") :]]
    at = text.index('[[map]]\nfor = ["file", "mail"]')
    written = "".join(f"{part}{parents}\n\n" for part in rules)
    return f"{text[:at]}{written}{text[at:]}"


def _class(level: int) -> str:
    """The class of a Saksmappe: the folders above it. Where a file lies higher than its case file would, the class of
    its folder would have classes below it, so there it is one of its own beneath that: `A/0`, and at the top `0`."""
    if level == 1:
        return '"0"'
    levels = "= (record.folders + ['{last}'])[:{count}]"
    ident, titles = levels.format(last=_NO_CLASS, count=level - 1), levels.format(last=_NO_CLASS_TITLE, count=level - 1)
    return f'{{ ident = "{ident}", titles = "{titles}" }}'


def _owner_comment(owner: Owner, lang: str) -> str:
    if owner.domain:
        return comment(lang, "owner", mails=owner.mails, read=owner.read, domain=owner.domain)
    return comment(lang, "no-owner", read=owner.read) if owner.read else ""


def _template(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _level_comment(levels: Levels, lang: str) -> str:
    """What the level was chosen by, as a comment."""
    if not levels.folders:
        return comment(lang, "seen-top", level=levels.case_level)
    counts = {"level": levels.case_level, "folders": levels.folders, "like": levels.case_like, "deeper": levels.deeper}
    return comment(lang, "seen-deeper" if levels.deeper else "seen", **counts)
