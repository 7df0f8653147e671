//! Intervals, tests and divergences.

/// The z-score of the bounds of proportions: a two-sided 99 %.
pub const BOUND_Z: f64 = 2.6;

/// Lower end of Wilson's interval of `k` in `n`.
pub fn wilson_lower(k: f64, n: f64, z: f64) -> f64 {
    let (centre, half, scale) = wilson(k, n, z);
    ((centre - half) / scale).max(0.0)
}

/// Upper end of Wilson's interval of `k` in `n`.
pub fn wilson_upper(k: f64, n: f64, z: f64) -> f64 {
    let (centre, half, scale) = wilson(k, n, z);
    ((centre + half) / scale).min(1.0)
}

fn wilson(k: f64, n: f64, z: f64) -> (f64, f64, f64) {
    let share = k / n;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    (share + z * z / (2.0 * n), half, 1.0 + z * z / n)
}

/// P-value of the G-test of independence of a table of 2 by 2, `a` of `n` against `b` of `m`; one degree of freedom.
pub fn g_test(a: f64, n: f64, b: f64, m: f64) -> f64 {
    let total = n + m;
    let with = a + b;
    let term = |observed: f64, row: f64, column: f64| {
        if observed > 0.0 { observed * (observed * total / (row * column)).ln() } else { 0.0 }
    };
    let without = total - with;
    let g = 2.0 * (term(a, n, with) + term(n - a, n, without) + term(b, m, with) + term(m - b, m, without));
    libm::erfc((g.max(0.0) / 2.0).sqrt())
}

/// Two-sided p-value of a z-score; above 1 for a negative one.
pub fn p_value(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2)
}

/// Kullback-Leibler divergence of two Bernoulli distributions in nats when `p > q`, else 0.
pub fn divergence(p: f64, q: f64) -> f64 {
    if p > q { p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln() } else { 0.0 }
}

/// The z-score of the difference of two proportions, `a` of `n` less `b` of `m`, with the pooled variance.
pub fn two_proportions(a: f64, n: f64, b: f64, m: f64) -> f64 {
    if n <= 0.0 || m <= 0.0 {
        return 0.0;
    }
    let pooled = (a + b) / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    if deviation > 0.0 { (a / n - b / m) / deviation } else { 0.0 }
}
