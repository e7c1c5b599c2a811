"""Estimates a load before it begins: time, requests, disk, memory and cost, and what more workers would bring.

demand    what a plan will ask of archive, source and machine: counted from graph.db
figures   how long each kind of work takes, with its range
probe     measures an archive and this machine
earlier   what earlier loads took, as figures
model     time by workers, and which limit a load meets
estimate  all of it for one run
"""
