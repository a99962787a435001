//! Boxes in the order of a grid, so that those near a query lie in a few contiguous runs.
//!
//! Boxes of about the same width and height (within a factor of sixteen each) make a layer; the cells of its grid have
//! about the size of its boxes, so a query finds few that do not matter, whatever the mixture of sizes. A box lies in
//! the cell of its low corner. The plane is wound around a torus of about as many cells as the layer has boxes: far
//! parts of it may share a cell, which costs a comparison, and no distance or cluster makes the grid larger. The order
//! is that of the cells, row by row: a counting sort.

use std::ops::Range;

use super::bound::{Bound, Interval};
use crate::ending::ask_each;
use crate::memory::{Vec, vec, zeros};
use crate::number::Float;
use crate::overlap::is_huge;
use crate::simd::{MAX_LANES, Vector, prefetch};

/// Boxes to be found by their place and size.
pub struct Index<F> {
    pub(crate) layers: Vec<Layer>,
    /// Where each cell begins, of all layers, and the end.
    starts: Vec<u32>,
    /// The corners in the order of the cells: x1, y1, x2, y2, each filled up so that a vector can be read anywhere.
    pub(crate) columns: [Vec<F>; 4],
    /// The number that each box had.
    pub(crate) numbers: Vec<u32>,
    labels: Option<Vec<i64>>,
    len: usize,
}

/// The boxes with sides of about one size.
pub(crate) struct Layer {
    /// Their squares may overflow.
    pub huge: bool,
    /// Their areas are exact to a few roundings.
    pub exact: bool,
    /// Where they lie in the order.
    pub boxes: Range<usize>,
    pub x: Axis,
    pub y: Axis,
    first_cell: usize,
}

/// One dimension of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    /// The sides of the boxes.
    pub sides: Interval,
    /// The low corners of the boxes.
    corners: Interval,
    /// The sum of the sides.
    total: f64,
    /// Cells per unit.
    scale: f64,
    /// The cell of the least corner.
    first: i64,
    /// How many cells around the torus.
    cells: u64,
}

/// Some cells of an axis: `count` of them from `start` on, around the torus.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: u64,
    count: u64,
}

/// The side of a cell, in mean sides of the boxes: where it is smaller, a query meets more cells, where it is larger,
/// more boxes.
const CELL: f64 = 2.0;

impl Axis {
    const NEW: Self =
        Self { sides: Interval::EMPTY, corners: Interval::EMPTY, total: 0.0, scale: 0.0, first: 0, cells: 0 };

    #[inline(always)]
    fn include(&mut self, corner: f64, side: f64) {
        self.sides.include(side);
        self.corners.include(corner);
        self.total += side;
    }

    /// Makes the cells of a layer of `count` boxes.
    fn divide(&mut self, count: usize) {
        self.scale = (count as f64 / (CELL * self.total)).min(f64::MAX);
        self.first = self.cell(self.corners.least);
    }

    /// The cell of a coordinate within [`Self::corners`]: less than 2^60, as a side is no smaller than the last bit of
    /// its corners. It is exact enough if it never falls while the coordinate rises.
    #[inline(always)]
    fn cell(&self, coordinate: f64) -> i64 {
        (coordinate * self.scale) as i64
    }

    /// How many cells the corners span.
    fn extent(&self) -> u64 {
        self.cell(self.corners.largest).abs_diff(self.cell(self.corners.least)) + 1
    }

    /// The cell around the torus; `turn` is where it begins.
    #[inline(always)]
    fn around(&self, cell: i64, turn: u64) -> u64 {
        let distance = (cell - self.first) as u64 + turn;
        if distance < self.cells { distance } else { distance % self.cells }
    }

    /// The corners that `bound` admits beside some queries, of those there are.
    #[inline(always)]
    fn near(&self, bound: &Bound, corners: Interval, sides: Interval) -> Option<Interval> {
        let near = bound.corners(corners, sides, self.sides)?.common(self.corners);
        (near.least <= near.largest).then_some(near)
    }

    /// The cells of some corners.
    #[inline(always)]
    fn span(&self, corners: Interval, turn: u64) -> Span {
        let (first, last) = (self.cell(corners.least), self.cell(corners.largest));
        Span { start: self.around(first, turn), count: ((last - first) as u64 + 1).min(self.cells) }
    }
}

impl Layer {
    fn new(huge: bool, boxes: Range<usize>) -> Self {
        Self { huge, exact: true, boxes, x: Axis::NEW, y: Axis::NEW, first_cell: 0 }
    }

    /// Lays out the torus. Boxes of several labels are spread over it, as if they lay in several planes.
    fn lay_out(&mut self, labelled: bool) {
        for axis in [&mut self.x, &mut self.y] {
            axis.divide(self.boxes.len());
        }
        let budget = self.boxes.len() as u64;
        let [width, height] = [self.x, self.y].map(|axis| if labelled { u64::MAX } else { axis.extent() });
        // An odd number of cells around: what repeats at a power of two, as tiles do, is spread all the same.
        let wound = |extent: u64, cells: u64| if cells < extent { cells | 1 } else { extent };
        let columns = budget.isqrt().clamp(1, width);
        self.y.cells = wound(height, (budget / columns).max(1));
        self.x.cells = wound(width, (budget / self.y.cells).max(1));
    }

    fn cells(&self) -> usize {
        (self.x.cells * self.y.cells) as usize
    }

    #[inline(always)]
    fn cell(&self, x: f64, y: f64, (turn_x, turn_y): (u64, u64)) -> usize {
        let (column, row) = (self.x.around(self.x.cell(x), turn_x), self.y.around(self.y.cell(y), turn_y));
        self.first_cell + (row * self.x.cells + column) as usize
    }
}

/// Where the torus begins for a label: two numbers of 32 bits that look random.
#[inline(always)]
fn turn(label: i64) -> (u64, u64) {
    // The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    let mut z = (label as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 32, z & 0xffff_ffff)
}

/// Stands for a box that overlaps nothing.
const NOWHERE: u32 = u32::MAX;

/// So many boxes before it is needed, one is asked for.
const AHEAD: usize = 24;

impl<F: Float> Index<F> {
    /// Indexes boxes, `[x1, y1, x2, y2]`; a box with a label is found by queries with the same label.
    ///
    /// Boxes without width or height overlap nothing and are left out, as are any that are no boxes at all.
    ///
    /// # Panics
    ///
    /// If there are 2^31 boxes or more, or not as many labels as boxes.
    pub fn build(boxes: &[[F; 4]], labels: Option<&[i64]>) -> Self {
        assert!(boxes.len() < 1 << 31, "fewer than 2^31 boxes");
        assert!(labels.is_none_or(|labels| labels.len() == boxes.len()), "one label per box");
        let (mut layers, mut places) = into_layers(boxes);
        let mut cells = 0;
        for layer in &mut layers {
            layer.lay_out(labels.is_some());
            layer.first_cell = cells;
            cells += layer.cells();
        }

        // From the layer of each box to its cell.
        let mut starts = vec![0; cells + 1];
        for (number, (place, &[x1, y1, ..])) in places.iter_mut().zip(boxes).enumerate() {
            ask_each(number);
            if *place != NOWHERE {
                let turn = labels.map_or((0, 0), |labels| turn(labels[number]));
                let cell = layers[*place as usize].cell(x1.to_f64(), y1.to_f64(), turn);
                starts[cell] += 1;
                *place = cell as u32;
            }
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut numbers = vec![0; end as usize];
        for (number, &cell) in places.iter().enumerate().rev().filter(|&(_, &cell)| cell != NOWHERE) {
            ask_each(number);
            starts[cell as usize] -= 1;
            numbers[starts[cell as usize] as usize] = number as u32;
        }
        drop(places);

        let mut columns = [(); 4].map(|()| zeros(numbers.len() + MAX_LANES));
        for (k, &number) in numbers.iter().enumerate() {
            ask_each(k);
            // The boxes lie anywhere: without this, waiting for them is half of the time of a million.
            if let Some(&later) = numbers.get(k + AHEAD) {
                prefetch(boxes, later as usize);
            }
            for (column, corner) in columns.iter_mut().zip(boxes[number as usize]) {
                column[k] = corner;
            }
        }
        let labels = labels.map(|labels| numbers.iter().map(|&number| labels[number as usize]).collect());
        Self { layers, starts, columns, numbers, labels, len: boxes.len() }
    }

    /// How many boxes it was built of.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it was built of no boxes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(crate) fn corners(&self, position: usize) -> [F; 4] {
        [0, 1, 2, 3].map(|k| self.columns[k][position])
    }

    /// The columns, for a loop that reads vectors of them.
    #[inline(always)]
    pub(crate) fn columns(&self) -> Columns<'_, F> {
        let [x1, y1, x2, y2] = &self.columns;
        let length = x1.len();
        Columns { x1, y1: &y1[..length], x2: &x2[..length], y2: &y2[..length] }
    }

    #[inline(always)]
    pub(crate) fn is_labelled(&self) -> bool {
        self.labels.is_some()
    }

    #[inline(always)]
    pub(crate) fn label(&self, position: usize) -> Option<i64> {
        self.labels.as_ref().map(|labels| labels[position])
    }

    /// Where the boxes at some positions are.
    #[inline(always)]
    pub(crate) fn extent(&self, positions: Range<usize>) -> Extent {
        let [x1, y1, x2, y2] = self.columns.each_ref().map(|column| &column[positions.clone()]);
        let mut extent = Extent::EMPTY;
        for (((x1, y1), x2), y2) in x1.iter().zip(y1).zip(x2).zip(y2) {
            extent.include([x1.to_f64(), y1.to_f64(), x2.to_f64(), y2.to_f64()]);
        }
        extent
    }

    /// The positions of the boxes of a layer that may overlap one of the queries, as contiguous runs.
    #[inline(always)]
    pub(crate) fn near<'a>(
        &'a self,
        layer: &'a Layer,
        bound: &Bound,
        Extent { corners: [x, y], sides: [width, height] }: Extent,
        label: Option<i64>,
    ) -> Runs<'a> {
        let (Some(x), Some(y)) = (layer.x.near(bound, x, width), layer.y.near(bound, y, height)) else {
            return Runs::NONE;
        };
        let (turn_x, turn_y) = label.map_or((0, 0), turn);
        let (columns, rows) = (layer.x.span(x, turn_x), layer.y.span(y, turn_y));
        if rows.count == layer.y.cells && columns.count == layer.x.cells {
            return Runs { rest: layer.boxes.clone(), ..Runs::NONE };
        }
        let starts = &self.starts[layer.first_cell..][..=layer.cells()];
        Runs {
            starts,
            rest: 0..0,
            columns,
            width: layer.x.cells,
            row: rows.start,
            rows: rows.count,
            height: layer.y.cells,
        }
    }
}

/// Where some queries are, along x and y: one query, or several that are near each other.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Of their low corners.
    corners: [Interval; 2],
    /// Of their sides.
    sides: [Interval; 2],
}

impl Extent {
    const EMPTY: Self = Self { corners: [Interval::EMPTY; 2], sides: [Interval::EMPTY; 2] };

    /// That of one box.
    #[inline(always)]
    pub fn of([x1, y1, x2, y2]: [f64; 4]) -> Self {
        Self { corners: [x1, y1].map(Interval::only), sides: [x2 - x1, y2 - y1].map(Interval::only) }
    }

    #[inline(always)]
    fn include(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        self.corners[0].include(x1);
        self.corners[1].include(y1);
        self.sides[0].include(x2 - x1);
        self.sides[1].include(y2 - y1);
    }
}

/// The corners in the order of the cells. All columns have one length.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a, F> {
    x1: &'a [F],
    y1: &'a [F],
    x2: &'a [F],
    y2: &'a [F],
}

impl<F: Float> Columns<'_, F> {
    /// The boxes from a position on, as many as a vector has lanes.
    #[inline(always)]
    pub fn load<V: Vector<Scalar = F>>(&self, start: usize) -> [V; 4] {
        assert!(start + V::LANES <= self.x1.len(), "filled up");
        // SAFETY: they are there, and all columns have one length.
        unsafe {
            [
                V::load_from(self.x1.as_ptr().add(start)),
                V::load_from(self.y1.as_ptr().add(start)),
                V::load_from(self.x2.as_ptr().add(start)),
                V::load_from(self.y2.as_ptr().add(start)),
            ]
        }
    }
}

/// Contiguous runs of positions: those of one row of cells after the other.
#[derive(Clone)]
pub(crate) struct Runs<'a> {
    /// Of the cells of the layer, and the end.
    starts: &'a [u32],
    /// A run that is still to come, because the row was cut in two, or all there is.
    rest: Range<usize>,
    columns: Span,
    width: u64,
    row: u64,
    rows: u64,
    height: u64,
}

impl Runs<'_> {
    const NONE: Self =
        Self { starts: &[], rest: 0..0, columns: Span { start: 0, count: 0 }, width: 0, row: 0, rows: 0, height: 0 };

    /// Whether they have at most so many positions, in no more than so many rows of cells.
    #[inline(always)]
    pub fn are_few(&self, rows: u64, positions: usize) -> bool {
        self.rows <= rows && self.clone().map(|run| run.len()).sum::<usize>() <= positions
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        if !self.rest.is_empty() {
            return Some(std::mem::take(&mut self.rest));
        }
        if self.rows == 0 {
            return None;
        }
        let run = |from: u64, to: u64| self.starts[from as usize] as usize..self.starts[to as usize] as usize;
        let (row, end) = (self.row * self.width, self.columns.start + self.columns.count);
        let (here, rest) = if end <= self.width {
            (run(row + self.columns.start, row + end), 0..0)
        } else {
            (run(row + self.columns.start, row + self.width), run(row, row + end - self.width))
        };
        self.rest = rest;
        self.rows -= 1;
        self.row = if self.row + 1 == self.height { 0 } else { self.row + 1 };
        Some(here)
    }
}

/// Powers of two in a band of sizes.
const OCTAVES: usize = 4;

/// How the sides along an axis are divided into bands.
struct Bands {
    /// The largest exponent below the first band.
    below: usize,
    count: usize,
}

/// The power of two of a positive side, counted from the least there is.
fn exponent(side: f64) -> usize {
    (side.to_bits() >> 52) as usize
}

impl Bands {
    /// From the number of sides of each exponent: the band with the most boxes there can be is one of them.
    fn new(sides: &[u32]) -> Option<Self> {
        let first = sides.iter().position(|&count| count > 0)?;
        let last = sides.iter().rposition(|&count| count > 0)?;
        let boxes = |start: &usize| sides[*start..(start + OCTAVES).min(sides.len())].iter().sum::<u32>();
        let fullest = (first..=last).max_by_key(boxes)?;
        // Whole bands from the fullest one down.
        let below = (fullest - first).next_multiple_of(OCTAVES);
        Some(Self { below: fullest + OCTAVES - below, count: (last + below - fullest) / OCTAVES + 1 })
    }

    fn of(&self, side: f64) -> usize {
        (exponent(side) + OCTAVES - self.below) / OCTAVES
    }
}

/// Width and height of a box that may overlap another.
#[inline(always)]
fn sides<F: Float>(corners: &[F; 4]) -> Option<(f64, f64)> {
    let [x1, y1, x2, y2] = corners.map(F::to_f64);
    let (width, height) = (x2 - x1, y2 - y1);
    (width > 0.0 && height > 0.0 && width.max(height) < f64::INFINITY).then_some((width, height))
}

/// The layers, in the order of their sizes, and the layer of each box.
fn into_layers<F: Float>(boxes: &[[F; 4]]) -> (Vec<Layer>, Vec<u32>) {
    let mut exponents = [[0; 1 << 11]; 2];
    for (width, height) in boxes.iter().filter_map(sides) {
        exponents[0][exponent(width)] += 1;
        exponents[1][exponent(height)] += 1;
    }
    let [Some(widths), Some(heights)] = exponents.map(|sides| Bands::new(&sides)) else {
        return (Vec::new(), vec![NOWHERE; boxes.len()]);
    };

    let bands = widths.count * heights.count;
    let mut counts = zeros::<u32>(2 * bands);
    let mut places: Vec<u32> = Vec::with_capacity(boxes.len());
    for (number, corners) in boxes.iter().enumerate() {
        ask_each(number);
        let Some((width, height)) = sides(corners) else {
            places.push(NOWHERE);
            continue;
        };
        let band = widths.of(width) * heights.count + heights.of(height);
        let place = band + if is_huge(corners) { bands } else { 0 };
        counts[place] += 1;
        places.push(place as u32);
    }

    // Without the empty ones.
    let (mut end, mut layers, mut rank) = (0, Vec::new(), vec![0; counts.len()]);
    for (place, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        rank[place] = layers.len() as u32;
        layers.push(Layer::new(place >= bands, end..end + count as usize));
        end += count as usize;
    }
    // Where there is one layer, what is known of it stays in registers.
    let mut only = Layer::new(false, 0..0);
    let one = layers.len() == 1;
    for (number, (place, corners)) in places.iter_mut().zip(boxes).enumerate() {
        ask_each(number);
        if let Some((width, height)) = sides(corners) {
            *place = rank[*place as usize];
            let layer = if one { &mut only } else { &mut layers[*place as usize] };
            layer.x.include(corners[0].to_f64(), width);
            layer.y.include(corners[1].to_f64(), height);
        }
    }
    if one {
        (layers[0].x, layers[0].y) = (only.x, only.y);
    }
    for layer in &mut layers {
        layer.exact = Bound::is_exact::<F>(layer.x.sides.least * layer.y.sides.least);
    }
    (layers, places)
}
