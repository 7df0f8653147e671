//! Any bytes as an OTLP JSON body of each signal, compared with the generated types.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidewatch_domain::model::Signal;

#[expect(dead_code, reason = "each target uses its half")]
#[path = "../../crates/domain/tests/decode/oracle/mod.rs"]
mod oracle;

fuzz_target!(|body: &[u8]| {
    for signal in [Signal::Traces, Signal::Logs, Signal::Metrics] {
        oracle::harness::json(signal, body);
    }
});
