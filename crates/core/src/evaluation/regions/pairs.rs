//! Measured overlaps: of regions that are measured elsewhere, or of the near pairs of a match table.

use super::{Measurer, Overlap, Regions};
use crate::ending::ask_after;
use crate::memory::Vec;

/// Pairs of detections and objects with their overlaps.
pub struct Pairs<'a> {
    /// Where the pairs of each detection start, and where those of the last detection end.
    pub starts: &'a [usize],
    /// The row of the object of each pair, ascending for each detection.
    pub object: &'a [u32],
    /// The overlap of each pair, above 0.
    pub overlap: &'a [f64],
}

/// Not among the objects of the group.
const ABSENT: u32 = u32::MAX;

impl Regions for Pairs<'_> {
    fn measurer(&self) -> Box<dyn Measurer + '_> {
        Box::new(PairFinder { pairs: self, places: Vec::new(), of_one: Vec::new() })
    }
}

struct PairFinder<'a> {
    pairs: &'a Pairs<'a>,
    /// For each object of the scene its position in the group.
    places: Vec<u32>,
    /// The pairs of one detection: the position of the object, and the bits of the overlap.
    of_one: Vec<u128>,
}

impl Measurer for PairFinder<'_> {
    fn overlaps(
        &mut self,
        detections: &[u32],
        objects: &[u32],
        _over_detection: &dyn Fn(u32) -> bool,
        least: f64,
        found: &mut Vec<Overlap>,
    ) {
        let Self { pairs: Pairs { starts, object: object_rows, overlap }, places, of_one } = self;
        for (position, &row) in (0..).zip(objects) {
            if places.len() <= row as usize {
                places.resize(row as usize + 1, ABSENT);
            }
            places[row as usize] = position;
        }
        for (detection, &row) in (0..).zip(detections) {
            ask_after(objects.len() >> 6);
            let pairs = starts[row as usize]..starts[row as usize + 1];
            of_one.clear();
            for (&object_row, &value) in object_rows[pairs.clone()].iter().zip(&overlap[pairs]) {
                let place = places.get(object_row as usize).copied().unwrap_or(ABSENT);
                if place != ABSENT && value >= least {
                    of_one.push(u128::from(place) << 64 | u128::from(value.to_bits()));
                }
            }
            of_one.sort_unstable();
            let overlap = |&pair: &u128| (pair >> 64, f64::from_bits(pair as u64));
            found.extend(of_one.iter().map(overlap).map(|(object, value)| Overlap {
                detection,
                object: object as u32,
                value,
            }));
        }
        objects.iter().for_each(|&row| places[row as usize] = ABSENT);
    }
}
