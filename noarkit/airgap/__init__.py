"""The air gap: a run or a plan is sealed into a signed bundle, received on the other side and acknowledged."""
