"""The command line: the only place that prints or exits.

main      the group, faults → exit codes       options   global options, sessions, commands and their help
show      results, faults, events, logs        one file a command beside them
"""
