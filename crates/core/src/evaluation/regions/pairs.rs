//! Measured overlaps: of regions that are measured elsewhere, or of the near pairs of a match table.

use super::Regions;

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
    /// For each object of the scene its position in the group, and the pairs of one detection by that position.
    type Scratch = (Vec<u32>, Vec<(u32, f64)>);

    fn overlaps(
        &self,
        detections: &[u32],
        objects: &[u32],
        _over_detection: impl Fn(u32) -> bool,
        least: f64,
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, usize, f64),
    ) {
        let (places, of_one) = scratch;
        for (position, &row) in (0..).zip(objects) {
            if places.len() <= row as usize {
                places.resize(row as usize + 1, ABSENT);
            }
            places[row as usize] = position;
        }
        for (position, &row) in detections.iter().enumerate() {
            let pairs = self.starts[row as usize]..self.starts[row as usize + 1];
            of_one.clear();
            for (&object, &overlap) in self.object[pairs.clone()].iter().zip(&self.overlap[pairs]) {
                let place = places.get(object as usize).copied().unwrap_or(ABSENT);
                if place != ABSENT && overlap >= least {
                    of_one.push((place, overlap));
                }
            }
            of_one.sort_unstable_by_key(|&(place, _)| place);
            of_one.iter().for_each(|&(place, overlap)| found(position, place as usize, overlap));
        }
        objects.iter().for_each(|&row| places[row as usize] = ABSENT);
    }
}
