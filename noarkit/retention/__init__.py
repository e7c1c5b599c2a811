"""Removes what noarkit keeps of runs, once they are proven and their time is over, and says what was removed.

proof      whether a run is verified or delivered, and by what
inventory  what in a run folder is noarkit's own, and what is not
receipt    the receipt of a removal: begun, then done
erasing    removes the local data of one run; the same call again finishes what was begun
policy     which runs of a folder are kept
forgetting  removes the others, and keeps a log of it
"""
