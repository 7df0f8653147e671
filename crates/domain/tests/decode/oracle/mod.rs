//! What decoding must give, computed the slow and obvious way from the generated protobuf types.
//!
//! - [`convert`]: a request to a batch, naively.
//! - [`canonical`]: one layout for batches that mean the same.
//! - [`rounded`]: the same doubles, give or take the last bits.
//! - [`harness`]: any bytes through both, compared; shared with the fuzz targets.

pub mod canonical;
pub mod convert;
pub mod harness;
pub mod rounded;

use std::fmt::Debug;

/// Equality that takes NaN as equal to itself.
#[track_caller]
pub fn assert_same<T: Debug + PartialEq>(left: &T, right: &T) {
    if left != right {
        assert_eq!(format!("{left:#?}"), format!("{right:#?}"));
    }
}
