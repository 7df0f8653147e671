//! Which buckets of a histogram are kept.

/// Bounds and buckets when they fit together: one bound fewer than buckets, ascending, finite. Otherwise neither;
/// count and sum are still good without them. (A point may also come without any.)
pub(crate) fn fitting<'a>(bounds: &'a [f64], buckets: &'a [u64]) -> (&'a [f64], &'a [u64]) {
    let fits = bounds.len() + 1 == buckets.len()
        && bounds.iter().all(|bound| bound.is_finite())
        && bounds.is_sorted_by(|left, right| left < right);
    if fits { (bounds, buckets) } else { (&[], &[]) }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn buckets_are_kept_when_they_fit() {
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
            assert_eq!(fitting(bounds, buckets), expected, "{bounds:?} {buckets:?}");
        }
    }
}
