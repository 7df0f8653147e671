//! Impact, Apdex and the other figures that rank rows: formulas over aggregates.
