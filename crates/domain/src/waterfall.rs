//! Stored spans to an ordered tree: missing parents, cycles, graph limits.
