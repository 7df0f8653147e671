//! Any bytes as a profile in the format of pprof, and as OTLP profiles in both encodings, decoded and projected.
#![no_main]

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use tidewatch_domain::decode::{self, Encoding};
use tidewatch_domain::model::ProjectId;
use tidewatch_domain::project::{IngestSettings, ProfileSource, ProjectContext, profiles};

fuzz_target!(|body: &[u8]| {
    let context = ProjectContext { project: ProjectId([1; 16]), received_ns: 1, settings: IngestSettings::default() };
    let labels = ["customer".to_owned()];
    let source = ProfileSource { service: "shop", labels: &labels, ..ProfileSource::default() };
    let arena = Bump::new();
    for batch in [
        decode::pprof(body, &arena),
        decode::otlp_profiles(Encoding::Protobuf, body, &arena),
        decode::otlp_profiles(Encoding::Json, body, &arena),
    ] {
        let Ok(batch) = batch else { continue };
        let projection = profiles(&batch, &context, &source, &arena);
        assert!(projection.dropped.iter().all(|dropped| (dropped.record as usize) < projection.records));
        assert!(projection.samples.iter().all(|row| (row.profile as usize) < projection.profiles.len()));
    }
});
