"""The engines that run shards: this process or its children. Engines move work; the journal holds what is true."""
