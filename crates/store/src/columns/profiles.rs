//! Rows of profiles: one per profile and type, the samples, and the stacks.

use tidewatch_domain::model::{AnyValue, Attributes, KeyValue, RequestKind};
use tidewatch_domain::project::{ProfileProjection, ProfileRow, SampleRow};

use xxhash_rust::xxh3::Xxh3;

use super::block::BLOCK_ROWS;
use super::{Rows, Senders, TableRows};
use crate::days::{bounds, day_of};
use crate::tables::Table;

impl Rows {
    /// The rows of a request with profiles. `project`: number of the project in the control database. Records are the
    /// samples.
    pub fn profiles(project: u32, kind: RequestKind, projection: &ProfileProjection<'_>) -> Rows {
        let (mut profiles, mut samples, mut stacks) = (
            TableRows::new(Table::Profiles),
            TableRows::new(Table::ProfileSamples),
            TableRows::new(Table::ProfileStacks),
        );
        for profile in &projection.profiles {
            write_profile(&mut profiles, project, profile);
        }
        write_samples(&mut samples, project, projection);
        for stack in &projection.stacks {
            let (day, _) = bounds(day_of(stack.time_ns));
            stacks.row(stack.record).u32(project).i64(day).u64(stack.stack).bytes(stack.frames);
        }
        let tables = vec![profiles, samples, stacks];
        let mut rows = Rows::new(project, kind, tables, projection.records, &projection.dropped);
        rows.is_untimed = projection.is_untimed;
        rows.trimmed.clone_from(&projection.trimmed);
        rows.senders = senders(projection);
        rows.groups = projection.identities.iter().map(|(id, records)| (group_key(project, *id), *records)).collect();
        rows
    }
}

/// Identifies a profile of a project in a retry, in any body.
fn group_key(project: u32, identity: u128) -> u128 {
    let mut hasher = Xxh3::with_seed(u64::from(project));
    hasher.update(b"profile");
    hasher.update(&identity.to_le_bytes());
    hasher.digest128().max(1)
}

/// The senders of all samples; those that are dropped are not counted.
fn senders(projection: &ProfileProjection<'_>) -> Senders {
    let rows = &projection.profiles;
    if rows.is_empty() {
        return Senders::default();
    }
    let versions: Vec<[KeyValue<'_>; 1]> =
        rows.iter().map(|row| [KeyValue { key: "service.version", value: AnyValue::Str(row.app_version) }]).collect();
    let mut at = 0;
    let records = (0..projection.records as u32).map(|record| {
        while rows.get(at + 1).is_some_and(|next| next.record <= record) {
            at += 1;
        }
        (record, at as u32, rows[at].service, rows[at].time_ns)
    });
    Senders::new(records, |row| Attributes(&versions[row as usize]))
}

fn write_profile(table: &mut TableRows, project: u32, row: &ProfileRow<'_>) {
    table
        .row(row.record)
        .u32(project)
        .text(row.service)
        .text(&row.kind.name)
        .i64(row.time_ns)
        .i64(row.duration_ns)
        .text(&row.kind.profile)
        .text(row.sample_type)
        .text(row.unit)
        .bool(row.kind.is_gauge)
        .text(row.server_name)
        .text(row.app_version)
        .i64(i64::try_from(row.samples).unwrap_or(i64::MAX))
        .i64(row.value)
        .bool(row.has_timestamps)
        .optional_text(Some(row.process).filter(|process| !process.is_empty()));
}

fn write_samples(table: &mut TableRows, project: u32, projection: &ProfileProjection<'_>) {
    // Samples of one type are adjacent, so that the columns have long runs.
    let mut sorted: Vec<&SampleRow> = projection.samples.iter().collect();
    sorted.sort_unstable_by_key(|row| (row.profile, row.stack, row.labels));
    let profile = |row: &SampleRow| &projection.profiles[row.profile as usize];
    for block in sorted.chunks(BLOCK_ROWS) {
        let rows = || block.iter().copied();
        table
            .block(block.iter().map(|row| row.record))
            .u32(rows().map(|_| project))
            .text(rows().map(|row| profile(row).service))
            .text(rows().map(|row| profile(row).kind.name.as_str()))
            .i64(rows().map(|row| profile(row).time_ns))
            .u64(rows().map(|row| row.stack))
            .i64(rows().map(|row| row.value))
            .text(rows().map(|row| profile(row).server_name))
            .text(rows().map(|row| profile(row).app_version))
            .dictionary(projection.labels.iter().copied(), rows().map(|row| row.labels))
            .id16(rows().map(|row| row.trace_id.0))
            .id8(rows().map(|row| row.span_id.0))
            .optional_bytes_with(
                rows().map(|row| (row.timestamps != 0).then(|| projection.timestamps[row.timestamps as usize])),
                |times, out| out.extend_from_slice(times),
            )
            .non_empty_text(rows().map(|row| profile(row).process))
            .optional_i64(rows().map(|row| Some(profile(row).duration_ns)));
    }
}
