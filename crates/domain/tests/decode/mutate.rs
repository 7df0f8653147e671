//! Random damage to a body, like the first mutations of a fuzzer.

use crate::dice::Dice;

/// Flips, cuts, inserts, overwrites or moves bytes, one to four times.
pub fn damaged(body: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..1 + dice.below(4) {
        damage(&mut body, dice);
    }
    body
}

fn damage(body: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(body.len() + 1);
    let end = (at + 1 + dice.below(12)).min(body.len());
    match dice.below(8) {
        0 => body.truncate(at),
        1 => {
            let odd = [0x00, 0x01, 0x7f, 0x80, 0xff, b'"', b'\\', b'{', b'}', b'[', b']', b',', b':', b'0', b'-'];
            body.insert(at, odd[dice.below(odd.len())]);
        }
        2 => drop(body.drain(at.min(end)..end)),
        3 => {
            let piece = body[at.min(end)..end].to_vec();
            let to = dice.below(body.len() + 1);
            body.splice(to..to, piece);
        }
        4 => body[at.min(end)..end].fill(0xff),
        5 if at < body.len() => body[at] = dice.roll() as u8,
        _ if at < body.len() => body[at] ^= 1 << dice.below(8),
        _ => body.push(dice.roll() as u8),
    }
}
