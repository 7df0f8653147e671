//! Any `tracestate` and any attribute value as statements of a sender's sampling: the weight is 1 to 1,000,000.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidewatch_domain::model::{AnyValue, KeyValue};
use tidewatch_domain::rules::client_sampling::{CLIENT_WEIGHT_MAX, attributes_weight, trace_state_weight};

fuzz_target!(|text: &str| {
    let mut weights = vec![trace_state_weight(text), trace_state_weight(&format!("ot={text}"))];
    for key in ["sampling.probability", "SampleRate", "_MS.sampleRate"] {
        weights.push(attributes_weight(&[KeyValue { key, value: AnyValue::Str(text) }]));
    }
    assert!(weights.iter().all(|weight| (1.0..=CLIENT_WEIGHT_MAX).contains(weight)));
});
