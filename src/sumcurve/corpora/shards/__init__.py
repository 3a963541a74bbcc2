"""The corpus that `prepare` makes, byte for byte, of raw content that is cut into shards: in flat memory, by many jobs.

`cutting` reads all content once and cuts it at line ends into n shards. `mapping` makes records of a shard's rows and
writes of each row what became of it, and four hashes. `nearness`, where near-duplicates are dropped, finds the pairs of
sources that are near each other under an n-th of the keys of their shingles. `reduction` has DuckDB compare the hashes
of all shards, out of core, and decides which rows leave and which part each other is in. `assembly` writes the corpus:
an n-th of the keyed hashes after the other, so that no more than an n-th of the records is in memory.

The corpus does not depend on how many shards or workers there are. Every step but the last two, which are made while
the corpus is written, writes a JSON file last, which says that it is finished: a step that finds its own does nothing.
"""
