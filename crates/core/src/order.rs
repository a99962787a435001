//! Rows in the order of a key. All sorts go through one type of item: a sort takes as long to compile as a small module.

use crate::memory::Vec;

/// The numbers of the keys in rising order of the keys; of equal keys the lower number first.
pub fn by_key(keys: impl Iterator<Item = u64>) -> Vec<u32> {
    by_two_keys(keys.map(|key| (key, 0)))
}

/// The same for pairs of keys; of equal first keys the lower second key comes first.
pub fn by_two_keys(keys: impl Iterator<Item = (u64, u32)>) -> Vec<u32> {
    let item = |((first, second), number): ((u64, u32), u32)| {
        u128::from(first) << 64 | u128::from(second) << 32 | u128::from(number)
    };
    let mut items: Vec<u128> = keys.zip(0..).map(item).collect();
    items.sort_unstable();
    items.into_iter().map(|item| item as u32).collect()
}

/// A key that sorts like the number, as `f64::total_cmp` has it.
pub fn rising(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// A key that sorts like the integer.
pub fn of_integer(integer: i64) -> u64 {
    integer.cast_unsigned() ^ (1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_their_numbers() {
        let numbers = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::MIN_POSITIVE, 2.0, f64::INFINITY, f64::NAN];
        assert!(numbers.map(rising).is_sorted_by(|a, b| a < b));
        assert!([i64::MIN, -1, 0, 1, i64::MAX].map(of_integer).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn equal_keys_keep_their_order() {
        assert_eq!(by_key([3, 1, 3, 0, 1].into_iter()), [3, 1, 4, 0, 2]);
        assert_eq!(by_two_keys([(1, 9), (1, 2), (0, 5), (1, 2)].into_iter()), [2, 1, 3, 0]);
        assert!(by_key(std::iter::empty()).is_empty());
    }
}
