//! What decoding must give, computed the slow and obvious way from the generated protobuf types.
//!
//! - [`strategies`]: random requests.
//! - [`convert`]: a request to a batch, naively.

pub mod convert;
pub mod strategies;

use std::fmt::Debug;

/// Equality that takes NaN as equal to itself.
#[track_caller]
pub fn assert_same<T: Debug + PartialEq>(left: &T, right: &T) {
    if left != right {
        assert_eq!(format!("{left:#?}"), format!("{right:#?}"));
    }
}
