//! Overlaps that follow from three areas: that of the intersection and those of the two regions, whatever their shape.

/// What is made of the three areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaMeasure {
    /// The area of the intersection itself.
    Intersection,
    /// Intersection over union.
    Iou,
    /// Intersection over the area of the first region.
    IoaFirst,
    /// Intersection over the area of the second region.
    IoaSecond,
    /// Intersection over the smaller area.
    Iom,
    /// 1 - IoU.
    JaccardDistance,
}

impl AreaMeasure {
    /// The measure of that name, as the table of variants and its options spell it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "intersection" => Self::Intersection,
            "iou" => Self::Iou,
            "ioa_first" => Self::IoaFirst,
            "ioa_second" => Self::IoaSecond,
            "iom" => Self::Iom,
            "jaccard_distance" => Self::JaccardDistance,
            _ => return None,
        })
    }

    /// The value: within [0, 1] but for the area itself, and 0 where the divisor is, for a region without area.
    ///
    /// The intersection must not be larger than either area.
    #[inline(always)]
    pub fn of(self, intersection: f64, first: f64, second: f64) -> f64 {
        let (larger, smaller) = if first > second { (first, second) } else { (second, first) };
        // One area less the intersection first: the sum of both could overflow, or lose the smaller.
        let union = larger - intersection + smaller;
        match self {
            Self::Intersection => intersection,
            Self::Iou => ratio(intersection, union),
            Self::IoaFirst => ratio(intersection, first),
            Self::IoaSecond => ratio(intersection, second),
            Self::Iom => ratio(intersection, smaller),
            Self::JaccardDistance => 1.0 - ratio(intersection, union),
        }
    }
}

// No closure: one that the compiler does not inline is compiled without the instruction set of its caller.
#[inline(always)]
fn ratio(intersection: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { intersection / divisor } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::AreaMeasure;

    #[test]
    fn ratios_of_three_areas() {
        let values = |intersection, first, second| {
            ["intersection", "iou", "ioa_first", "ioa_second", "iom", "jaccard_distance"]
                .map(|name| AreaMeasure::named(name).unwrap().of(intersection, first, second))
        };
        assert_eq!(values(1.0, 4.0, 2.0), [1.0, 0.2, 0.25, 0.5, 0.5, 0.8]);
        assert_eq!(values(3.0, 3.0, 3.0), [3.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(values(0.0, 0.0, 0.0), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(AreaMeasure::named("giou"), None);
    }
}
