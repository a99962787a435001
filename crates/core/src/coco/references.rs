//! Ids that must differ, and ids that must be known.

use super::{OnInvalid, Problem};
use crate::memory::Vec;
use crate::order::{by_key, of_integer};

/// Finds the position of an id among the ids of a table.
pub struct IdIndex {
    /// Ids in rising order with their positions.
    sorted: Vec<(i64, u32)>,
    /// Position by id less the lowest id, where the ids lie close enough; `ABSENT` in the gaps.
    dense: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl IdIndex {
    /// An index of `ids`; of equal ones the first counts.
    pub fn new(ids: &[i64]) -> Self {
        let mut sorted: Vec<_> = rows_by_id(ids).into_iter().map(|row| (ids[row as usize], row)).collect();
        sorted.dedup_by_key(|(id, _)| *id);
        let mut dense = Vec::new();
        if let (Some((first, _)), Some((last, _))) = (sorted.first(), sorted.last()) {
            // COCO's ids fill about 1 in 120: 64 kB buy a lookup without a search for small sets, 1 kB an id for large.
            let span = last.abs_diff(*first);
            if span < 1 << 14 || span / 256 < sorted.len() as u64 {
                dense.resize(span as usize + 1, ABSENT);
                for &(id, position) in &sorted {
                    dense[id.abs_diff(*first) as usize] = position;
                }
            }
        }
        Self { sorted, dense }
    }

    /// The position of `id`.
    #[inline]
    pub fn position(&self, id: i64) -> Option<u32> {
        if self.dense.is_empty() {
            let at = self.sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            return Some(self.sorted[at].1);
        }
        if id < self.sorted[0].0 {
            return None;
        }
        let at = usize::try_from(id.abs_diff(self.sorted[0].0)).ok()?;
        self.dense.get(at).copied().filter(|&position| position != ABSENT)
    }
}

/// The rows in the order of their ids; of equal ids the first row comes first.
fn rows_by_id(ids: &[i64]) -> Vec<u32> {
    by_key(ids.iter().map(|&id| of_integer(id)))
}

/// The rows whose id stands for the first time; `None` if that is all of them.
pub fn unique_rows(array: &'static str, ids: &[i64], on_invalid: OnInvalid) -> Result<Option<Vec<usize>>, Problem> {
    let order = rows_by_id(ids);
    let pairs = order.windows(2).map(|pair| [pair[0] as usize, pair[1] as usize]);
    let mut repeated: Vec<usize> = pairs.filter(|&[one, next]| ids[one] == ids[next]).map(|[_, next]| next).collect();
    if repeated.is_empty() {
        return Ok(None);
    }
    repeated.sort_unstable();
    if on_invalid == OnInvalid::Error {
        let record = repeated[0];
        let first = ids.iter().position(|&id| id == ids[record]).expect("it is repeated");
        let found = format!("{} again, the id of {array}[{first}]", ids[record]);
        return Err(Problem { array, record, field: "id", expected: "an id of its own", found });
    }
    let mut repeated = repeated.into_iter().peekable();
    Ok(Some((0..ids.len()).filter(|row| repeated.next_if_eq(row).is_none()).collect()))
}

/// The rows whose image and category are known; `None` if that is all of them.
pub fn known_rows(
    array: &'static str,
    image_ids: &[i64],
    category_ids: &[i64],
    images: &IdIndex,
    categories: &IdIndex,
    on_invalid: OnInvalid,
) -> Result<Option<Vec<usize>>, Problem> {
    let mut seen = None;
    // The field at fault and its id.
    let mut unknown = |row: usize| {
        let (image, category) = (image_ids[row], category_ids[row]);
        // Rows come image by image: most have the image of the one before.
        if seen != Some(image) {
            if images.position(image).is_none() {
                return Some(("image_id", image));
            }
            seen = Some(image);
        }
        categories.position(category).is_none().then_some(("category_id", category))
    };
    let rows = 0..image_ids.len();
    let Some((row, (field, id))) = rows.clone().find_map(|row| unknown(row).map(|lack| (row, lack))) else {
        return Ok(None);
    };
    if on_invalid == OnInvalid::Error {
        return Err(Problem::unknown(array, row, field, id));
    }
    // pycocotools leaves out what it does not know, but for the image of a detection.
    let of_unknown_image = |row: &usize| images.position(image_ids[*row]).is_none();
    if on_invalid == OnInvalid::Pycocotools
        && array == "detections"
        && let Some(row) = rows.clone().find(of_unknown_image)
    {
        return Err(Problem::unknown(array, row, "image_id", image_ids[row]));
    }
    Ok(Some(rows.filter(|&row| unknown(row).is_none()).collect()))
}

/// The annotations to evaluate, in order; `None` if that is all of them as they are.
///
/// With `OnInvalid::Pycocotools` a row may come twice: pycocotools looks annotations up by id, so that each one with a
/// repeated id becomes the last one with that id, at the place of the original.
pub fn settle_annotations(
    ids: &[i64],
    image_ids: &[i64],
    category_ids: &[i64],
    images: &IdIndex,
    categories: &IdIndex,
    on_invalid: OnInvalid,
) -> Result<Option<Vec<usize>>, Problem> {
    const ARRAY: &str = "annotations";
    let unique = unique_rows(ARRAY, ids, on_invalid)?;
    let known = known_rows(ARRAY, image_ids, category_ids, images, categories, on_invalid)?;
    let Some(first_of_each) = unique else { return Ok(known) };
    let known = known.unwrap_or_else(|| (0..ids.len()).collect());
    if on_invalid == OnInvalid::Drop {
        let mut first_of_each = first_of_each.into_iter().peekable();
        let is_first = |row: &usize| {
            while first_of_each.next_if(|first| first < row).is_some() {}
            first_of_each.peek() == Some(row)
        };
        return Ok(Some(known.into_iter().filter(is_first).collect()));
    }
    let order = rows_by_id(ids);
    let last_of = |id: i64| order[order.partition_point(|&row| ids[row as usize] <= id) - 1] as usize;
    let by_image = by_key(known.iter().map(|&row| of_integer(image_ids[row])));
    let rows = by_image.into_iter().map(|number| last_of(ids[known[number as usize]]));
    // The last one may itself be of an image or category that nobody lists: then it is nowhere.
    let listed =
        |row: &usize| images.position(image_ids[*row]).is_some() && categories.position(category_ids[*row]).is_some();
    Ok(Some(rows.filter(listed).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    #[test]
    fn finds_ids_near_and_far() {
        for ids in
            [vec![5, 3, 9], vec![i64::MIN, -1, 0, i64::MAX], vec![], (0..100_000).map(|id| id * 120 - 50).collect()]
        {
            let index = IdIndex::new(&ids);
            for (position, &id) in ids.iter().enumerate() {
                assert_eq!(index.position(id), Some(position as u32));
            }
            for id in [4, 7, i64::MIN + 1, i64::MAX - 1, -2, 1_000_000_000_000] {
                assert_eq!(index.position(id), ids.iter().position(|&other| other == id).map(|at| at as u32));
            }
        }
    }

    #[test]
    fn names_the_second_of_two_equal_ids() {
        let problem = unique_rows("images", &[4, 7, 7, 4], OnInvalid::Error).unwrap_err();
        assert_eq!(problem.to_string(), "images[2].id: expected an id of its own, found 7 again, the id of images[1]");
        assert_eq!(unique_rows("images", &[4, 7, 7, 4], OnInvalid::Drop), Ok(Some(vec![0, 1])));
        assert_eq!(unique_rows("images", &[4, 7], OnInvalid::Error), Ok(None));
    }

    #[test]
    fn puts_the_last_of_equal_ids_in_the_place_of_each() {
        let (images, categories) = (IdIndex::new(&[1, 2]), IdIndex::new(&[1]));
        let settle =
            |on_invalid| settle_annotations(&[8, 9, 8], &[2, 1, 1], &[1, 1, 1], &images, &categories, on_invalid);
        assert_eq!(settle(OnInvalid::Pycocotools), Ok(Some(vec![1, 2, 2])));
        assert_eq!(settle(OnInvalid::Drop), Ok(Some(vec![0, 1])));
        assert!(settle(OnInvalid::Error).is_err());
    }
}
