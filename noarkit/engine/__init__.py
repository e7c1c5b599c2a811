"""Who runs a shard: this process, its children, many machines. Engines move work; the journal holds what is true."""
