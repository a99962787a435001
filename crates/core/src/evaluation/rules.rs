//! The rules of matching, as data.

/// Which object a detection takes. But for what a group chooses as one, detections choose in the order of their scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The best free object; an object that counts is preferred to an ignored one (COCO).
    BestFree,
    /// The best object of all. If another detection has taken it, the detection has no match (PASCAL VOC).
    BestOfAll,
    /// The best object of all that are compared by IoU. A detection that finds none of them takes the best object of
    /// those that are compared by the intersection over the area of the detection (groups of Open Images).
    BestOfAllThenGroups,
    /// What gives all detections together the most objects that count, and among such choices the highest sum of
    /// overlaps. A detection without one takes the best free object that is ignored.
    Together,
    /// Pairs with objects that count are taken by descending overlap; among equal overlaps, those of the first detection,
    /// then that with its first object. A detection without one takes the best free object that is ignored.
    BestPairsFirst,
    /// A detection that reaches an ignored object takes the best one that is free, and has no part in others. Of the
    /// rest, each object that counts takes the first free detection, both in their order (ICDAR 2015).
    InOrder,
}

impl Choice {
    /// Whether a detection takes its best object or none, even if that object is taken.
    pub fn takes_best_or_none(self) -> bool {
        matches!(self, Self::BestOfAll | Self::BestOfAllThenGroups)
    }

    /// Whether the detections of a group choose as one, and not one after another.
    pub fn chooses_as_group(self) -> bool {
        matches!(self, Self::Together | Self::BestPairsFirst | Self::InOrder)
    }
}

/// What a cap on detections counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapScope {
    /// The detections of one category on one image.
    ImageAndCategory,
    /// The detections of one image, of all categories.
    Image,
    /// The detections of one category on all images. Matching takes all of them; accumulation applies the cap.
    Category,
}

/// The rules of a protocol that matching follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The overlap thresholds of a match, in ascending order.
    pub thresholds: &'a [f64],
    /// Whether a match needs more than the threshold, instead of at least the threshold.
    pub more_than: bool,
    /// Lowest and highest area of each range, both included.
    pub areas: &'a [[f64; 2]],
    /// How many detections count within the scope of the cap.
    pub max_detections: usize,
    /// What the cap counts.
    pub cap_scope: CapScope,
    /// Whether all categories count as one.
    pub class_agnostic: bool,
    /// Which object a detection takes.
    pub choice: Choice,
    /// Whether the last of several objects with the same overlap is taken, instead of the first.
    pub last_of_equal: bool,
    /// Whether detections without area are left out.
    pub leaves_out_empty: bool,
    /// Whether objects without area are left out.
    pub leaves_out_empty_objects: bool,
    /// Pairs of all categories with at least this overlap are listed as near pairs; `None` for no list.
    ///
    /// With a list, the table also has rows for the detections beyond the cap, which are ignored in every range.
    pub near: Option<f64>,
}

/// If a match needs at least the threshold, no threshold is above this (cocoeval 277).
const NEARLY_ONE: f64 = 1.0 - 1e-10;

impl Rules<'_> {
    /// The number of thresholds that an overlap reaches.
    #[inline]
    pub fn level(&self, overlap: f64) -> usize {
        if self.more_than {
            return self.level_above(overlap);
        }
        self.thresholds.iter().take_while(|&&threshold| overlap >= threshold.min(NEARLY_ONE)).count()
    }

    /// How many thresholds an overlap exceeds.
    pub fn level_above(&self, overlap: f64) -> usize {
        self.thresholds.iter().take_while(|&&threshold| overlap > threshold).count()
    }

    /// The least overlap that may reach a threshold.
    pub fn least(&self) -> f64 {
        self.thresholds.iter().copied().fold(NEARLY_ONE, f64::min)
    }

    /// Bytes of a set of thresholds.
    pub fn bytes(&self) -> usize {
        self.thresholds.len().div_ceil(8)
    }

    /// Bytes of a set of area ranges.
    pub fn range_bytes(&self) -> usize {
        self.areas.len().div_ceil(8)
    }
}

/// Whether an area lies outside a range; both ends belong to it (cocoeval 251, 300).
#[inline]
pub fn outside(area: f64, range: [f64; 2]) -> bool {
    area < range[0] || area > range[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_counts_the_thresholds_that_are_met() {
        let mut rules = Rules {
            thresholds: &[0.25, 0.5, 1.0],
            more_than: false,
            areas: &[],
            max_detections: 1,
            cap_scope: CapScope::Image,
            class_agnostic: false,
            choice: Choice::BestFree,
            last_of_equal: true,
            leaves_out_empty: false,
            leaves_out_empty_objects: false,
            near: None,
        };
        let levels = |rules: &Rules<'_>| [0.2, 0.25, 0.5, 0.99, 1.0 - 1e-11, 1.0].map(|overlap| rules.level(overlap));
        assert_eq!(levels(&rules), [0, 1, 2, 2, 3, 3]);
        assert_eq!([0.25, 0.5].map(|overlap| rules.level_above(overlap)), [0, 1]);
        rules.more_than = true;
        assert_eq!(levels(&rules), [0, 0, 1, 2, 2, 2]);
        assert_eq!(rules.least(), 0.25);
        assert_eq!((rules.bytes(), rules.range_bytes()), (1, 0));
    }
}
