//! The compressed form of runs: five bits a character, the difference to the run before the last from the fourth on.

use super::Problem;
use crate::memory::Vec;

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
    runs.reserve(text.len());
    let (mut last, mut before) = (0, 0); // the last run and the one before it
    let mut at = 0;
    while at < text.len() {
        let (difference, end) = number(text, at)?;
        at = end;
        let position = runs.len() - first;
        let value = if position > 2 { difference + before } else { difference };
        runs.push(u32::try_from(value).map_err(|_| Problem::Count { position, value })?);
        (before, last) = (last, value);
    }
    Ok(())
}

/// The number that begins at `start`, and where it ends.
#[inline(always)]
fn number(text: &[u8], start: usize) -> Result<(i64, usize), Problem> {
    let (mut value, mut shift) = (0i64, 64);
    for (position, &byte) in (start..).zip(text[start..].iter().take(MAX_DIGITS)) {
        let digit = byte.wrapping_sub(FIRST);
        if digit > 0x3f {
            return Err(Problem::Byte { position, byte });
        }
        // Digits come in from above, so that the last one brings the sign.
        shift -= 5;
        value = ((value as u64 >> 5) | u64::from(digit & 0x1f) << 59) as i64;
        if digit & 0x20 == 0 {
            return Ok((value >> shift, position + 1));
        }
    }
    let cut = text.len() - start < MAX_DIGITS;
    Err(if cut { Problem::Cut } else { Problem::Long { position: start } })
}
