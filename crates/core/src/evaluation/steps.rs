//! The area under a curve of steps, as py-faster-rcnn computes it.

use crate::memory::Vec;

/// The area under the steps of a curve that rises in recall by one object at each true positive.
///
/// The parts and their sum are those of `voc_ap` of py-faster-rcnn, which ends the curve with a part of 0 where recall 1
/// is not reached.
pub(super) fn area_under(precision: &[f64], count: f64, parts: &mut Vec<f64>) -> f64 {
    let mut before = 0.0;
    parts.clear();
    parts.extend(precision.iter().enumerate().map(|(at, precision)| {
        let recall = (at + 1) as f64 / count;
        let part = (recall - before) * precision;
        before = recall;
        part
    }));
    if before != 1.0 {
        parts.push(0.0);
    }
    pairwise_sum(parts)
}

/// The sum of numbers in the order in which NumPy adds a contiguous array, from 2.3 on: the last bit depends on it.
pub(super) fn pairwise_sum(numbers: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at(half - half % LANES);
        return pairwise_sum(low) + pairwise_sum(high);
    }
    let (rows, rest) = numbers.as_chunks::<LANES>();
    let Some((&first, others)) = rows.split_first() else { return rest.iter().fold(0.0, |sum, number| sum + number) };
    let mut sums = first;
    for row in others {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, number| sum + number)
}

#[cfg(test)]
mod tests {
    use super::pairwise_sum;

    #[test]
    fn adds_in_the_order_of_numpy() {
        // Sums of 1, 1 / 2, 1 / 3 and so on, as numpy.sum gives them.
        for (length, sum) in [
            (0, 0.0),
            (3, 1.8333333333333333),
            (13, 3.180133755133755),
            (129, 5.440899030573669),
            (300, 6.282663880299504),
            (1000, 7.485470860550345),
            (1300, 7.747719774426114),
        ] {
            let numbers: Vec<f64> = (1..=length).map(|number| 1.0 / f64::from(number)).collect();
            assert_eq!(pairwise_sum(&numbers), sum, "of {length}");
        }
    }
}
