//! Rows brought together by image.

use std::ops::Range;

/// A row that takes no part: of an image or category that is not evaluated.
pub const NOWHERE: u32 = u32::MAX;

/// The rows of every image, each in the order given.
pub struct ByImage {
    /// Rows by image; `None` if they stand that way already.
    order: Option<Vec<u32>>,
    /// Where the rows of each image end.
    ends: Vec<u32>,
}

impl ByImage {
    /// Groups rows by `image`, a position below `images` or `NOWHERE`.
    pub fn new(image: &[u32], images: usize) -> Self {
        let mut starts = vec![0; images + 1];
        for &image in image.iter().filter(|&&image| image != NOWHERE) {
            starts[image as usize + 1] += 1;
        }
        for image in 0..images {
            starts[image + 1] += starts[image];
        }
        if image.is_sorted() && image.last() != Some(&NOWHERE) {
            return Self { order: None, ends: starts.split_off(1) };
        }
        let mut order = vec![0; starts[images] as usize];
        for (row, &image) in (0..).zip(image).filter(|&(_, &image)| image != NOWHERE) {
            let next = &mut starts[image as usize];
            order[*next as usize] = row;
            *next += 1;
        }
        starts.truncate(images);
        Self { order: Some(order), ends: starts }
    }

    fn range(&self, image: usize) -> Range<usize> {
        let start = if image == 0 { 0 } else { self.ends[image - 1] };
        start as usize..self.ends[image] as usize
    }

    /// How many rows an image has.
    pub fn count(&self, image: usize) -> usize {
        self.range(image).len()
    }

    /// The rows of an image.
    pub fn rows(&self, image: usize) -> impl Iterator<Item = u32> + '_ {
        self.range(image).map(|at| self.order.as_ref().map_or(at as u32, |order| order[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(image: &[u32], images: usize) -> Vec<Vec<u32>> {
        let by_image = ByImage::new(image, images);
        (0..images)
            .map(|image| {
                let rows: Vec<u32> = by_image.rows(image).collect();
                assert_eq!(rows.len(), by_image.count(image));
                rows
            })
            .collect()
    }

    #[test]
    fn keeps_the_order_within_an_image() {
        assert_eq!(grouped(&[2, 0, 2, NOWHERE, 0], 4), [vec![1, 4], vec![], vec![0, 2], vec![]]);
        assert_eq!(grouped(&[0, 0, 2], 3), [vec![0, 1], vec![], vec![2]]);
        assert_eq!(grouped(&[0, NOWHERE], 1), [vec![0]]);
        assert_eq!(grouped(&[], 2), [vec![], vec![]]);
        assert!(grouped(&[], 0).is_empty());
    }
}
