//! Scores as integers that sort in descending order of the scores.

/// A number that is smaller for a higher score; 0 and -0 are equal.
#[inline]
pub fn falling(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 0 { !bits & !(1 << 63) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::falling;

    #[test]
    fn sorts_scores_as_numbers() {
        let scores = [f64::MAX, 1.0, 0.5, f64::MIN_POSITIVE, 0.0, -f64::MIN_POSITIVE, -1.0, f64::MIN];
        assert!(scores.map(falling).is_sorted_by(|a, b| a < b));
        assert_eq!(falling(-0.0), falling(0.0));
    }
}
