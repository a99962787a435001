//! A column of text in which the same strings come again and again: names of classes and of images.

use std::hash::{BuildHasher, RandomState};

use crate::memory::{Vec, vec};
use crate::threads::each;

/// Strings in one piece of memory.
#[derive(Debug, Default)]
pub struct Strings {
    /// The strings, one behind the other.
    pub text: Vec<u8>,
    /// Where each string ends.
    pub ends: Vec<u64>,
}

impl Strings {
    /// The string with a number.
    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.text[start..self.ends[number] as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len() as u64);
    }

    /// The place of each string in ascending order, and the strings in that order.
    fn sorted(&self) -> (Vec<i64>, Self) {
        // The first bytes decide almost always, and comparing them needs no look at the text.
        let mut order: Vec<(u64, usize)> =
            (0..self.len()).map(|number| (first_bytes(self.get(number)), number)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.get(a.1).cmp(self.get(b.1))));
        let (mut places, mut sorted) = (vec![0; order.len()], Self::default());
        sorted.text.reserve(self.text.len());
        sorted.ends.reserve(self.len());
        for ((_, number), place) in order.into_iter().zip(0..) {
            places[number] = place;
            sorted.push(self.get(number));
        }
        (places, sorted)
    }
}

/// The first eight bytes as a number that is in the order of the bytes; zeros behind shorter text.
fn first_bytes(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(8);
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(bytes)
}

/// Strings by number, and the number of each row.
#[derive(Debug)]
pub struct Labels {
    /// The number of the string of each row.
    codes: Vec<u32>,
    names: Strings,
    /// A hash table: 32 bits of the hash above the number and 1, or 0. Its length is a power of two.
    slots: Vec<u64>,
    seeds: [u64; 2],
}

impl Default for Labels {
    fn default() -> Self {
        let random = RandomState::new();
        let seeds = [random.hash_one(0), random.hash_one(1) | 1];
        Self { codes: Vec::new(), names: Strings::default(), slots: vec![0; 16], seeds }
    }
}

impl Labels {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        // Rows of one image follow each other.
        let number = match self.codes.last() {
            Some(&last) if *self.names.get(last as usize) == *text => last,
            _ => self.number_of(text),
        };
        self.codes.push(number);
    }

    /// A hash by 128-bit products with seeds that differ in every process, so that no file can be made to collide.
    fn hash(&self, text: &[u8]) -> u64 {
        let [start, factor] = self.seeds;
        let mixed = |state: u64, word: u64| {
            let product = u128::from(state ^ word) * u128::from(factor);
            product as u64 ^ (product >> 64) as u64
        };
        let (words, rest) = text.as_chunks::<8>();
        let state = words.iter().fold(start ^ text.len() as u64, |state, word| mixed(state, u64::from_le_bytes(*word)));
        mixed(state, rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))) >> 32
    }

    fn number_of(&mut self, text: &[u8]) -> u32 {
        let hash = self.hash(text);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            let (of_slot, number) = (self.slots[slot] >> 32, self.slots[slot] as u32 - 1);
            if of_slot == hash && self.names.get(number as usize) == text {
                return number;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.names.push(text);
        let count = u32::try_from(self.names.len()).expect("fewer strings than four billion");
        self.slots[slot] = hash << 32 | u64::from(count);
        if self.names.len() * 2 > self.slots.len() {
            self.grow();
        }
        count - 1
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 2];
        let mask = slots.len() - 1;
        for &entry in self.slots.iter().filter(|entry| **entry != 0) {
            let mut slot = (entry >> 32) as usize & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = entry;
        }
        self.slots = slots;
    }

    /// Takes the strings of rows that lie behind; the number here of each of them.
    fn take_names(&mut self, other: &Strings) -> Vec<u32> {
        (0..other.len()).map(|number| self.number_of(other.get(number))).collect()
    }

    /// Adds rows that lie behind.
    pub fn append(&mut self, other: Self) {
        let numbers = self.take_names(&other.names);
        self.codes.extend(other.codes.iter().map(|&code| numbers[code as usize]));
    }

    /// The place of the string of each row among the strings in ascending order, and these strings.
    pub fn sorted(self) -> (Vec<i64>, Strings) {
        Self::joined(vec![self], 1)
    }

    /// The same of the rows of several, one behind the other, by `threads` threads (0: all cores).
    pub fn joined(parts: Vec<Self>, threads: usize) -> (Vec<i64>, Strings) {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        let own: Vec<u32> = (0..all.names.len() as u32).collect();
        let mut numbered = vec![(std::mem::take(&mut all.codes), own)];
        for part in parts {
            let numbers = all.take_names(&part.names);
            numbered.push((part.codes, numbers));
        }
        let (places, names) = all.names.sorted();
        let mut rows = vec![0; numbered.iter().map(|(codes, _)| codes.len()).sum()];
        let mut rest = rows.as_mut_slice();
        let mut tasks = Vec::with_capacity(numbered.len());
        for (codes, numbers) in &numbered {
            let (out, behind) = rest.split_at_mut(codes.len());
            tasks.push((out, codes, numbers));
            rest = behind;
        }
        each(tasks.into_iter(), threads, |(out, codes, numbers)| {
            let places: Vec<i64> = numbers.iter().map(|&number| places[number as usize]).collect();
            out.iter_mut().zip(codes).for_each(|(out, &code)| *out = places[code as usize]);
        });
        (rows, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    #[test]
    fn rows_keep_their_strings() {
        let words = ["b", "b", "a", "", "b", "c", "a", "a\0", "same first bytes 2", "same first bytes 1", "same fir"];
        for cut in 0..=words.len() {
            let parts = || {
                let (mut labels, mut behind) = (Labels::default(), Labels::default());
                words[..cut].iter().for_each(|word| labels.push(word.as_bytes()));
                words[cut..].iter().for_each(|word| behind.push(word.as_bytes()));
                (labels, behind)
            };
            let (mut labels, behind) = parts();
            labels.append(behind);
            let (labels, behind) = (labels.sorted(), parts());
            for (codes, names) in [labels, Labels::joined(vec![behind.0, behind.1], 2)] {
                assert!((1..names.len()).all(|number| names.get(number - 1) < names.get(number)));
                assert_eq!((codes.len(), names.len()), (words.len(), 8));
                assert!(codes.iter().zip(words).all(|(&code, word)| names.get(code as usize) == word.as_bytes()));
            }
        }
    }

    #[test]
    fn many_strings_get_numbers_of_their_own() {
        let mut labels = Labels::default();
        let words: Vec<String> = (0..20_000).map(|number| format!("image {}", number * 7 % 5_003)).collect();
        words.iter().for_each(|word| labels.push(word.as_bytes()));
        let (codes, names) = labels.sorted();
        assert_eq!(names.len(), 5_003);
        assert!(codes.iter().zip(&words).all(|(&code, word)| names.get(code as usize) == word.as_bytes()));
        assert!(Labels::joined(vec![], 0).1.is_empty());
    }
}
