//! Boxes as columns, so that a vector holds one number of several boxes.

use super::formula::Measured;
use crate::memory::{Vec, zeros};
use crate::number::Float;
use crate::simd::{MAX_LANES, Vector};

/// The numbers of a [`Measured`] box.
const NUMBERS: usize = 6;

/// The second set of a pairwise call, one column per number.
pub struct Columns<F> {
    /// How many boxes.
    pub len: usize,
    /// The columns, one after the other, and what comes before the first.
    numbers: Vec<F>,
    /// Where the first column begins: at a line of the cache, as all others do.
    first: usize,
    /// From one column to the next. Behind each there are [`MAX_LANES`] zeros, so that a vector may begin at any box.
    stride: usize,
}

/// Bytes of a line of the cache, which is the widest vector.
const LINE: usize = 64;

impl<F: Float> Columns<F> {
    /// The columns of a set; `angles` says whether the formula reads [`Measured::angle`].
    pub fn new(boxes: &[[F; 4]], angles: bool) -> Self {
        let line = LINE / size_of::<F>();
        let stride = (boxes.len() + MAX_LANES).next_multiple_of(line);
        let mut numbers: Vec<F> = zeros(NUMBERS * stride + line);
        let first = numbers.as_ptr().align_offset(LINE).min(line);
        let mut columns = numbers[first..].chunks_exact_mut(stride);
        let [x1, y1, x2, y2, area, angle] = [(); NUMBERS].map(|()| columns.next().expect("six columns"));
        for (k, &corners) in boxes.iter().enumerate() {
            let of = Measured::new(corners, false);
            (x1[k], y1[k], x2[k], y2[k], area[k]) = (of.x1, of.y1, of.x2, of.y2, of.area);
        }
        if angles {
            for (angle, &corners) in angle.iter_mut().zip(boxes) {
                *angle = Measured::new(corners, true).angle;
            }
        }
        Self { len: boxes.len(), numbers, first, stride }
    }

    /// The boxes from `start` on.
    #[inline(always)]
    pub fn from(&self, start: usize) -> Rest<'_, F> {
        assert!(start <= self.len, "a box of the set");
        Rest { first: &self.numbers[self.first + start..], len: self.len - start, stride: self.stride }
    }
}

/// The boxes of [`Columns`] from one of them on.
#[derive(Clone, Copy)]
pub struct Rest<'a, F> {
    /// The first column from that box on, and the columns behind it.
    first: &'a [F],
    /// How many boxes.
    len: usize,
    /// From one column to the next.
    stride: usize,
}

impl<F: Float> Rest<'_, F> {
    /// A vector of boxes that begins at `place`.
    #[inline(always)]
    pub fn load<V: Vector<Scalar = F>>(&self, place: usize) -> Measured<V> {
        assert!(place <= self.len, "a box of the set");
        let stride = self.stride;
        // SAFETY: there are six columns, and a vector of numbers from every place of each.
        unsafe {
            let first = self.first.as_ptr().add(place);
            Measured {
                x1: V::load_from(first),
                y1: V::load_from(first.add(stride)),
                x2: V::load_from(first.add(2 * stride)),
                y2: V::load_from(first.add(3 * stride)),
                area: V::load_from(first.add(4 * stride)),
                angle: V::load_from(first.add(5 * stride)),
            }
        }
    }
}
