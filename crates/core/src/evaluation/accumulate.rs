//! From outcomes to curves: precision, recall, and the score at each point.

use super::by_category::rows_by_category;
use super::drawer::{Columns, Curves, Drawing, Out, Progress, Steps};
use crate::memory::{Vec, vec};
use crate::threads::each_with;

/// The outcome of every detection, sorted by image, category and descending score, as in a match table.
#[derive(Clone, Copy)]
pub struct Outcomes<'a> {
    /// The category of each row.
    pub category: &'a [u32],
    /// The rank of each row within the scope of the cap, best first.
    pub rank: &'a [u32],
    /// Scores.
    pub score: &'a [f64],
    /// For each row and area range, the thresholds at which it has a match.
    pub matched: &'a [u8],
    /// For each row and area range, the thresholds at which it is ignored.
    pub ignored: &'a [u8],
    /// For each category and area range, how many objects there are to find.
    pub object_count: &'a [u64],
    /// How many area ranges there are.
    pub ranges: usize,
    /// How many thresholds there are.
    pub thresholds: usize,
}

/// Into how many parts the categories are divided, at least, for the threads.
const PARTS: usize = 64;

/// Draws every curve (cocoeval 349 to 411).
pub fn accumulate(outcomes: Outcomes<'_>, drawing: &Drawing) -> Curves {
    let Outcomes { category, rank, score, matched, ignored, object_count, ranges, thresholds } = outcomes;
    let categories = object_count.len().checked_div(ranges).unwrap_or(0);
    let curves = ranges * drawing.caps.len() * thresholds;
    let mut all = Curves {
        ends: vec![0; categories * curves],
        recall: vec![0.0; categories * curves],
        area: vec![0.0; if drawing.area.is_some() { categories * curves } else { 0 }],
        steps: Steps::default(),
    };
    let mut keys = rows_by_category(category, score, rank, categories);
    // As many empty parts as categories, where there is no area.
    let mut areas: Vec<&mut [f64]> = all.area.chunks_mut(curves.max(1)).collect();
    areas.resize_with(categories, Default::default);
    let out = all.ends.chunks_mut(curves.max(1)).zip(all.recall.chunks_mut(curves.max(1))).zip(areas);
    let mut of_categories: Vec<_> =
        keys.of_categories().into_iter().zip(out.zip(object_count.chunks(ranges.max(1)))).collect();
    // The steps of some categories together: the system gets large vectors back as soon as they are joined.
    let together = (categories / PARTS).max(1);
    let mut steps: Vec<Steps> = (0..categories.div_ceil(together)).map(|_| Steps::default()).collect();
    each_with(of_categories.chunks_mut(together).zip(&mut steps), 0, Progress::default, |progress, (part, steps)| {
        for (keys, (((ends, recall), area), counts)) in part {
            // Equal scores keep the order of image and rank.
            keys.sort_unstable();
            progress.start(counts, thresholds, drawing);
            progress.feed(Columns { rank, score, matched, ignored }, keys, drawing);
            progress.finish(drawing, &mut Out { ends, steps, recall, area });
        }
    });
    all.join(steps, together * curves);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Area;
    use crate::memory::vec;

    #[test]
    fn draws_the_curve_of_three_detections() {
        // A hit, a miss and a hit of two annotations; the last row is beyond the first cap.
        let outcomes = Outcomes {
            category: &[0, 0, 0],
            rank: &[0, 0, 1],
            score: &[0.9, 0.8, 0.7],
            matched: &[1, 0, 1],
            ignored: &[0, 0, 0],
            object_count: &[2],
            ranges: 1,
            thresholds: 1,
        };
        let mut drawing = Drawing {
            recall_thresholds: vec![0.0, 0.5, 0.75, 1.0],
            caps: vec![1, 2],
            caps_over_all_images: false,
            plain_precision: false,
            area: None,
        };
        let curves = accumulate(outcomes, &drawing);
        assert_eq!(curves.area, []);
        assert_eq!(curves.recall, [0.5, 1.0]);
        let (first, last) = (1.0 / (1.0 + f64::EPSILON), 2.0 / 3.0);
        assert_eq!(curves.ends, [1, 3]);
        assert_eq!(curves.steps.reached, [2, 2, 4]);
        assert_eq!(curves.steps.precision, [first, first, last]);
        assert_eq!(curves.steps.scores, [0.9, 0.9, 0.7]);
        (drawing.caps_over_all_images, drawing.plain_precision, drawing.area) = (true, true, Some(Area::Steps));
        let curves = accumulate(outcomes, &drawing);
        assert_eq!(curves.recall, [0.5, 0.5], "the third detection is beyond a cap of two");
        assert_eq!((&curves.ends[..], &curves.steps.reached[..]), (&[1, 2][..], &[2, 2][..]));
        assert_eq!(curves.steps.precision, [1.0, 1.0]);
        drawing.caps = vec![3];
        assert_eq!(accumulate(outcomes, &drawing).area, [0.5 + 0.5 * (2.0 / 3.0)]);
    }
}
