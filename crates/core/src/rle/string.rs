//! The compressed form of runs: five bits a character, the difference to the run before the last from the fourth on.

use super::Problem;

const FIRST: u8 = b'0';
/// A run has at most 32 bits, a difference one more, and the sign another.
const MAX_DIGITS: usize = 7;

/// Appends the compressed form.
pub fn encode(runs: &[u32], text: &mut Vec<u8>) {
    for (position, &run) in runs.iter().enumerate() {
        let mut left = i64::from(run) - if position > 2 { i64::from(runs[position - 2]) } else { 0 };
        loop {
            let digit = (left & 0x1f) as u8;
            left >>= 5;
            let done = left == if digit & 0x10 == 0 { 0 } else { -1 };
            text.push(FIRST + digit + if done { 0 } else { 0x20 });
            if done {
                break;
            }
        }
    }
}

/// Appends the runs, empty ones included, that a compressed form stands for.
pub fn decode(text: &[u8], runs: &mut Vec<u32>) -> Result<(), Problem> {
    let first = runs.len();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        let (mut value, mut shift) = (0i64, 0);
        loop {
            let Some(&byte) = text.get(at) else {
                return Err(Problem::Cut);
            };
            let digit = byte.wrapping_sub(FIRST);
            if digit > 0x3f {
                return Err(Problem::Byte { position: at, byte });
            }
            at += 1;
            if at - start > MAX_DIGITS {
                return Err(Problem::Long { position: start });
            }
            value |= i64::from(digit & 0x1f) << shift;
            shift += 5;
            if digit & 0x20 == 0 {
                if digit & 0x10 != 0 {
                    value |= -1 << shift;
                }
                break;
            }
        }
        let position = runs.len() - first;
        if position > 2 {
            value += i64::from(runs[runs.len() - 2]);
        }
        runs.push(u32::try_from(value).map_err(|_| Problem::Count { position, value })?);
    }
    Ok(())
}
