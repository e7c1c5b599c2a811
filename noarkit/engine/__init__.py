"""Who runs a shard: this process, its children, many machines. Engines move work; what is true stands in the journal."""
