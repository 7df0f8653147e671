//! Compares the protobuf decoder with the generated types.

use proptest::prelude::*;
use prost::Message;
use tidewatch_domain::model::Signal;

use crate::dice::Dice;
use crate::mutate::damaged;
use crate::oracle::harness;
use crate::scramble::scrambled;
use crate::strategies;

proptest! {
    #[test]
    fn traces_decode_as_the_generated_types_do(request in strategies::traces()) {
        harness::protobuf(Signal::Traces, &request.encode_to_vec());
    }

    #[test]
    fn logs_decode_as_the_generated_types_do(request in strategies::logs()) {
        harness::protobuf(Signal::Logs, &request.encode_to_vec());
    }

    #[test]
    fn metrics_decode_as_the_generated_types_do(request in strategies::metrics()) {
        harness::protobuf(Signal::Metrics, &request.encode_to_vec());
    }

    #[test]
    fn equivalent_encodings_of_traces(request in strategies::traces(), seed in any::<u64>()) {
        scrambled_and_damaged(Signal::Traces, &request.encode_to_vec(), seed);
    }

    #[test]
    fn equivalent_encodings_of_logs(request in strategies::logs(), seed in any::<u64>()) {
        scrambled_and_damaged(Signal::Logs, &request.encode_to_vec(), seed);
    }

    #[test]
    fn equivalent_encodings_of_metrics(request in strategies::metrics(), seed in any::<u64>()) {
        scrambled_and_damaged(Signal::Metrics, &request.encode_to_vec(), seed);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for signal in [Signal::Traces, Signal::Logs, Signal::Metrics] {
            harness::protobuf(signal, &bytes);
        }
    }
}

/// Asserts that scrambled and damaged bodies are accepted, refused and read as by the generated types.
fn scrambled_and_damaged(signal: Signal, body: &[u8], seed: u64) {
    let mut dice = Dice::new(seed);
    for _ in 0..4 {
        let other = scrambled(body, &mut dice);
        harness::protobuf(signal, &other);
        harness::protobuf(signal, &damaged(&other, &mut dice));
        harness::protobuf(signal, &damaged(body, &mut dice));
    }
}
