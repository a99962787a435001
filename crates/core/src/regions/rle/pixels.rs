//! Encode and decode: from pixels to runs and back.

use super::writer::RunWriter;
use super::{Mask, Size};
use crate::memory::{Vec, zeros};

/// Appends the runs of pixels that lie column after column; any value but 0 is foreground.
pub fn encode_columns(pixels: &[u8], runs: &mut Vec<u32>) {
    let mut writer = RunWriter::new(runs);
    let (words, rest) = pixels.as_chunks::<64>();
    for bytes in words {
        writer.bits(word(bytes), 64);
    }
    if !rest.is_empty() {
        let mut bytes = [0; 64];
        bytes[..rest.len()].copy_from_slice(rest);
        writer.bits(word(&bytes), rest.len() as u32);
    }
    writer.end();
}

/// Appends the runs of pixels that lie row after row; any value but 0 is foreground.
pub fn encode_rows(pixels: &[u8], size: Size, runs: &mut Vec<u32>) {
    let (height, width) = (size.height as usize, size.width as usize);
    let mut writer = RunWriter::new(runs);
    if size.pixels() > 0 {
        // A word holds 64 rows of a column; those of one block of rows lie side by side.
        let mut words = zeros::<u64>(height.div_ceil(64) * width);
        for (rows, words) in pixels.chunks(64 * width).zip(words.chunks_exact_mut(width)) {
            // Eight rows make a byte first: eight times as many lanes as words would have.
            for (group, rows) in rows.chunks(8 * width).enumerate() {
                fold(rows, width, 8 * group as u32, words);
            }
        }
        for x in 0..width {
            for (block, first) in (0..size.height).step_by(64).enumerate() {
                writer.bits(words[block * width + x], (size.height - first).min(64));
            }
        }
    }
    writer.end();
}

/// Puts up to eight rows into the bits from `shift` of the words of their columns.
fn fold(rows: &[u8], width: usize, shift: u32, words: &mut [u64]) {
    const LANES: usize = 64;
    for from in (0..width).step_by(LANES) {
        let count = LANES.min(width - from);
        let mut bytes = [0u8; LANES];
        for (bit, row) in rows.chunks_exact(width).enumerate() {
            for (byte, &pixel) in bytes.iter_mut().zip(&row[from..from + count]) {
                *byte |= u8::from(pixel != 0) << bit;
            }
        }
        if bytes == [0; LANES] {
            continue;
        }
        for (word, &byte) in words[from..from + count].iter_mut().zip(&bytes) {
            *word |= u64::from(byte) << shift;
        }
    }
}

/// Sets the foreground to 1 in `pixels`, zeros that lie column after column.
pub fn decode(mask: Mask<'_>, pixels: &mut [u8]) {
    let mut at = 0;
    for pair in mask.runs.chunks_exact(2) {
        let start = at + pair[0] as usize;
        at = start + pair[1] as usize;
        pixels[start..at].fill(1);
    }
}

/// Which of 64 bytes are not 0, the first lowest.
#[inline(always)]
fn word(bytes: &[u8; 64]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // Most of an image is all background or all of one object.
    if bytes == &[0; 64] {
        return 0;
    }
    if bytes == &[1; 64] {
        return u64::MAX;
    }
    let mut word = 0;
    for (group, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        // The highest bit of each byte that is not 0, moved to the lowest, then all eight gathered in the top byte.
        let ones = ((((eight & LOW) + LOW) | eight) & !LOW) >> 7;
        word |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
    }
    word
}
