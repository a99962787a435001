//! From outcomes to curves: precision, recall, and the score at each point.

use super::by_category::rows_by_category;
use super::drawer::{Columns, Curves, Drawing, Out, Progress};
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

/// Draws every curve (cocoeval 349 to 411).
pub fn accumulate(outcomes: Outcomes<'_>, drawing: &Drawing) -> Curves {
    let Outcomes { category, rank, score, matched, ignored, object_count, ranges, thresholds } = outcomes;
    let categories = object_count.len().checked_div(ranges).unwrap_or(0);
    let curves = ranges * drawing.caps.len() * thresholds;
    let points = curves * drawing.recall_thresholds.len();
    // Memory that is 0 from the start: most curves end before recall 1, and what they leave is never touched.
    let mut all = Curves {
        precision: vec![0.0; categories * points],
        scores: vec![0.0; categories * points],
        recall: vec![0.0; categories * curves],
        area: vec![0.0; if drawing.area.is_some() { categories * curves } else { 0 }],
    };
    let mut keys = rows_by_category(category, score, rank, categories);
    // As many empty parts as categories, where there is no area.
    let mut areas: Vec<&mut [f64]> = all.area.chunks_mut(curves).collect();
    areas.resize_with(categories, Default::default);
    let points = all.precision.chunks_mut(points).zip(all.scores.chunks_mut(points));
    let out = points.zip(all.recall.chunks_mut(curves)).zip(areas).zip(object_count.chunks(ranges.max(1)));
    each_with(keys.of_categories().into_iter().zip(out), 0, Progress::default, |progress, (keys, out)| {
        let ((((precision, scores), recall), area), counts) = out;
        let mut out = Out { precision, scores, recall, area };
        // Equal scores keep the order of image and rank.
        keys.sort_unstable();
        progress.start(counts, thresholds, drawing);
        progress.feed(Columns { rank, score, matched, ignored }, keys, drawing, &mut out);
        progress.finish(drawing, &mut out);
    });
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
        assert_eq!(curves.precision, [first, first, 0.0, 0.0, first, first, last, last]);
        assert_eq!(curves.scores, [0.9, 0.9, 0.0, 0.0, 0.9, 0.9, 0.7, 0.7]);
        (drawing.caps_over_all_images, drawing.plain_precision, drawing.area) = (true, true, Some(Area::Steps));
        let curves = accumulate(outcomes, &drawing);
        assert_eq!(curves.recall, [0.5, 0.5], "the third detection is beyond a cap of two");
        assert_eq!(curves.precision, [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        drawing.caps = vec![3];
        assert_eq!(accumulate(outcomes, &drawing).area, [0.5 + 0.5 * (2.0 / 3.0)]);
    }
}
