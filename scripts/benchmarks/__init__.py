"""Benchmarks: each figure beside its floor, measured in the same run; medians of several rounds, ratios foremost."""
