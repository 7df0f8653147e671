//! Profiles: totals per function against those of `go tool pprof`, OTLP against the generated types, and damaged bodies.
//! WIRE 2.1. `fixtures/profiles/make.sh` makes the files.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use bumpalo::Bump;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::profiles::v1development as otlp;
use opentelemetry_proto::tonic::resource::v1::Resource;
use proptest::prelude::*;
use prost::Message;
use tidewatch_domain::decode::{self, Encoding};
use tidewatch_domain::model::{ProfileBatch, ProjectId};
use tidewatch_domain::project::{
    DropReason, IngestSettings, ProfileProjection, ProfileSource, ProjectContext, profiles,
};
use tidewatch_domain::rules::profile_stack::frames;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/profiles")
}

fn fixture(name: &str) -> Vec<u8> {
    let packed = std::fs::read(folder().join(format!("{name}.pprof"))).expect("a fixture");
    let mut body = Vec::new();
    GzDecoder::new(packed.as_slice()).read_to_end(&mut body).expect("gzip");
    body
}

fn project<'a>(batch: &ProfileBatch<'a>, arena: &'a Bump) -> ProfileProjection<'a> {
    let context = ProjectContext { project: ProjectId([1; 16]), received_ns: 7, settings: IngestSettings::default() };
    profiles(batch, &context, &ProfileSource { service: "shop", ..ProfileSource::default() }, arena)
}

/// Own and total value of each function.
fn totals(projection: &ProfileProjection<'_>, sample_type: &str) -> BTreeMap<String, (i64, i64)> {
    let stacks: BTreeMap<u64, &[u8]> = projection.stacks.iter().map(|row| (row.stack, row.frames)).collect();
    let mut totals: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in &projection.samples {
        if projection.profiles[row.profile as usize].sample_type != sample_type {
            continue;
        }
        let mut names: Vec<&str> = frames(stacks[&row.stack]).map(|frame| frame.function).collect();
        let leaf = *names.last().expect("a frame");
        totals.entry(leaf.to_owned()).or_default().0 += row.value;
        names.sort_unstable();
        names.dedup();
        for name in names {
            totals.entry(name.to_owned()).or_default().1 += row.value;
        }
    }
    totals
}

// Done-when: totals per function equal those of an independent reader.
#[test]
fn totals_equal_those_of_another_reader() {
    let mut compared = 0;
    for (file, sample_type) in [
        ("go-cpu", "cpu"),
        ("go-cpu", "samples"),
        ("go-heap", "alloc_objects"),
        ("go-heap", "alloc_space"),
        ("go-heap", "inuse_objects"),
        ("go-heap", "inuse_space"),
        ("go-goroutine", "goroutine"),
        ("go-mutex", "contentions"),
        ("go-mutex", "delay"),
        ("go-block", "contentions"),
        ("go-block", "delay"),
        ("node-wall", "wall"),
        ("node-heap", "inuse_objects"),
        ("node-heap", "inuse_space"),
    ] {
        let (body, arena) = (fixture(file), Bump::new());
        let batch = decode::pprof(&body, &arena).expect("a profile");
        let projection = project(&batch, &arena);
        let ours = totals(&projection, sample_type);
        let expected = std::fs::read_to_string(folder().join(format!("{file}.{sample_type}.top"))).expect("a list");
        let mut theirs: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for line in expected.lines() {
            let mut fields = line.splitn(3, ' ');
            let mut number = || fields.next().and_then(|field| field.parse::<i64>().ok()).expect("a number");
            let values = (number(), number());
            let of = theirs.entry(fields.next().expect("a name").to_owned()).or_default();
            *of = (of.0 + values.0, of.1 + values.1);
        }
        theirs.retain(|_, values| *values != (0, 0));
        assert!(!theirs.is_empty(), "{file} {sample_type}");
        assert_eq!(ours, theirs, "{file} {sample_type}");
        compared += theirs.len();
    }
    assert!(compared > 500, "{compared}");
}

// Every sample is stored or counted.
#[test]
fn records_are_accounted_for() {
    let (body, arena) = (fixture("go-heap"), Bump::new());
    let batch = decode::pprof(&body, &arena).expect("a profile");
    let projection = project(&batch, &arena);
    let empty =
        |sample: &tidewatch_domain::model::Sample| sample.values.of(&batch.values).iter().all(|value| *value == 0);
    let zeros = batch.samples.iter().filter(|sample| empty(sample)).count();
    assert!(zeros > 0, "the profile has samples without values");
    assert_eq!(projection.dropped.len(), zeros);
    assert!(projection.dropped.iter().all(|dropped| dropped.reason == DropReason::EmptySample));
    assert_eq!(projection.records, batch.samples.len());
}

/// A profile of the OTLP signal: two stacks, an address, links, labels, times.
fn otlp_request() -> ExportProfilesServiceRequest {
    let strings = [
        "",
        "cpu",
        "nanoseconds",
        "main",
        "work",
        "main.go",
        "endpoint",
        "process.executable.build_id.gnu",
        "/lib/libc.so",
    ];
    let string = |text: &str| strings.iter().position(|known| *known == text).expect("a string") as i32;
    let text = |text: &str| Some(AnyValue { value: Some(any_value::Value::StringValue(text.to_owned())) });
    let line = |function_index| vec![otlp::Line { function_index, ..Default::default() }];
    let attribute = |key: &str, value: &str| otlp::KeyValueAndUnit {
        key_strindex: string(key),
        value: text(value),
        ..Default::default()
    };
    let function = |name: &str| otlp::Function {
        name_strindex: string(name),
        filename_strindex: string("main.go"),
        ..Default::default()
    };
    let dictionary = otlp::ProfilesDictionary {
        mapping_table: vec![
            otlp::Mapping::default(),
            otlp::Mapping {
                memory_start: 0x1000,
                filename_strindex: string("/lib/libc.so"),
                attribute_indices: vec![1],
                ..Default::default()
            },
        ],
        location_table: vec![
            otlp::Location::default(),
            otlp::Location { lines: line(1), ..Default::default() },
            otlp::Location { lines: line(2), ..Default::default() },
            otlp::Location { mapping_index: 1, address: 0x4242, ..Default::default() },
        ],
        function_table: vec![otlp::Function::default(), function("main"), function("work")],
        link_table: vec![otlp::Link::default(), otlp::Link { trace_id: vec![0xab; 16], span_id: vec![0xcd; 8] }],
        string_table: strings.map(str::to_owned).to_vec(),
        attribute_table: vec![
            otlp::KeyValueAndUnit::default(),
            attribute("process.executable.build_id.gnu", "beef"),
            attribute("endpoint", "GET /x"),
        ],
        stack_table: vec![
            otlp::Stack::default(),
            otlp::Stack { location_indices: vec![2, 1] },
            otlp::Stack { location_indices: vec![3, 2, 1] },
        ],
    };
    let profile = otlp::Profile {
        sample_type: Some(otlp::ValueType { type_strindex: string("cpu"), unit_strindex: string("nanoseconds") }),
        samples: vec![
            otlp::Sample {
                stack_index: 1,
                attribute_indices: vec![2],
                link_index: 1,
                values: vec![10, 20],
                timestamps_unix_nano: vec![1_000_001, 1_000_002],
            },
            otlp::Sample { stack_index: 2, values: vec![5], ..Default::default() },
            otlp::Sample { stack_index: 9, values: vec![5], ..Default::default() },
        ],
        time_unix_nano: 1_000_000,
        duration_nano: 500,
        ..Default::default()
    };
    let pair = |key: &str, value: &str| KeyValue { key: key.to_owned(), value: text(value), ..Default::default() };
    ExportProfilesServiceRequest {
        resource_profiles: vec![otlp::ResourceProfiles {
            resource: Some(Resource {
                attributes: vec![pair("service.name", "cart"), pair("service.version", "7"), pair("host.name", "h1")],
                ..Default::default()
            }),
            scope_profiles: vec![otlp::ScopeProfiles { profiles: vec![profile], ..Default::default() }],
            ..Default::default()
        }],
        dictionary: Some(dictionary),
    }
}

#[test]
fn otlp_profiles_are_read_in_both_encodings() {
    let request = otlp_request();
    let mut json = serde_json::to_value(&request).expect("JSON");
    // Ids are hexadecimal in JSON; the generated type writes those of links as lists of numbers.
    let links = &mut json["dictionary"]["linkTable"];
    *links = serde_json::json!([{}, { "traceId": "ab".repeat(16), "spanId": "cd".repeat(8) }]);
    for (encoding, body) in
        [(Encoding::Protobuf, request.encode_to_vec()), (Encoding::Json, json.to_string().into_bytes())]
    {
        let arena = Bump::new();
        let batch = decode::otlp_profiles(encoding, &body, &arena).expect("a request");
        let projection = project(&batch, &arena);
        let [profile] = projection.profiles.as_slice() else { panic!("{encoding:?}: {projection:?}") };
        assert_eq!((profile.service, profile.server_name, profile.app_version), ("cart", "h1", "7"));
        assert_eq!((profile.kind.name.as_str(), profile.unit), ("go:profile_cpu:nanoseconds", "nanoseconds"));
        assert_eq!((profile.time_ns, profile.duration_ns, profile.value), (1_000_000, 500, 35));
        assert!(profile.has_timestamps);
        let [first, second] = projection.samples.as_slice() else { panic!("{projection:?}") };
        assert_eq!((first.value, first.trace_id.0, first.span_id.0), (30, [0xab; 16], [0xcd; 8]));
        assert_eq!(
            projection.timestamps[first.timestamps as usize],
            [1_i64.to_le_bytes(), 2_i64.to_le_bytes()].concat()
        );
        assert!(!projection.labels[first.labels as usize].is_empty());
        let native = projection.stacks.iter().find(|row| row.stack == second.stack).expect("a stack");
        let address = frames(native.frames).last().expect("a frame");
        assert_eq!(
            (address.function, address.file, address.build_id, address.address),
            ("", "/lib/libc.so", "beef", 0x4242)
        );
        // The third sample has a stack that does not exist.
        assert_eq!(projection.dropped.len(), 1);
        assert_eq!(projection.dropped[0].reason, DropReason::InvalidItem);
    }
}

#[test]
fn bodies_that_are_no_profile_are_refused() {
    let arena = Bump::new();
    for body in [&b""[..], b"hello world", b"\x0a\x02\x08\x07", b"\x32\x00\x0a\x04\x08\x01\x10\x09"] {
        assert!(decode::pprof(body, &arena).is_err(), "{body:?}");
    }
    for body in [&b"{"[..], b"[]", b"{\"dictionary\":{\"stringTable\":[7]}}"] {
        assert!(decode::otlp_profiles(Encoding::Json, body, &arena).is_err());
    }
    let empty = decode::otlp_profiles(Encoding::Protobuf, b"", &arena).expect("an empty request");
    assert!(empty.profiles.is_empty());
}

/// A field of a protobuf message that is a message, string or packed list.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_varint(number << 3 | 2, &mut out);
    prost::encoding::encode_varint(content.len() as u64, &mut out);
    [out, content.to_vec()].concat()
}

// A large string may be referred to any number of times: memory and time follow the size of the body.
#[test]
fn references_to_a_large_string_are_no_copies() {
    let invalid = vec![0xff; 1 << 20];
    let label = field(3, b"\x08\x03\x10\x03");
    let sample = field(2, &[field(2, b"\x01"), label.repeat(10)].concat());
    let strings = [&b""[..], b"cpu", b"nanoseconds", &invalid].map(|string| field(6, string)).concat();
    let body = [field(1, b"\x08\x01\x10\x02"), sample.repeat(2000), strings].concat();
    let arena = Bump::new();
    let batch = decode::pprof(&body, &arena).expect("a profile");
    assert_eq!((batch.samples.len(), batch.labels.len()), (2000, 20_000));
    let _ = project(&batch, &arena);
    assert!(arena.allocated_bytes() < 1 << 20, "{} bytes", arena.allocated_bytes());

    let attributes = field(6, b"\x08\x01").repeat(2000);
    let dictionary = field(2, &[field(5, b""), field(5, &invalid), attributes].concat());
    let indices: Vec<u8> = (0..2000_u16).flat_map(|index| [index as u8 | 0x80, (index >> 7) as u8]).collect();
    let block = field(1, &field(2, &field(2, &field(2, &field(2, &indices)))));
    let (body, arena) = ([block, dictionary].concat(), Bump::new());
    let batch = decode::otlp_profiles(Encoding::Protobuf, &body, &arena).expect("a request");
    assert_eq!(batch.labels.len(), 2000);
    assert!(arena.allocated_bytes() < 1 << 20, "{} bytes", arena.allocated_bytes());
}

#[test]
fn names_and_types_are_bounded() {
    let arena = Bump::new();
    let types = field(1, b"\x08\x01\x10\x01");
    let long = "n".repeat(1000);
    let body = |count: usize| {
        [types.repeat(count), field(2, &field(2, &vec![1; count])), field(6, b""), field(6, long.as_bytes())].concat()
    };
    let error = decode::pprof(&body(65), &arena).expect_err("too many types");
    assert!(error.to_string().contains("more than 64 sample types"), "{error}");
    let body = body(64);
    let batch = decode::pprof(&body, &arena).expect("a profile");
    let context = ProjectContext { project: ProjectId([1; 16]), received_ns: 7, settings: IngestSettings::default() };
    let source = ProfileSource { service: &long, server_name: &long, app_version: &long, process: &long, labels: &[] };
    let projection = profiles(&batch, &context, &source, &arena);
    assert_eq!(projection.profiles.len(), 64);
    for row in &projection.profiles {
        let names = [row.service, row.server_name, row.app_version, row.sample_type, row.unit, &row.kind.name];
        assert!(names.iter().all(|name| name.len() <= 255), "{row:?}");
    }
}

// The frames nearest to the root are replaced, visibly.
#[test]
fn deep_stacks_are_cut_at_the_root() {
    let functions: Vec<u8> = (1..=2_u8)
        .flat_map(|id| {
            [field(4, &[&[8, id][..], &field(4, &[8, id])].concat()), field(5, &[8, id, 16, id + 2])].concat()
        })
        .collect();
    let stack = |depth: usize| field(2, &[field(1, &[vec![1; depth], vec![2]].concat()), field(2, b"\x01")].concat());
    let strings = [&b""[..], b"cpu", b"nanoseconds", b"leaf", b"root"].map(|string| field(6, string)).concat();
    for (depth, root, count) in [(1023, "root", 1024), (1024, "(truncated)", 1025), (5000, "(truncated)", 1025)] {
        let body = [field(1, b"\x08\x01\x10\x02"), stack(depth), functions.clone(), strings.clone()].concat();
        let arena = Bump::new();
        let batch = decode::pprof(&body, &arena).expect("a profile");
        let projection = project(&batch, &arena);
        let names: Vec<&str> = frames(projection.stacks[0].frames).map(|frame| frame.function).collect();
        assert_eq!((names[0], names.len()), (root, count), "{depth}");
    }
}

// JSON is read without a tree of it in memory, and says where it is wrong.
#[test]
fn otlp_json_has_the_position_of_a_mistake() {
    let arena = Bump::new();
    for (body, expected) in [
        (&b"{\"dictionary\":{\"stringTable\":[7]}}"[..], "stringTable has a wrong value at line 1 column 31"),
        (b"{\"dictionary\":{\"stackTable\":[[]]}}", "stackTable has a wrong value"),
        (b"{\"dictionary\":{\"linkTable\":[{\"traceId\":\"abc\"}]}}", "traceId has a wrong value"),
        (b"{\"dictionary\":{\"stringTable\":[null]}}", "stringTable has a wrong value"),
        (b"{} {}", "trailing characters"),
        (b"[]", "expected the request to be an object"),
    ] {
        let error = decode::otlp_profiles(Encoding::Json, body, &arena).expect_err("a mistake").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let ignored = b"{\"x\":[{\"y\":[[1.5,null,true]]}],\"dictionary\":null,\"resourceProfiles\":[]}";
    assert!(decode::otlp_profiles(Encoding::Json, ignored, &arena).is_ok());
}

proptest! {
    // Hostile input: never a panic, and every record has a fate.
    #[test]
    fn damaged_profiles_are_read_or_refused(
        which in 0..4_usize,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..8),
        length in any::<proptest::sample::Index>(),
        is_cut: bool,
    ) {
        let mut body = match which {
            0 => fixture("go-cpu"),
            1 => fixture("go-heap"),
            2 => fixture("node-wall"),
            _ => otlp_request().encode_to_vec(),
        };
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if is_cut {
            body.truncate(length.index(body.len()));
        }
        let arena = Bump::new();
        for batch in [decode::pprof(&body, &arena), decode::otlp_profiles(Encoding::Protobuf, &body, &arena)] {
            let Ok(batch) = batch else { continue };
            let projection = project(&batch, &arena);
            let dropped: std::collections::BTreeSet<u32> = projection.dropped.iter().map(|d| d.record).collect();
            prop_assert_eq!(dropped.len(), projection.dropped.len());
            prop_assert!(projection.dropped.iter().all(|d| (d.record as usize) < projection.records));
            prop_assert!(projection.samples.iter().all(|row| (row.profile as usize) < projection.profiles.len()));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        let arena = Bump::new();
        let _ = decode::pprof(&body, &arena).map(|batch| project(&batch, &arena));
        for encoding in [Encoding::Protobuf, Encoding::Json] {
            let _ = decode::otlp_profiles(encoding, &body, &arena).map(|batch| project(&batch, &arena));
        }
    }
}
