//! CPU profiles of one service, as `profile.proto`.

use tidewatch_domain::encode::Message;
use tidewatch_domain::units::DAY_NS;

/// Length of a profile, nanoseconds.
pub const PROFILE_NS: i64 = 10_000_000_000;
/// Profiles of a day.
pub const PROFILES_PER_DAY: u64 = (DAY_NS / PROFILE_NS) as u64;
/// Samples of a profile.
pub const SAMPLES: u64 = 300;
const STACKS: u64 = 4000;
const FRAMES: u64 = 30;
const FUNCTIONS: u64 = 3000;

/// The profile with this number of [`PROFILES_PER_DAY`], not compressed: [`SAMPLES`] samples, drawn from 4000 stacks of 30
/// frames. `start_ns`: start of the first one.
pub fn profile(number: u64, start_ns: i64) -> Vec<u8> {
    let mut body = Vec::with_capacity(512 << 10);
    let mut message = Message(&mut body);
    message.message(1, |of| {
        of.uint(1, 1);
        of.uint(2, 2);
    });
    let mut locations = Vec::new();
    for sample in 0..SAMPLES {
        // Some stacks are much more frequent than others.
        let draw = mix(number * SAMPLES + sample);
        let stack = (draw % STACKS).min((draw >> 20) % STACKS);
        locations.clear();
        for depth in (0..FRAMES).rev() {
            // Stacks share the frames near the root.
            let function = mix((stack >> (2 * (FRAMES - 1 - depth).min(6))) * FRAMES + depth) % FUNCTIONS;
            varint(function + 1, &mut locations);
        }
        message.message(2, |of| {
            of.bytes(1, &locations);
            of.uint(2, 10_000_000 * (1 + draw % 3));
        });
    }
    for function in 0..FUNCTIONS {
        message.message(4, |of| {
            of.uint(1, function + 1);
            of.message(4, |line| line.uint(1, function + 1));
        });
        message.message(5, |of| {
            of.uint(1, function + 1);
            of.uint(2, function + 4);
            of.uint(4, 3);
        });
    }
    for text in ["", "cpu", "nanoseconds", "/src/shop/orders.go"] {
        message.text(6, text);
    }
    for function in 0..FUNCTIONS {
        message.text(6, &format!("github.com/example/shop/package{}.(*Service).method{function}", function % 40));
    }
    message.uint(9, (start_ns + number.cast_signed() * PROFILE_NS).cast_unsigned());
    message.uint(10, PROFILE_NS.cast_unsigned());
    body
}

/// A number that follows from `seed`.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_number_same_profile() {
        assert_eq!(profile(3, 1_800_000_000_000_000_000), profile(3, 1_800_000_000_000_000_000));
        assert_ne!(profile(3, 1_800_000_000_000_000_000), profile(4, 1_800_000_000_000_000_000));
    }
}
