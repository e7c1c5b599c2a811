"""Recipes: TOML that says what each source record becomes. Data, not code; the same language for every source.

    lines        which line of a TOML text every key stands on      toml_table   a table of it while it is read
    recipe_model  the parsed recipe, as frozen data classes
    read         TOML text → the parsed recipe
    register_section  the section of a register
    defaults     what the four archive models fill in where a recipe is silent
    expressions  the sandbox of "= …" values         filters   what they can do   patterns   that cannot hang
    python_code  an expression as Python text              field_code   all fields of a rule as one Python function
    map_code     a whole rule as one Python function       record_keys  the keys of what a record becomes
    values       dates, numbers and texts in wire form
    compile      a recipe held to the metamodel; compiled: the form it runs in; links: which type hangs where
    targets      arkivskaper, arkiv, arkivdeler, classifications and classes as entities
    mapper       one source record to its entities   leaves    the rule of leaf classes
    personal     identity numbers in titles and open fields
    checking     every fault of a recipe, with its line
    screening    what a recipe leaves open about who may see its records
    proposal     a recipe fitted to what a source holds       toml_writer   data back to commented TOML
    date_headings  what columns that hold a day are called
    comments     what a proposed recipe says of itself, in a language
    examples     a recipe for each type, a line for each field

    recipe = read_recipe(text, "recipe.toml")
    problems = check(recipe, sample_records)
    mapper = compile_recipe(recipe)
    mapper.targets()            # once, before the records
    mapper.map(record)          # Mapped | SetAside | Skipped

The language
============

A value is a constant, or an expression: a text that begins with "= ". None and "" leave a field out; a name that is
not there is a fault unless `| default(…)` follows. The names an expression sees: `record` (the record's fields, and
`record.key`, `record.kind`, `record.contents`), `key`, `kind`, `contents`; under `each` also `item`, `index` (from 0)
and `items`. A content has `name stem extension size media_type puid modified sha256 format index`. Nothing can be
called or raised to a power, and there are no loops; filters do the work:

    texts      trim lower upper capitalize title replace(a, b) split(sep) join(sep) clip(n) readable string
    paths      stem extension basename folder
    lists      first last length list reverse sort unique part(n) named(name) compact pluck(name)
    values     default(x) (also for none and "")  code("NAME")  date  timestamp  number  int  round(n)  year  epoch(u)
    patterns   match("^(\\d+)-(.*)$") gives the list of groups, or none
    tests      is defined, undefined, none, blank, string, number, mapping, sequence, date, in, matching("…"),
               startingwith("…"), endingwith("…")

Noark names stand in `fields` always, and nowhere else. A field has two, the archive's (mappeIdent) and the standard's
(mappeID); either counts.

    [source]
    kind = "files"                      # or a list of kinds

    [target]
    external_system = "filserver"       # eksterntSystem of every source key
    model = 2                           # 1 records · 2 Mappe · 3 Saksmappe, Journalpost · 4 meetings: fills in the rest
    zone = "Europe/Oslo"                # where times without zone are from
    close = true                        # finalise what was made, after the last chunk

    [target.follow]                     # what of a case file that is in the archive already follows its source;
    Saksmappe = ["saksstatus"]          # else tittel, saksansvarlig, saksstatus and parties that differ are listed

    [target.arkivskaper]                # each: mode = "find", "create" or "find-or-create" (default), and fields
    fields = { arkivskaperIdent = "987654321", arkivskaperNavn = "Fjord kommune" }
    [target.arkiv]
    fields = { tittel = "Fjord kommune" }
    [[target.arkivdel]]                 # one ([target.arkivdel]) or several; the first is used where a map names none
    name = "saker"                      # what `arkivdel = …` in a map says; default: its tittel
    mode = "find"
    fields = { tittel = "Saksarkiv 2020-2024" }
    [[target.classification]]           # one or several; the first "primary" one is what `class = …` means
    name = "emne"
    role = "primary"                    # or "secondary"
    arkivdel = ["saker"]                # which arkivdeler it belongs to; default: all
    fields = { tittel = "Emne" }
    separator = "."                     # "1.2.3" is a child of "1.2"
    leaf = "fault"                      # only leaf classes hold records. "fault": what breaks that is set aside.
    leaf_ident = "0"                    # "child": all go to IDENT + separator + leaf_ident, save declared leaves
    leaf_title = "Generelt"
    default_class = { ident = "0", title = "Uten klasse" }
    class_mode = "find-or-create"       # for classes, declared ones too; "find" where the archive's own are to be used
    classes = [ { ident = "1", title = "Fisk" }, { ident = "1.1", title = "Torsk" } ]

    [dates]                             # how the dates of files are found, and what follows from those of records
    from = ["register", "name", "mail", "document", "file"]     # files: what says `record.date`, the best first
    period = ["2014-01-01", "2019-12-31"]                       # files: dates outside count where no other is there
    copied = ["2026-03-02", "2026-03-04"]                       # files: file times of these days say nothing
    case = "span"                       # folders get the first and the last day of their records; default "none"
    archived = "last"                   # a record is archived on its date, or when it is loaded ("load")

    [personal_data]
    identity_numbers = "report"         # "set-aside" or "screen" (with screening = "CODE")
    left_out = "mask"                   # records that nobody mapped, where a rule may screen; "show" where all are open

    [[skip]]
    for = "file"                        # optional, as in [[map]]
    when = "= record.name == 'Thumbs.db'"
    reason = "made by the system"

    [codes.doctype]                     # used as "= record.type | code('doctype')"; "*" catches the rest
    brev = "I"
    "*" = "X"

    [formats]
    locale = "nb"                       # or "en": month names, and the forms tried after ISO 8601
    dates = ["%d.%m.%Y", "%d. %B %Y"]   # tried first; %d %m %Y %y %H %M %S %b %B %z
    decimal = ","
    thousands = " "
    century = 1950                      # two-figure years are read as 1950–2049
    longest = 32000                     # longer texts are cut, with a note

    [defaults.Saksmappe]                # for every Saksmappe that is silent about it
    administrativEnhet = "ARK"

    [[map]]                             # the first that fits a record is used; a record that none fits is set aside
    for = "file"                        # kind of source record, or a list; default: any
    when = "= record.name is endingwith('.pdf')"
    type = "Basisregistrering"          # any record or folder type; with `parent`, also Sakspart, Merknad, Dokument …
    key = "= record.key"                # the default
    arkivdel = "saker"
    class = "= record.parts[0]"         # or { ident = …, title = …, titles = "= …", in = "emne", fields = {…} };
    #                                     an ident may be a list of levels; titles are those of the levels
    secondary_classes = [ { in = "objekt", ident = "= record.object" } ]
    screening = "= record.screening | default(none)"                     # skjerming
    disposal = { vedtak = "B", hjemmel = "= record.rule", bevaringstid = 10 }
    business_metadata = { group = { field = "= record.x", list = ["a", "= record.y"] } }
    keywords = "= record.tags"          # or a list of values
    [map.fields]
    tittel = "= record.name | stem | readable"
    dokumentetsDato = "= record.modified"

    [[map.parents]]                     # outermost first; created once, when the first record needs it
    when = "= record.folders"           # optional
    each = "= record.folders"           # optional: one folder an item, each inside the one before
    key = "= record.folders[0]"         # unique in the source; never changes
    type = "Mappe"
    fields = { tittel = "= record.folders[0]" }
    #                                     also class, secondary_classes, parties, keywords, notes … as in a map

    # parent = "= record.case_key"      # instead of parents: the key of a source record before this one, which becomes
    #                                     a folder; or { key = …, type = "Saksmappe" } where its type is not clear

    [[map.parties]]                     # Sakspart on folders, Korrespondansepart on records
    each = "= record.mail.to"
    fields = { korrespondanseparttype = "EM", korrespondansepartNavn = "= item.name" }
    [[map.notes]]                       # Merknad
    fields = { tekst = "= record.comment" }
    [[map.identifiers]]                 # Adresse, Bygning, Eiendom, Plan, Posisjon …
    type = "Eiendom"
    fields = { knr = "= record.knr", gnr = "= record.gnr", bnr = "= record.bnr" }
    [[map.external_ids]]                # besides the source key, which every folder and record carries
    fields = { eksterntSystem = "gammelt", eksternID = "= record.old_id" }
    [[map.cross_references]]
    to = "Registrering"                 # or "Mappe"
    key = "= record.see_also"           # one key or a list
    from = "record"                     # or "parents": a folder made by some map's parents (default for Mappe)
    [[map.sign_offs]]                   # Avskrivning of a Journalpost
    by = "= record.answered_by"         # keys of the Journalposter that answer it
    fields = { avskrivningsmaate = "BE" }
    [[map.flows]]                       # Dokumentflyt
    [[map.participants]]                # Moetedeltaker, on a Moetemappe

    [[map.documents]]                   # default: one for each content, the first H, the others V
    each = "= contents"
    fields = { tittel = "= item.name", tilknyttetRegistreringSom = "= 'H' if index == 0 else 'V'" }
    #                                     also notes, external_ids, screening, disposal, business_metadata
    [[map.documents.versions]]          # default: the item, in production format
    content = "= item"                  # a content, its index or its name; none leaves the version out
    fields = { variantformat = "P" }    # format and formatDetaljer are filled in from the content

Keys
====

The entity of a source record has the record's key, `#` written `##` and signs that XML forbids written `#{hex}`; what
hangs under it adds one `#`: `KEY#d1` document, `KEY#d1v1` version, `KEY#p1` party, `KEY#k1` keyword, `KEY#n1` note,
`KEY#i1` identifier, `KEY#x1` external id, `KEY#s1` sign-off, `KEY#f1` flow, `KEY#m1` participant. Numbers count the
items of a section before `when` leaves some out, so that they stay the same. A document of which the source says which
one of its record it is, by its own id, is `KEY#d=IDENTITY` instead, whatever stands before it. Folders are
`folder:KEY`, classes `class:SYSTEM#IDENT`, targets `arkiv:TITLE`, `arkivskaper:IDENT`, `arkivdel:TITLE`,
`classification:TITLE`. A source key that begins like one of these gets `record:` before it.

What is told about a record
===========================

Taken, with a note: W221 signs that XML forbids were replaced by U+FFFD · W222 a text was cut · W223 an identity number
was found (and the record screened) · W224 contents that the recipe leaves out. Set aside: F220 the recipe does not fit
the record (its data say line, why and what) · F221 an identity number was found.
"""

from noarkit.recipes.checking import check, fits
from noarkit.recipes.mapper import Mapper, compile_recipe
from noarkit.recipes.proposal import observe, propose
from noarkit.recipes.read import read_recipe
from noarkit.recipes.recipe_model import Recipe, RecipeProblem
from noarkit.recipes.targets import NATURAL_KEYS
from noarkit.recipes.toml_writer import render

__all__ = [
    "NATURAL_KEYS",
    "Mapper",
    "Recipe",
    "RecipeProblem",
    "check",
    "compile_recipe",
    "fits",
    "observe",
    "propose",
    "read_recipe",
    "render",
]
