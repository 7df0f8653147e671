//! The specification's rules, one file per idea.
