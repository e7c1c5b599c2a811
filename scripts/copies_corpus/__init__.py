"""Documents of many kinds for archival copies, and what the shipped policy makes of each.

letters   made-up Norwegian texts: the same number gives the same letter
kinds     every kind: how it is written, and what becomes of it
__main__  writes them into a folder, with `expected.json` beside them
"""
