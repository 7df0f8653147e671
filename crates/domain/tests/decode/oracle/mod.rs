//! The oracle of the decoders, built on the generated protobuf types.
//!
//! - [`convert`]: converts a request to a batch, naively.
//! - [`canonical`]: the canonical layout of a batch.
//! - [`harness`]: decodes any bytes with both and compares; shared with the fuzz targets.

pub mod canonical;
pub mod convert;
pub mod harness;

use std::fmt::Debug;

/// Asserts equality with NaN equal to itself. Shows the first lines that differ.
#[track_caller]
pub fn assert_same<T: Debug + PartialEq>(left: &T, right: &T) {
    if left == right {
        return;
    }
    let (left, right) = (format!("{left:#?}"), format!("{right:#?}"));
    if left != right {
        let first = left.lines().zip(right.lines()).take_while(|(left, right)| left == right).count();
        let from = |text: &str| text.lines().skip(first.saturating_sub(8)).take(24).collect::<Vec<_>>().join("\n");
        panic!("different from line {first} on\nleft:\n{}\nright:\n{}", from(&left), from(&right));
    }
}
