"""The command line: the only place that prints or exits. One file a command, named as the command is; beside those:

main            finds the command; faults → words and exit codes
options         options that every command has, the session they make, help from `words/`
console         results on stdout, lines for people on stderr, JSON on request
exit_codes      the exit code of a command, from its result
contract        what every line of --json can hold
progress        how far a run is, on a terminal and elsewhere
running         what every command on a run shares: listeners, signals, its end
form_choices    choices that a registry knows: forms of package, formats of results
derived         what `derive` prints
derive_archive  `derive --archive`: copies of documents in an archive, and their addition
derive_compare  `derive --compare`: a document beside its copy, on a page
configuring     `connect SERVICE:NAME configure`
connectivity    the line to an archive, for `doctor`
unattended      what a night alone needs, for `doctor --run`
"""
