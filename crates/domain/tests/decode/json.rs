//! Compares the JSON decoder with the generated types, and thereby with the protobuf decoder.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use proptest::prelude::*;
use prost::Message;
use serde_json::{from_slice, to_vec};
use tidewatch_domain::model::Signal;

use crate::dice::Dice;
use crate::mutate::damaged;
use crate::oracle::harness;
use crate::strategies;

proptest! {
    #[test]
    fn traces_decode_as_from_protobuf(request in strategies::traces()) {
        let body = to_vec(&request).expect("valid JSON");
        let same: ExportTraceServiceRequest = from_slice(&body).expect("its own JSON");
        harness::json(Signal::Traces, &body);
        harness::protobuf(Signal::Traces, &same.encode_to_vec());
    }

    #[test]
    fn logs_decode_as_from_protobuf(request in strategies::logs()) {
        let body = to_vec(&request).expect("valid JSON");
        let same: ExportLogsServiceRequest = from_slice(&body).expect("its own JSON");
        harness::json(Signal::Logs, &body);
        harness::protobuf(Signal::Logs, &same.encode_to_vec());
    }

    #[test]
    fn metrics_decode_as_from_protobuf(request in strategies::metrics()) {
        let body = to_vec(&request).expect("valid JSON");
        let same: ExportMetricsServiceRequest = from_slice(&body).expect("its own JSON");
        harness::json(Signal::Metrics, &body);
        harness::protobuf(Signal::Metrics, &same.encode_to_vec());
    }

    #[test]
    fn damaged_json_is_read_alike_or_refused(request in strategies::traces(), seed in any::<u64>()) {
        let body = to_vec(&request).expect("valid JSON");
        let mut dice = Dice::new(seed);
        for _ in 0..8 {
            harness::json(Signal::Traces, &damaged(&body, &mut dice));
        }
    }

    #[test]
    fn any_text(text in "[\\[\\]{},:\"\\\\a-z0-9 .eE+u-]{0,40}") {
        for signal in [Signal::Traces, Signal::Logs, Signal::Metrics] {
            harness::json(signal, text.as_bytes());
        }
    }
}
