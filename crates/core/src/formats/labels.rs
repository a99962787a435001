//! A column of text in which the same strings come again and again: names of classes and of images.

use std::collections::HashMap;

/// Strings by number, and the number of each row.
#[derive(Debug, Default)]
pub struct Labels {
    /// The number of the string of each row.
    pub codes: Vec<i64>,
    names: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, i64>,
}

impl Labels {
    /// Adds a row.
    pub fn push(&mut self, text: &[u8]) {
        // Rows of one image follow each other.
        let number = match self.codes.last() {
            Some(&last) if *self.names[last as usize] == *text => last,
            _ => self.number_of(text),
        };
        self.codes.push(number);
    }

    fn number_of(&mut self, text: &[u8]) -> i64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.names.len() as i64;
        self.names.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// Adds rows that lie behind.
    pub fn append(&mut self, other: Self) {
        let numbers: Vec<i64> = other.names.iter().map(|name| self.number_of(name)).collect();
        self.codes.extend(other.codes.iter().map(|&code| numbers[code as usize]));
    }

    /// The number of the string of each row, and the strings in ascending order.
    pub fn sorted(self) -> (Vec<i64>, Vec<Box<[u8]>>) {
        let Self { mut codes, names, .. } = self;
        let mut named: Vec<(Box<[u8]>, usize)> = names.into_iter().zip(0..).collect();
        named.sort_unstable();
        let mut places = vec![0; named.len()];
        named.iter().zip(0..).for_each(|((_, number), place)| places[*number] = place);
        codes.iter_mut().for_each(|code| *code = places[*code as usize]);
        (codes, named.into_iter().map(|(name, _)| name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_strings() {
        let words = ["b", "b", "a", "", "b", "c", "a"];
        for cut in 0..=words.len() {
            let (mut labels, mut behind) = (Labels::default(), Labels::default());
            words[..cut].iter().for_each(|word| labels.push(word.as_bytes()));
            words[cut..].iter().for_each(|word| behind.push(word.as_bytes()));
            labels.append(behind);
            let (codes, names) = labels.sorted();
            assert!(names.is_sorted());
            assert!(codes.iter().zip(words).all(|(&code, word)| *names[code as usize] == *word.as_bytes()));
        }
    }
}
