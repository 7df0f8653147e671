//! What decoding must give, computed the slow and obvious way from the generated protobuf types.
//!
//! - [`convert`]: a request to a batch, naively.
//! - [`canonical`]: one layout for batches that mean the same.
//! - [`harness`]: any bytes through both, compared; shared with the fuzz targets.

pub mod canonical;
pub mod convert;
pub mod harness;

use std::fmt::Debug;

/// Equality that takes NaN as equal to itself. Shows the first lines that differ.
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
