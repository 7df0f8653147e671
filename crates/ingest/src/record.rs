//! One journal record: a small header with the project's settings, then the request's body as it was received.
//!
//! It has every input of the decoder and the rules, so a replay makes the same rows. Little-endian:
//!
//! ```text
//! 0  version (4)      4  project number u32     24  received, ns i64    36  sample rate f64
//! 1  signal           8  project id, 16 bytes   32  flags u8            44  error sample rate f64
//! 2  encoding                                   33  see below           52  price table u64
//! 3  content coding                                                     60  oldest time kept, ns i64
//!                                                                       68  names kept u32
//!                                                                       72  bytes of request attributes u32
//!                                                                       76  own paths, attributes, the body
//! ```
//!
//! Bit 7 of the flags: recordings of sessions are not stored. Bits 4 to 6 are the number of the project's framework. When health checks are excluded (WIRE 8.6, a
//! flag), bits 0 to 6 of 33 are the number of the list of well-known paths and 34 the length of the project's own paths
//! in bytes (u16); else both are zero. Bit 7 of 33: exponential histograms and summaries are stored. 52 is the id of the price table of AI models that costs were computed with (`prices`); 0:
//! no particular table. Records older than 60 are too old. 68 is the maximum number of names of a service on one day, 0
//! for no limit; all bits set: the limit that the store is opened with. The content flags of the project are among the
//! request attributes.
//!
//! Version 4 ends at 72: there are no request attributes. Version 3 ends at 68: the store's own limit of names applies.
//! Versions 1 and 2 end at 52: there is no price table and no record is too old. Version 2 itself stands for the flag
//! of health checks.

use std::sync::Arc;

use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::framework::Framework;
use tidewatch_domain::rules::healthcheck::{self, Healthchecks};
use tidewatch_limits::REQUEST_ATTRIBUTES_BYTES_MAX;

use super::coding::Coding;
use super::request_attributes::{AttributeError, RequestAttributes};

const VERSION: u8 = 5;
const VERSION_WITHOUT_ATTRIBUTES: u8 = 4;
const VERSION_WITHOUT_NAMES: u8 = 3;
const VERSION_WITHOUT_PRICES: u8 = 1;
const VERSION_WITH_HEALTHCHECKS: u8 = 2;
/// Bytes before the project's own paths, the request attributes and the body.
pub const HEADER_BYTES: usize = 76;
/// [`HEADER_BYTES`] of version 4.
const HEADER_BYTES_WITHOUT_ATTRIBUTES: usize = 72;
/// [`HEADER_BYTES`] of version 3.
const HEADER_BYTES_WITHOUT_NAMES: usize = 68;
/// [`HEADER_BYTES`] of versions 1 and 2.
const OLD_HEADER_BYTES: usize = 52;
/// Bytes before the body, with the longest paths and attributes that a record can have.
pub const HEADER_BYTES_MAX: usize = HEADER_BYTES + u16::MAX as usize + REQUEST_ATTRIBUTES_BYTES_MAX;
const KEEP_UNMATCHED_ROOTS: u8 = 1;
const ISSUES_FROM_LOGS: u8 = 2;
const HEALTHCHECKS: u8 = 4;
const AI_CONVENTIONS: u8 = 8;
const NO_RECORDINGS: u8 = 128;
/// A flag in the byte of the list of paths.
const ALL_METRIC_KINDS: u8 = 128;
/// Lowest bit of the framework, which has three.
const FRAMEWORK_SHIFT: u32 = 4;
const FRAMEWORK_MAX: u8 = 7;

/// The metadata of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The project's number, under which its rows are stored.
    pub project_number: u32,
    /// The project's id.
    pub project: ProjectId,
    /// Kind of the body.
    pub kind: RequestKind,
    /// Protobuf or JSON.
    pub encoding: Encoding,
    /// Compression of the body.
    pub coding: Coding,
    /// Nanoseconds since the epoch.
    pub received_ns: i64,
    /// The project's settings when the request was received.
    pub settings: IngestSettings,
    /// The id of the price table that costs are computed with.
    pub prices: u64,
    /// Maximum number of Endpoint names of a service on one day, and the same of Tasks and of AI Traces; 0: no limit.
    /// `None`: the limit that the store is opened with.
    pub names_max: Option<usize>,
    /// Inputs from the request's headers and address.
    pub attributes: RequestAttributes,
}

/// The encoding of `None` in [`Header::names_max`].
const NAMES_OF_THE_STORE: u32 = u32::MAX;

/// Reasons for which a record cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The record ends before its header does; its size in bytes.
    #[error("a record of {0} bytes is too short")]
    Short(usize),
    /// The version is unknown: a newer program wrote the record.
    #[error("record version {0} is not known")]
    Version(u8),
    /// The paths of health checks are not UTF-8.
    #[error("the paths of health checks are no text")]
    Paths,
    /// The request attributes cannot be read.
    #[error(transparent)]
    Attributes(#[from] AttributeError),
    /// A field has an unknown value.
    #[error("{field} {value} is not known")]
    Unknown {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
}

impl Header {
    /// The project's own paths of health checks.
    fn paths(&self) -> &[u8] {
        self.settings.healthchecks.as_ref().map_or(&[], |checks| checks.paths().as_bytes())
    }

    /// The record before its body, in the latest version: the header, the project's own paths of health checks, the
    /// request attributes. An error if the attributes are too long.
    pub fn encode(&self) -> Result<Vec<u8>, AttributeError> {
        let attributes = self.attributes.encode(self.settings.content_terms.as_deref())?;
        Ok([&self.fixed(attributes.len()), self.paths(), &attributes].concat())
    }

    /// The fields at fixed places.
    fn fixed(&self, attribute_bytes: usize) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = VERSION;
        bytes[1] = match self.kind {
            RequestKind::Otlp(Signal::Traces) => 1,
            RequestKind::Otlp(Signal::Metrics) => 2,
            RequestKind::Otlp(Signal::Logs) => 3,
            RequestKind::Report => 4,
            RequestKind::Profile => 5,
            RequestKind::OtlpProfiles => 6,
        };
        bytes[2] = match self.encoding {
            Encoding::Protobuf => 1,
            Encoding::Json => 2,
        };
        bytes[3] = match self.coding {
            Coding::Identity => 0,
            Coding::Gzip => 1,
            Coding::Deflate => 2,
            Coding::Zstd => 3,
        };
        bytes[4..8].copy_from_slice(&self.project_number.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.project.0);
        bytes[24..32].copy_from_slice(&self.received_ns.to_le_bytes());
        let keep = if self.settings.keep_unmatched_roots { KEEP_UNMATCHED_ROOTS } else { 0 };
        let issues = if self.settings.issues_from_logs { ISSUES_FROM_LOGS } else { 0 };
        let ai = if self.settings.ai_conventions { AI_CONVENTIONS } else { 0 };
        let no_recordings = if self.settings.session_recordings { 0 } else { NO_RECORDINGS };
        bytes[32] = keep | issues | ai | no_recordings | (self.settings.framework as u8) << FRAMEWORK_SHIFT;
        bytes[33] = if self.settings.all_metric_kinds { ALL_METRIC_KINDS } else { 0 };
        if self.settings.healthchecks.is_some() {
            bytes[32] |= HEALTHCHECKS;
            bytes[33] |= healthcheck::LIST;
            let bytes_of_paths = u16::try_from(self.paths().len()).expect("settings are checked for their size");
            bytes[34..36].copy_from_slice(&bytes_of_paths.to_le_bytes());
        }
        bytes[36..44].copy_from_slice(&self.settings.sample_rate.to_le_bytes());
        bytes[44..52].copy_from_slice(&self.settings.error_sample_rate.to_le_bytes());
        bytes[52..60].copy_from_slice(&self.prices.to_le_bytes());
        bytes[60..68].copy_from_slice(&self.settings.oldest_ns.to_le_bytes());
        let most = NAMES_OF_THE_STORE - 1;
        let names = self.names_max.map_or(NAMES_OF_THE_STORE, |names| u32::try_from(names).unwrap_or(most).min(most));
        bytes[68..72].copy_from_slice(&names.to_le_bytes());
        bytes[72..76].copy_from_slice(&(attribute_bytes as u32).to_le_bytes());
        bytes
    }
}

/// Splits a record into its header and its body.
pub fn decode(record: &[u8]) -> Result<(Header, &[u8]), RecordError> {
    let Some((&version, _)) = record.split_first() else { return Err(RecordError::Short(0)) };
    let header_bytes = match version {
        VERSION => HEADER_BYTES,
        VERSION_WITHOUT_ATTRIBUTES => HEADER_BYTES_WITHOUT_ATTRIBUTES,
        VERSION_WITHOUT_NAMES => HEADER_BYTES_WITHOUT_NAMES,
        VERSION_WITHOUT_PRICES | VERSION_WITH_HEALTHCHECKS => OLD_HEADER_BYTES,
        _ => return Err(RecordError::Version(version)),
    };
    let Some((head, body)) = record.split_at_checked(header_bytes) else {
        return Err(RecordError::Short(record.len()));
    };
    // Fields that an old header lacks are zero, except for the names.
    let mut whole = [0; HEADER_BYTES];
    whole[68..72].copy_from_slice(&NAMES_OF_THE_STORE.to_le_bytes());
    whole[..header_bytes].copy_from_slice(head);
    let header = &whole;
    let has_healthchecks = match version {
        VERSION_WITHOUT_PRICES | VERSION_WITH_HEALTHCHECKS => version == VERSION_WITH_HEALTHCHECKS,
        _ => header[32] & HEALTHCHECKS != 0,
    };
    let (healthchecks, body) = match has_healthchecks {
        false => (None, body),
        true => {
            let (checks, body) = healthchecks(header, body).ok_or(RecordError::Short(record.len()))??;
            (Some(checks), body)
        }
    };
    let attribute_bytes = u32::from_le_bytes(at(header, 72)) as usize;
    let (attributes, body) = body.split_at_checked(attribute_bytes).ok_or(RecordError::Short(record.len()))?;
    let (attributes, content_terms) = RequestAttributes::decode(attributes)?;
    let kind = match header[1] {
        1 => RequestKind::Otlp(Signal::Traces),
        2 => RequestKind::Otlp(Signal::Metrics),
        3 => RequestKind::Otlp(Signal::Logs),
        4 => RequestKind::Report,
        5 => RequestKind::Profile,
        6 => RequestKind::OtlpProfiles,
        value => return Err(RecordError::Unknown { field: "kind", value }),
    };
    let encoding = match header[2] {
        1 => Encoding::Protobuf,
        2 => Encoding::Json,
        value => return Err(RecordError::Unknown { field: "encoding", value }),
    };
    let framework = header[32] >> FRAMEWORK_SHIFT & FRAMEWORK_MAX;
    let framework =
        Framework::from_number(framework).ok_or(RecordError::Unknown { field: "framework", value: framework })?;
    let coding = match header[3] {
        0 => Coding::Identity,
        1 => Coding::Gzip,
        2 => Coding::Deflate,
        3 => Coding::Zstd,
        value => return Err(RecordError::Unknown { field: "content coding", value }),
    };
    let header = Header {
        project_number: u32::from_le_bytes(at(header, 4)),
        project: ProjectId(at(header, 8)),
        kind,
        encoding,
        coding,
        received_ns: i64::from_le_bytes(at(header, 24)),
        settings: IngestSettings {
            keep_unmatched_roots: header[32] & KEEP_UNMATCHED_ROOTS != 0,
            issues_from_logs: header[32] & ISSUES_FROM_LOGS != 0,
            ai_conventions: header[32] & AI_CONVENTIONS != 0,
            session_recordings: header[32] & NO_RECORDINGS == 0,
            all_metric_kinds: header[33] & ALL_METRIC_KINDS != 0,
            sample_rate: f64::from_le_bytes(at(header, 36)),
            error_sample_rate: f64::from_le_bytes(at(header, 44)),
            content_terms,
            healthchecks,
            framework,
            oldest_ns: if header_bytes > OLD_HEADER_BYTES { i64::from_le_bytes(at(header, 60)) } else { i64::MIN },
        },
        prices: u64::from_le_bytes(at(header, 52)),
        names_max: match u32::from_le_bytes(at(header, 68)) {
            NAMES_OF_THE_STORE => None,
            names => Some(names as usize),
        },
        attributes,
    };
    Ok((header, body))
}

type Filtered<'r> = (Arc<Healthchecks>, &'r [u8]);

/// The health check filter, and the bytes that follow its paths. `None`: the record ends before them.
fn healthchecks<'r>(header: &[u8], rest: &'r [u8]) -> Option<Result<Filtered<'r>, RecordError>> {
    let list = header[33] & !ALL_METRIC_KINDS;
    if list != healthcheck::LIST {
        return Some(Err(RecordError::Unknown { field: "list of paths", value: list }));
    }
    let (paths, body) = rest.split_at_checked(usize::from(u16::from_le_bytes(at(header, 34))))?;
    let paths = std::str::from_utf8(paths).map_err(|_| RecordError::Paths);
    Some(paths.map(|paths| (Arc::new(Healthchecks::new(paths)), body)))
}

fn at<const N: usize>(header: &[u8], offset: usize) -> [u8; N] {
    header[offset..offset + N].try_into().expect("every field lies inside the header")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::request_attributes::tests::{attributes, content_terms};

    fn header() -> impl Strategy<Value = Header> {
        let otlp = prop_oneof![Just(Signal::Traces), Just(Signal::Metrics), Just(Signal::Logs)];
        let kind = prop_oneof![
            otlp.prop_map(RequestKind::Otlp),
            Just(RequestKind::Report),
            Just(RequestKind::Profile),
            Just(RequestKind::OtlpProfiles)
        ];
        let encoding = prop_oneof![Just(Encoding::Protobuf), Just(Encoding::Json)];
        let coding = prop_oneof![Just(Coding::Identity), Just(Coding::Gzip), Just(Coding::Deflate), Just(Coding::Zstd)];
        let paths = proptest::option::of("[/a-zé*\n]{0,40}");
        let framework = (0..7_u8).prop_map(|number| Framework::from_number(number).expect("a framework"));
        let settings =
            (any::<bool>(), any::<bool>(), 0.0..=1.0, 0.0..=1.0, paths, any::<bool>(), any::<i64>(), framework);
        (
            any::<u32>(),
            any::<[u8; 16]>(),
            kind,
            encoding,
            coding,
            any::<i64>(),
            settings,
            (any::<u64>(), proptest::option::of(0..9_usize), attributes(), content_terms()),
        )
            .prop_map(|(project_number, project, kind, encoding, coding, received_ns, settings, rest)| {
                Header {
                    project_number,
                    project: ProjectId(project),
                    kind,
                    encoding,
                    coding,
                    received_ns,
                    settings: IngestSettings {
                        keep_unmatched_roots: settings.0,
                        issues_from_logs: settings.1,
                        ai_conventions: settings.5,
                        all_metric_kinds: settings.1,
                        session_recordings: settings.0,
                        sample_rate: settings.2,
                        error_sample_rate: settings.3,
                        content_terms: rest.3,
                        healthchecks: settings.4.map(|paths| Arc::new(Healthchecks::new(&paths))),
                        oldest_ns: settings.6,
                        framework: settings.7,
                    },
                    prices: rest.0,
                    names_max: rest.1,
                    attributes: rest.2,
                }
            })
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(header in header(), body: Vec<u8>) {
            let record = [header.encode().expect("short attributes"), body.clone()].concat();
            prop_assert_eq!(decode(&record), Ok((header, body.as_slice())));
        }

        /// Records of versions 1 to 4.
        #[test]
        fn old_records_are_read(mut header in header(), body: Vec<u8>) {
            header.attributes = RequestAttributes::default();
            header.settings.content_terms = None;
            let mut bytes = header.fixed(0);
            bytes[0] = VERSION_WITHOUT_ATTRIBUTES;
            let record = [&bytes[..HEADER_BYTES_WITHOUT_ATTRIBUTES], header.paths(), &body].concat();
            prop_assert_eq!(decode(&record), Ok((header.clone(), body.as_slice())));

            bytes[0] = VERSION_WITHOUT_NAMES;
            let record = [&bytes[..HEADER_BYTES_WITHOUT_NAMES], header.paths(), &body].concat();
            header.names_max = None;
            prop_assert_eq!(decode(&record), Ok((header.clone(), body.as_slice())));

            bytes[0] = if header.settings.healthchecks.is_some() { 2 } else { 1 };
            bytes[32] &= !HEALTHCHECKS;
            let record = [&bytes[..OLD_HEADER_BYTES], header.paths(), &body].concat();
            (header.prices, header.settings.oldest_ns) = (0, i64::MIN);
            prop_assert_eq!(decode(&record), Ok((header.clone(), body.as_slice())));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(record: Vec<u8>) {
            let _ = decode(&record);
        }
    }

    #[test]
    fn malformed_records_are_refused() {
        let mut header = Header {
            project_number: 1,
            project: ProjectId([1; 16]),
            kind: RequestKind::Otlp(Signal::Traces),
            encoding: Encoding::Json,
            coding: Coding::Gzip,
            received_ns: 1,
            settings: IngestSettings::default(),
            prices: 7,
            names_max: Some(usize::MAX),
            attributes: RequestAttributes::default(),
        };
        let good = header.fixed(0);
        header.settings.healthchecks = Some(Arc::new(Healthchecks::new("/é")));
        let filtered = header.encode().expect("no attributes");
        let changed = |mut record: Vec<u8>, at: usize, value: u8| {
            record[at] = value;
            record
        };
        let with = |at, value| changed(good.to_vec(), at, value);
        for (record, expected) in [
            (&[][..], "a record of 0 bytes is too short"),
            (&good[..75], "a record of 75 bytes is too short"),
            (&changed(good[..71].to_vec(), 0, 4), "a record of 71 bytes is too short"),
            (&with(72, 1), "a record of 76 bytes is too short"),
            (&changed([&good[..], &[9, 0, 0, 0, 0]].concat(), 72, 5), "request attribute 9 is not known"),
            (&changed(good[..67].to_vec(), 0, 3), "a record of 67 bytes is too short"),
            (&changed(good[..51].to_vec(), 0, 1), "a record of 51 bytes is too short"),
            (&with(0, 6), "record version 6 is not known"),
            (&with(0, 2), "list of paths 0 is not known"),
            (&filtered[..78], "a record of 78 bytes is too short"),
            (&changed(filtered.clone(), 78, b'a'), "the paths of health checks are no text"),
            (&with(1, 9), "kind 9 is not known"),
            (&with(32, 0x70), "framework 7 is not known"),
            (&with(2, 0), "encoding 0 is not known"),
            (&with(3, 4), "content coding 4 is not known"),
        ] {
            assert_eq!(decode(record).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
    }
}
