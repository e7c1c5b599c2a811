"""The command line: the only place that prints or exits. One file a command, named as the command is; beside those:

main            finds the command; faults → words and exit codes
options         options that every command has, the session they make, help from `words/`
option_values   options made from classes of options, and their values
usage_faults    what is wrong with a command line, in the language of its reader
corrected_line  the line as it should be
console         results on stdout, lines for people on stderr, JSON on request
exit_codes      the exit code of a command, from its result
contract        what every line of --json can hold
terminal        lines broken to the width of a terminal, verdicts in colour
line_names      what RUN and SOURCE are on this command line
next_command    the command that comes next, with the real names
progress        how far a run is, on a terminal and elsewhere
project_line    what `--project` fills in
register_lines  how a register joins, as lines
noark_help      what `help` says of types and fields of Noark 5
noark_lists     all of them, for the chapter `noark-fields`
look_lines      items, cards and custody chains as lines
forgetting      `runs forget`
archive_room    the room that `serve` shows in a browser
running         what every command on a run shares: listeners, signals, its end
operating       who is told how a long command goes, as options and settings say
form_choices    choices that a registry knows: forms of package, formats of results
derived         what `derive` prints
derive_archive  `derive --archive`: copies of documents in an archive, and their addition
derive_compare  `derive --compare`: a document beside its copy, on a page
configuring     `connect SERVICE:NAME configure`
connectivity    the line to an archive, for `doctor`
unattended      what a night alone needs, for `doctor --run`
"""
