//! From an accepted body to stored rows, and what became of every request and record.
