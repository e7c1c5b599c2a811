"""A project: one folder and one file that carry a source all the way to a package, by the ordinary commands.

project    what a person decided, in `deposit.toml`
questions  what nobody has decided yet, and their answers
answers    whether an answer can be one
lines      what the ordinary commands are given in it, written out and by `--project`
successor  a new project with the answers of another, for what an archive that is loaded cannot take any more
road       the steps, how far each is by what lies in the folder, and the command that does it

Nothing is noted down: how far a project is, is seen by looking at its recipe, copies, runs and package.
"""
