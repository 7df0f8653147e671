//! The protobuf decoder against the generated types.

use proptest::prelude::*;
use prost::Message;
use tidewatch_domain::model::Signal;

use crate::oracle::harness;
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
}
