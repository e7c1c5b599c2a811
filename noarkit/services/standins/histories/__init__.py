"""Histories of stand-ins: what happens in a service while somebody reads it. The engine knows nothing of services; each
stand-in says in a small table what a change does to its data.

    script   changes and their moments, read from a file and written to one
    player   the clock of a stand-in, and the changes that are due by it or by a call
    chance   a history drawn from a seed
"""
