//! The protobuf decoder against the generated types.

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
    fn other_spellings_of_traces(request in strategies::traces(), seed in any::<u64>()) {
        all_spellings(Signal::Traces, &request.encode_to_vec(), seed);
    }

    #[test]
    fn other_spellings_of_logs(request in strategies::logs(), seed in any::<u64>()) {
        all_spellings(Signal::Logs, &request.encode_to_vec(), seed);
    }

    #[test]
    fn other_spellings_of_metrics(request in strategies::metrics(), seed in any::<u64>()) {
        all_spellings(Signal::Metrics, &request.encode_to_vec(), seed);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for signal in [Signal::Traces, Signal::Logs, Signal::Metrics] {
            harness::protobuf(signal, &bytes);
        }
    }
}

/// Scrambled and damaged bodies are accepted, refused and read as the generated types do.
fn all_spellings(signal: Signal, body: &[u8], seed: u64) {
    let mut dice = Dice::new(seed);
    for _ in 0..4 {
        let other = scrambled(body, &mut dice);
        harness::protobuf(signal, &other);
        harness::protobuf(signal, &damaged(&other, &mut dice));
        harness::protobuf(signal, &damaged(body, &mut dice));
    }
}
