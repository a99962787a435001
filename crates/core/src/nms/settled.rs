//! Greedy NMS while boxes are still missing: which boxes are decided already?
//!
//! The pairs are those of [`crate::join::self_join`]. Boxes come in the order of their scores, so the first box of a
//! pair is the better one.

use crate::memory::Vec;

/// What is known of a box while others are still missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// It stays, whatever comes.
    Kept = 0,
    /// A box that stays suppresses it.
    Suppressed = 1,
    /// A missing box may suppress it, or may suppress a better box that would suppress it.
    Unknown = 2,
}

/// The fate of each box under greedy NMS, from the pairs that suppress.
///
/// `open` marks the boxes that a missing box might suppress.
pub fn settle(open: &[bool], rows: &[i64], columns: &[i64]) -> Vec<Fate> {
    // The pairs ascend by their better box. When a box is reached as the better one, its own fate is final.
    let mut fates: Vec<Fate> = open.iter().map(|&open| if open { Fate::Unknown } else { Fate::Kept }).collect();
    for (&row, &column) in rows.iter().zip(columns) {
        let better = fates[row as usize];
        let fate = &mut fates[column as usize];
        match (better, *fate) {
            (Fate::Kept, _) => *fate = Fate::Suppressed,
            (Fate::Unknown, Fate::Kept) => *fate = Fate::Unknown,
            _ => {}
        }
    }
    fates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_box_leaves_open_what_it_would_suppress() {
        use Fate::{Kept, Suppressed, Unknown};
        let (rows, columns) = ([0, 1, 2], [1, 2, 3]);
        assert_eq!(settle(&[false; 4], &rows, &columns), [Kept, Suppressed, Kept, Suppressed]);
        assert_eq!(settle(&[true, false, false, false], &rows, &columns), [Unknown; 4]);
        assert_eq!(settle(&[false, true, false, false], &rows, &columns), [Kept, Suppressed, Kept, Suppressed]);
        assert_eq!(settle(&[false, false, true, false], &rows, &columns), [Kept, Suppressed, Unknown, Unknown]);
    }
}
