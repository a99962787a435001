//! What is known about images on which only some of the categories were looked for.

use crate::memory::Vec;

/// Lists of categories, one for each image.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    /// The categories of all lists: positions, or [`super::NOWHERE`].
    pub category: &'a [u32],
    /// Where the list of each image ends.
    pub ends: &'a [usize],
}

impl Lists<'_> {
    fn of(&self, image: usize) -> &[u32] {
        let start = if image == 0 { 0 } else { self.ends[image - 1] };
        &self.category[start..self.ends[image]]
    }
}

/// What is known about each image. A category that has an object there is verified there, too.
#[derive(Clone, Copy)]
pub struct Verified<'a> {
    /// How many categories there are.
    pub categories: usize,
    /// The categories that are known to be absent.
    pub negative: Lists<'a>,
    /// The categories of which some objects may not be annotated.
    pub not_exhaustive: Lists<'a>,
}

/// What is special about a detection: bits of [`super::DetectionRows::special`].
pub mod special {
    /// Some objects of its category may not be annotated on its image. It is ignored where it matches nothing.
    pub const NOT_EXHAUSTIVE: u8 = 1;
    /// It takes a place within the scope of the cap, and has no other part: its category is not verified on its image,
    /// or it has no area.
    pub const LEFT_OUT: u8 = 2;
}

/// The category is verified on the image.
const VERIFIED: u8 = 4;

impl Verified<'_> {
    /// Notes what is known of every category on an image that has objects of `present`.
    pub(super) fn mark(&self, image: usize, present: impl Iterator<Item = u32>, marks: &mut Vec<u8>) {
        marks.clear();
        marks.resize(self.categories, 0);
        let mut add = |category: u32, bit: u8| {
            if let Some(mark) = marks.get_mut(category as usize) {
                *mark |= bit;
            }
        };
        self.not_exhaustive.of(image).iter().for_each(|&category| add(category, special::NOT_EXHAUSTIVE));
        self.negative.of(image).iter().for_each(|&category| add(category, VERIFIED));
        present.for_each(|category| add(category, VERIFIED));
    }
}

/// What is special about a detection of a category with such a mark.
#[inline]
pub(super) fn special_by(mark: u8) -> u8 {
    if mark & VERIFIED == 0 { special::LEFT_OUT } else { mark & special::NOT_EXHAUSTIVE }
}

#[cfg(test)]
mod tests {
    use super::super::NOWHERE;
    use super::*;
    use crate::memory::vec;

    #[test]
    fn a_category_is_verified_where_it_is_present_or_listed_as_absent() {
        let verified = Verified {
            categories: 4,
            negative: Lists { category: &[0, NOWHERE], ends: &[0, 2] },
            not_exhaustive: Lists { category: &[1, 3], ends: &[1, 2] },
        };
        let mut marks = vec![9; 7];
        let mut special_on = |image, present: &[u32]| {
            verified.mark(image, present.iter().copied(), &mut marks);
            marks.iter().map(|&mark| special_by(mark)).collect::<Vec<_>>()
        };
        assert_eq!(
            special_on(0, &[1, 1]),
            [special::LEFT_OUT, special::NOT_EXHAUSTIVE, special::LEFT_OUT, special::LEFT_OUT]
        );
        assert_eq!(special_on(1, &[2]), [0, special::LEFT_OUT, 0, special::LEFT_OUT]);
    }
}
