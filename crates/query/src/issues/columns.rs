//! Output columns of the plans of Issues.

/// The hash of the Issue.
pub(super) const GROUP: &str = "group";
/// Number of occurrences.
pub(super) const COUNT: &str = "count";
/// Time of the first occurrence.
pub(super) const FIRST_SEEN: &str = "first_seen";
/// Time of the last occurrence.
pub(super) const LAST_SEEN: &str = "last_seen";
/// The latest occurrence.
pub(super) const LATEST: &str = "latest";
/// Number of rows.
pub(super) const ROWS: &str = "rows";
