//! Metadata of raw traces.

use crate::DebugId;

/// Metadata of a trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// `telemetry.sdk.language`, or the project's framework where the protocol has no such attribute.
    pub language: Option<&'a str>,
    /// The id of the build for traces without one: `app.debug.proguard_uuid` of Android, the build id of old Dart traces,
    /// the debug id of a one-file web app.
    pub debug_id: Option<DebugId>,
    /// Debug ids of scripts by their URL or file name, as newer web SDKs report them.
    pub script_ids: &'a [(&'a str, DebugId)],
    /// Version of the app, `service.version`: source maps of another version do not apply.
    pub version: Option<&'a str>,
    /// Distribution of the app: one of several builds of a version.
    pub dist: Option<&'a str>,
}
