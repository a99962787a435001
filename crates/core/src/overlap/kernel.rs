//! The inner loops: a run of pairs, a vector of results at a time.

use super::formula::{Formula, Measured, intersection};
use super::simd::{InstructionSet, Kernel, MAX_LANES};
use crate::float::Float;

/// The second set of a pairwise call, one column per coordinate, so that a vector holds one coordinate of many boxes.
pub struct Columns<F> {
    x1: Vec<F>,
    y1: Vec<F>,
    x2: Vec<F>,
    y2: Vec<F>,
    area: Vec<F>,
    angle: Vec<F>,
}

impl<F: Float> Columns<F> {
    /// Fewer boxes than any block holds are filled up with empty ones.
    pub fn new<V: Formula>(boxes: &[[F; 4]]) -> Self {
        let column = || vec![F::ZERO; boxes.len().max(MAX_LANES)];
        let [mut x1, mut y1, mut x2, mut y2, mut area, mut angle] = std::array::from_fn(|_| column());
        for (k, &corners) in boxes.iter().enumerate() {
            let of = Measured::new::<V>(corners);
            (x1[k], y1[k], x2[k], y2[k]) = (of.x1, of.y1, of.x2, of.y2);
            (area[k], angle[k]) = (of.area, of.angle);
        }
        Self { x1, y1, x2, y2, area, angle }
    }

    /// The blocks from box `start` on. One iterator for all columns: the compiler checks one length, not six per block.
    #[inline(always)]
    fn blocks<const L: usize>(&self, start: usize) -> impl Iterator<Item = Lanes<F, L>> {
        fn blocks<F, const L: usize>(column: &[F], start: usize) -> std::slice::Iter<'_, [F; L]> {
            column[start..].as_chunks().0.iter()
        }
        let corners = blocks(&self.x1, start)
            .zip(blocks(&self.y1, start))
            .zip(blocks(&self.x2, start).zip(blocks(&self.y2, start)));
        corners
            .zip(blocks(&self.area, start).zip(blocks(&self.angle, start)))
            .map(|(((&x1, &y1), (&x2, &y2)), (&area, &angle))| Lanes { x1, y1, x2, y2, area, angle })
    }

    #[inline(always)]
    fn block<const L: usize>(&self, start: usize) -> Lanes<F, L> {
        self.blocks(start).next().expect("a whole block")
    }
}

/// The boxes of a block, one array per coordinate.
struct Lanes<F, const L: usize> {
    x1: [F; L],
    y1: [F; L],
    x2: [F; L],
    y2: [F; L],
    area: [F; L],
    angle: [F; L],
}

impl<F: Float, const L: usize> Lanes<F, L> {
    #[inline(always)]
    fn gather<V: Formula>(boxes: &[[F; 4]; L]) -> Self {
        let mut lanes = Self::splat(&Measured::new::<V>([F::ZERO; 4]));
        for (k, &corners) in boxes.iter().enumerate() {
            let of = Measured::new::<V>(corners);
            (lanes.x1[k], lanes.y1[k], lanes.x2[k], lanes.y2[k]) = (of.x1, of.y1, of.x2, of.y2);
            (lanes.area[k], lanes.angle[k]) = (of.area, of.angle);
        }
        lanes
    }

    #[inline(always)]
    fn splat(of: &Measured<F>) -> Self {
        Self {
            x1: [of.x1; L],
            y1: [of.y1; L],
            x2: [of.x2; L],
            y2: [of.y2; L],
            area: [of.area; L],
            angle: [of.angle; L],
        }
    }

    #[inline(always)]
    fn at(&self, k: usize) -> Measured<F> {
        Measured {
            x1: self.x1[k],
            y1: self.y1[k],
            x2: self.x2[k],
            y2: self.y2[k],
            area: self.area[k],
            angle: self.angle[k],
        }
    }
}

#[inline(always)]
fn block<V: Formula, F: Float, const L: usize>(formula: V, a: &Lanes<F, L>, b: &Lanes<F, L>) -> [F; L] {
    let mut values = [F::ZERO; L];
    // With an iterator over `values` the compiler misses some of the vectors: half the speed of IoU on AVX2.
    #[expect(clippy::needless_range_loop)]
    for k in 0..L {
        let (a, b) = (a.at(k), b.at(k));
        values[k] = formula.value(&a, &b, intersection(&a, &b));
    }
    values
}

/// Part of a pairwise result: the pairs `start..start + out.len()`, counted row by row, of boxes1 x boxes2.
pub struct PairwisePart<'a, V, F> {
    pub boxes1: &'a [[F; 4]],
    pub columns: &'a Columns<F>,
    pub width: usize,
    pub start: usize,
    pub out: &'a mut [F],
    /// Write past the cache.
    pub stream: bool,
    pub formula: V,
}

impl<V: Formula, F: Float> Kernel for PairwisePart<'_, V, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let (mut row, mut column) = (self.start / self.width, self.start % self.width);
        let mut rest = self.out;
        while !rest.is_empty() {
            let here;
            (here, rest) = rest.split_at_mut(rest.len().min(self.width - column));
            let a = Measured::new::<V>(self.boxes1[row]);
            fill_row::<V, F, I, L>(self.formula, &a, self.columns, column, here, self.stream);
            (row, column) = (row + 1, 0);
        }
        if self.stream {
            I::fence();
        }
    }
}

/// One box against those from `column` on.
///
/// One row at a time: division bounds the speed, so that rows which share the loads of the columns bring nothing.
/// No closures here: one that the compiler does not inline is compiled without the instruction set.
#[inline(always)]
fn fill_row<V: Formula, F: Float, I: InstructionSet, const L: usize>(
    formula: V,
    a: &Measured<F>,
    columns: &Columns<F>,
    column: usize,
    out: &mut [F],
    stream: bool,
) {
    let a = Lanes::<F, L>::splat(a);
    let width = out.len();
    if width < L {
        // A short row may lie at the end of the columns: the block that ends there holds it.
        let start = column.min(columns.x1.len() - L);
        let values = block::<V, F, L>(formula, &a, &columns.block(start));
        out.copy_from_slice(&values[column - start..][..width]);
        return;
    }
    // The blocks at both ends may overlap their neighbours and write some values twice: cheaper than short copies.
    let head = if stream { out.as_ptr().align_offset(I::BYTES) } else { 0 }; // less than L
    let tail = (width - head) % L;
    for (size, start) in [(head, 0), (tail, width - L)] {
        if size > 0 {
            out[start..start + L].copy_from_slice(&block::<V, F, L>(formula, &a, &columns.block(column + start)));
        }
    }
    let lines = out[head..].as_chunks_mut::<L>().0;
    for (line, lanes) in lines.iter_mut().zip(columns.blocks(column + head)) {
        let values = block::<V, F, L>(formula, &a, &lanes);
        if stream {
            let (from, to) = (values.as_ptr().cast::<u8>(), line.as_mut_ptr().cast::<u8>());
            for offset in (0..size_of_val(&values)).step_by(I::BYTES) {
                // SAFETY: inside `values` and the exclusive `line`, which are whole vectors; `head` aligned the latter.
                unsafe { I::stream(to.add(offset), from.add(offset)) };
            }
        } else {
            *line = values;
        }
    }
}

/// The pairs of two sequences of one length.
pub struct Elementwise<'a, V, F> {
    pub boxes1: &'a [[F; 4]],
    pub boxes2: &'a [[F; 4]],
    pub out: &'a mut [F],
    pub formula: V,
}

impl<V: Formula, F: Float> Kernel for Elementwise<'_, V, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let (blocks1, tail1) = self.boxes1.as_chunks::<L>();
        let (blocks2, tail2) = self.boxes2.as_chunks::<L>();
        let (lines, tail) = self.out.as_chunks_mut::<L>();
        for ((boxes1, boxes2), line) in blocks1.iter().zip(blocks2).zip(lines) {
            *line = block::<V, F, L>(self.formula, &Lanes::gather::<V>(boxes1), &Lanes::gather::<V>(boxes2));
        }
        let (boxes1, boxes2) = (&padded(tail1), &padded(tail2));
        let values = block::<V, F, L>(self.formula, &Lanes::gather::<V>(boxes1), &Lanes::gather::<V>(boxes2));
        tail.copy_from_slice(&values[..tail.len()]);
    }
}

/// Fewer boxes than a block, filled up with empty ones.
#[inline(always)]
fn padded<F: Float, const L: usize>(boxes: &[[F; 4]]) -> [[F; 4]; L] {
    let mut block = [[F::ZERO; 4]; L];
    block[..boxes.len()].copy_from_slice(boxes);
    block
}
