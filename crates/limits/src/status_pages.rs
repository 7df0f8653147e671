//! Limits of status pages.

use std::time::Duration;

use crate::units::{minutes, seconds};

/// Status pages of an organization.
pub const STATUS_PAGES_MAX: i64 = 50;
/// Monitors on one status page. WIRE 6.
pub const STATUS_PAGE_CHECKS_MAX: usize = 50;
/// Characters in the name of a status page. WIRE 6.
pub const STATUS_PAGE_NAME_CHARS_MAX: usize = 200;
/// Characters in the description of a status page. WIRE 6.
pub const STATUS_PAGE_DESCRIPTION_CHARS_MAX: usize = 500;
/// Characters in the name of a group of components.
pub const STATUS_GROUP_CHARS_MAX: usize = 100;
/// Days of availability on a status page. WIRE 6.
pub const STATUS_DAYS: usize = 90;
/// Time for which a status page is served from memory. WIRE 6.
pub const STATUS_PAGE_LIFE: Duration = seconds(30);
/// Status pages in memory; beyond, the oldest is removed.
pub const STATUS_PAGES_CACHED_MAX: usize = 1000;
/// Incidents on one status page.
pub const STATUS_INCIDENTS_MAX: i64 = 50;
/// Outages of its monitors on one status page.
pub const STATUS_OUTAGES_MAX: i64 = 500;
/// Maintenance windows of one status page; beyond, the oldest ended ones are deleted.
pub const STATUS_MAINTENANCE_MAX: i64 = 50;
/// Longest maintenance window.
pub const STATUS_MAINTENANCE_SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Subscribers of one status page.
pub const STATUS_SUBSCRIBERS_MAX: i64 = 1000;
/// Time to confirm a subscription.
pub const STATUS_CONFIRM_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum time between two requests of one subscriber to confirm.
pub const STATUS_CONFIRM_PAUSE: Duration = minutes(60);
/// Size of the address of a webhook that subscribes, bytes.
pub const STATUS_WEBHOOK_BYTES_MAX: usize = 2000;
