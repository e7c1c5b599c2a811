"""Package forms: each knows how it is read, how it is written and what it holds.

    registry        which forms there are: ours, and those that other packages register
    package_form    what a form is to the rest of the house, as one value
    recognition     which form a place has, found by what is in it
    form_markers    what is seen of a place that is asked which form it has
    finders         the source behind a path, URL or name
    validation      validates a package by the rules of its form
    findings        rules, findings, counts and the report of a validation
    extract_inside  validates the Noark 5 extract in a bag or an E-ARK package
    second_opinion  another validator, run beside ours
    container/      files of a package in a folder, zip or tar
    metadata/       what a package says of itself, in one shape for all forms
    comparison/     two extracts, or an extract and an archive
    noark5/ eark/ dias/ bagit/ siard/ addml/ sealed/   the forms

In a form, `read/` reads, `write/` writes, `rules/` validates (and never imports `write/`), `source/` yields records.
"""
