//! Validation of explicit histogram buckets.

/// The bounds and bucket counts if they are consistent: one bound fewer than counts, finite, strictly ascending.
/// Otherwise two empty slices: count and sum stay valid without buckets.
pub(crate) fn valid_buckets<'a>(bounds: &'a [f64], buckets: &'a [u64]) -> (&'a [f64], &'a [u64]) {
    let fits = bounds.len() + 1 == buckets.len()
        && bounds.iter().all(|bound| bound.is_finite())
        && bounds.is_sorted_by(|left, right| left < right);
    if fits { (bounds, buckets) } else { (&[], &[]) }
}

#[cfg(test)]
mod tests {
    use super::valid_buckets;

    #[test]
    fn consistent_buckets_are_kept() {
        for (bounds, buckets, kept) in [
            (&[][..], &[][..], false),
            (&[], &[7], true),
            (&[1.0, 2.5], &[1, 0, 3], true),
            (&[1.0, 2.5], &[1, 0], false),
            (&[1.0], &[], false),
            (&[2.5, 1.0], &[1, 0, 3], false),
            (&[1.0, 1.0], &[1, 0, 3], false),
            (&[1.0, f64::NAN], &[1, 0, 3], false),
            (&[1.0, f64::INFINITY], &[1, 0, 3], false),
        ] {
            let expected = if kept { (bounds, buckets) } else { (&[][..], &[][..]) };
            assert_eq!(valid_buckets(bounds, buckets), expected, "{bounds:?} {buckets:?}");
        }
    }
}
