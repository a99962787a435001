//! The pairs of detections and objects of one image, for kinds of regions that are measured pair by pair.

use crate::ending::ask;
use crate::memory::Vec;
use crate::order::{by_key, of_integer};

/// The rows of the detections and of the objects of every pair of one image, by detection, then object.
///
/// Images are any numbers. With `categories`, of the objects and of the detections, only pairs of one category are listed.
///
/// # Panics
///
/// If a row lacks its category.
pub fn pairs_of_images(
    objects: &[i64],
    detections: &[i64],
    categories: Option<(&[i64], &[i64])>,
) -> (Vec<i64>, Vec<i64>) {
    let order = by_key(objects.iter().map(|&image| of_integer(image)));
    let image_of = |place: usize| objects[order[place] as usize];
    let first_from = |image: i64| order.partition_point(|&row| objects[row as usize] < image);
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (row, &image) in detections.iter().enumerate() {
        if row % 1024 == 0 {
            ask();
        }
        // Most detections are of the image of the one before.
        if start == order.len() || image_of(start) != image {
            start = first_from(image);
        }
        for &object in order[start..].iter().take_while(|&&object| objects[object as usize] == image) {
            if categories.is_none_or(|(of_objects, of_detections)| of_objects[object as usize] == of_detections[row]) {
                rows.push(row as i64);
                columns.push(i64::from(object));
            }
        }
    }
    (rows, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_listed_by_detection_then_object() {
        let (objects, detections) = ([7, -2, 7, 9], [9, 7, 7, 8, -2, i64::MAX]);
        let (rows, columns) = pairs_of_images(&objects, &detections, None);
        assert_eq!((&rows[..], &columns[..]), (&[0, 1, 1, 2, 2, 4][..], &[3, 0, 2, 0, 2, 1][..]));
        let categories = Some((&[1, 1, 2, 1][..], &[1, 2, 3, 1, 1, 1][..]));
        let (rows, columns) = pairs_of_images(&objects, &detections, categories);
        assert_eq!((&rows[..], &columns[..]), (&[0, 1, 4][..], &[3, 2, 1][..]));
        for (objects, detections) in [(&[][..], &[1, 2][..]), (&[1, 2], &[]), (&[1], &[2, 0])] {
            assert!(pairs_of_images(objects, detections, None).0.is_empty());
        }
    }
}
