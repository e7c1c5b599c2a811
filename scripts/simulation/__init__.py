"""Loads in virtual time: the real coordinator, journal and workers' code; archive, network and machines are modelled.

world      the clock, and tasks that take turns
holdings   what the modelled archive holds, and how it answers
service    how long its requests take, and what goes wrong with them
machines   `Workers` whose workers are virtual machines
plans      graphs of records that nobody wrote
schedules  what goes wrong, by seed
search     one schedule played and judged
mutants    loads with one protection taken out
scaling    what 1 to 200 workers bring
"""
