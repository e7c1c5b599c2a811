"""Who runs a shard: this process, children of it, many machines. Engines move work; what is true stands in the journal."""
