//! Rows brought together by category and image, without comparing them.

/// A row that takes no part: of an image or category that is not evaluated.
pub const NOWHERE: u32 = u32::MAX;

/// The ground truth and the detections of one category on one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub category: u32,
    pub image: u32,
    /// Where its annotations stand in the order of the annotations.
    pub ground_truth: std::ops::Range<usize>,
    /// Where its detections stand in the order of the detections.
    pub detections: std::ops::Range<usize>,
}

/// The rows of `keys` by rising key, rows with equal keys in the order given; rows at `NOWHERE` are left out.
fn counting_sort(keys: &[u32], count: usize, rows: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
    let mut ends = vec![0; count + 1];
    for row in rows.clone() {
        let key = keys[row as usize];
        if key != NOWHERE {
            ends[key as usize + 1] += 1;
        }
    }
    for key in 0..count {
        ends[key + 1] += ends[key];
    }
    let mut order = vec![0; ends[count]];
    for row in rows {
        let key = keys[row as usize];
        if key != NOWHERE {
            order[ends[key as usize]] = row;
            ends[key as usize] += 1;
        }
    }
    order
}

/// The rows by the first key, then the second, then position; `counts` are the numbers of keys.
pub fn sort(first: &[u32], second: &[u32], counts: (usize, usize)) -> Vec<u32> {
    let rows = 0..second.len() as u32;
    if second.is_sorted() && second.last() != Some(&NOWHERE) {
        return counting_sort(first, counts.0, rows);
    }
    let by_second = counting_sort(second, counts.1, rows);
    counting_sort(first, counts.0, by_second.iter().copied())
}

/// The runs of equal category and image in two sorted orders, side by side.
pub fn pair(
    ground_truth: (&[u32], impl Fn(u32) -> (u32, u32)),
    detections: (&[u32], impl Fn(u32) -> (u32, u32)),
) -> Vec<Group> {
    let ((gt_order, gt_key), (dt_order, dt_key)) = (ground_truth, detections);
    let run = |order: &[u32], key: &dyn Fn(u32) -> (u32, u32), start: usize, wanted: (u32, u32)| {
        start + order[start..].iter().take_while(|&&row| key(row) == wanted).count()
    };
    let mut groups = Vec::new();
    let (mut gt, mut dt) = (0, 0);
    loop {
        let next = [gt_order.get(gt).map(|&row| gt_key(row)), dt_order.get(dt).map(|&row| dt_key(row))];
        let Some(key) = next.into_iter().flatten().min() else { return groups };
        let gt_end = run(gt_order, &gt_key, gt, key);
        let dt_end = run(dt_order, &dt_key, dt, key);
        groups.push(Group { category: key.0, image: key.1, ground_truth: gt..gt_end, detections: dt..dt_end });
        (gt, dt) = (gt_end, dt_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_by_category_then_image_and_keeps_positions() {
        let categories = [1, 0, 1, 0, NOWHERE, 1];
        let images = [2, 1, 0, 1, 0, 2];
        assert_eq!(sort(&categories, &images, (2, 3)), [1, 3, 2, 0, 5]);
        assert_eq!(sort(&[0, 0, 1], &[0, 1, 1], (2, 2)), [0, 1, 2]);
        assert_eq!(sort(&[0, 0], &[NOWHERE, 0], (1, 1)), [1]);
        assert_eq!(sort(&[0, 0], &[0, NOWHERE], (1, 1)), [0]);
        assert_eq!(sort(&[], &[], (0, 0)), []);
    }

    #[test]
    fn pairs_runs_that_only_one_side_has() {
        let keys = [(0, 1), (0, 1), (1, 0)];
        let other = [(0, 0), (1, 0)];
        let groups = pair((&[0, 1, 2], |row| keys[row as usize]), (&[0, 1], |row| other[row as usize]));
        let expected = [((0, 0), 0..0, 0..1), ((0, 1), 0..2, 1..1), ((1, 0), 2..3, 1..2)];
        let expected = expected.map(|((category, image), ground_truth, detections)| Group {
            category,
            image,
            ground_truth,
            detections,
        });
        assert_eq!(groups, expected);
    }
}
