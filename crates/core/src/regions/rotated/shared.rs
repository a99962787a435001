//! The area of the intersection of two turned rectangles, many pairs at a time.
//!
//! One rectangle is upright in its own frame. The other has an upper and a lower chain of two edges there, and the area
//! is what lies between the chains within the first: the integral of the clamped upper chain less that of the lower. An
//! edge is at most three pieces of a line: clamped, straight, clamped. No branch depends on the numbers, so the compiler
//! makes vectors of the loop over pairs.
//!
//! The error is a few roundings of the smaller area, at any angle between the edges: where two of them are nearly
//! parallel, the place of their crossing is uncertain by as much as it does not matter. The smaller of the two is the
//! upright one, which settles the order too: the result has the same bits whichever is named first.

use crate::number::{max, min};

/// Pairs computed at a time.
pub const BLOCK: usize = 64;

/// One column per number of a rectangle, for as many rectangles as a block has.
pub struct Columns {
    pub(crate) columns: [[f64; BLOCK]; WIDTH],
}

/// What the kernel wants to know of a rectangle, in the order of the columns.
pub const WIDTH: usize = 9;

/// The column of the areas.
pub const AREA: usize = 6;

/// The numbers of a rectangle: its centre, half its sides, its direction, its area, and how far it reaches along x and y.
pub type Row = [f64; WIDTH];

impl Columns {
    /// Rectangles without area.
    pub fn new() -> Self {
        Self { columns: [[0.0; BLOCK]; WIDTH] }
    }

    /// Puts a rectangle in a place of the block.
    #[inline(always)]
    pub fn set(&mut self, place: usize, row: &Row) {
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column[place] = value;
        }
    }

    /// Puts a rectangle in all places.
    pub fn fill(&mut self, row: &Row) {
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column.fill(value);
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Row {
        let c = &self.columns;
        [
            c[0][place],
            c[1][place],
            c[2][place],
            c[3][place],
            c[4][place],
            c[5][place],
            c[6][place],
            c[7][place],
            c[8][place],
        ]
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the upright boxes around two rectangles have a point inside both.
#[inline(always)]
pub fn may_meet(x: f64, y: f64, reach_x: f64, reach_y: f64, other: [f64; 4]) -> bool {
    let [other_x, other_y, other_reach_x, other_reach_y] = other;
    ((x - other_x).abs() < reach_x + other_reach_x) & ((y - other_y).abs() < reach_y + other_reach_y)
}

/// Sines and cosines below this are those of parallel sides: quotients of them overflow, and no size makes up for them.
const PARALLEL: f64 = 1e-150;

/// The area that two rectangles share: at most the smaller of their areas, and 0 where they merely touch.
#[inline(always)]
pub fn shared(one: &Row, other: &Row) -> f64 {
    let apart = !may_meet(one[0], one[1], one[7], one[8], [other[0], other[1], other[7], other[8]]);
    // The smaller first; then any order, as long as it is one.
    let mut swap = other[5] < one[5];
    swap = (other[4] < one[4]) | ((other[4] == one[4]) & swap);
    swap = (other[1] < one[1]) | ((other[1] == one[1]) & swap);
    swap = (other[0] < one[0]) | ((other[0] == one[0]) & swap);
    swap = (other[3] < one[3]) | ((other[3] == one[3]) & swap);
    swap = (other[2] < one[2]) | ((other[2] == one[2]) & swap);
    swap = (other[6] < one[6]) | ((other[6] == one[6]) & swap);
    let (x, other_x) = in_order(swap, one[0], other[0]);
    let (y, other_y) = in_order(swap, one[1], other[1]);
    let (w, qw) = in_order(swap, one[2], other[2]);
    let (h, qh) = in_order(swap, one[3], other[3]);
    let (cos, other_cos) = in_order(swap, one[4], other[4]);
    let (sin, other_sin) = in_order(swap, one[5], other[5]);

    let (apart_x, apart_y) = (other_x - x, other_y - y);
    let (dx, dy) = (apart_x * cos + apart_y * sin, apart_y * cos - apart_x * sin);

    // The direction of the second seen from the first, turned by quarters into the first quadrant.
    let (c, s) = (cos * other_cos + sin * other_sin, cos * other_sin - sin * other_cos);
    let (c, s) = if c < 0.0 { (-c, -s) } else { (c, s) };
    let odd = s < 0.0;
    let (c, s) = if odd { (-s, c) } else { (c, s) };
    let (qw, qh) = in_order(odd, qw, qh);
    let (level, upright) = (s < PARALLEL, c < PARALLEL);
    let parallel = level | upright;
    let (c, s) = if level { (1.0, 0.0) } else { (c, s) };
    let (c, s) = if upright { (0.0, 1.0) } else { (c, s) };

    // Two rectangles are apart if and only if they are along one of their four sides.
    let (reach_x, reach_y) = (qw * c + qh * s, qw * s + qh * c);
    let apart = apart | (dx.abs() >= w + reach_x) | (dy.abs() >= h + reach_y);
    let (ex, ey) = (dx * c + dy * s, dy * c - dx * s);
    let apart = apart | (ex.abs() >= qw + (w * c + h * s)) | (ey.abs() >= qh + (w * s + h * c));

    let straight = overlap(w, reach_x, dx) * overlap(h, reach_y, dy);

    // Where the sides are parallel, what follows is NaN or anything else, and left out below.
    let (rise, run) = (s / c, c / s);
    let (cw, sw, ch, sh) = (qw * c, qw * s, qh * c, qh * s);
    let bottom = [dx - cw + sh, dy - sw - ch];
    let right = [dx + cw + sh, dy + sw - ch];
    let top = [dx + cw - sh, dy + sw + ch];
    let left = [dx - cw - sh, dy - sw + ch];
    let upper = under(left, top, rise, run, w, h) + under(top, right, -run, -rise, w, h);
    let lower = under(left, bottom, -run, -rise, w, h) + under(bottom, right, rise, run, w, h);
    let turned = upper - lower;

    let area = if parallel { straight } else { turned };
    let area = if apart { 0.0 } else { area };
    max(0.0, min(area, min(one[6], other[6])))
}

// Functions, not closures: one of those that the compiler does not inline is compiled without the instruction set.

#[inline(always)]
fn in_order(swap: bool, one: f64, other: f64) -> (f64, f64) {
    (if swap { other } else { one }, if swap { one } else { other })
}

/// How much of an interval of half length `a` one of half length `b`, `apart` from it, covers.
#[inline(always)]
pub fn overlap(a: f64, b: f64, apart: f64) -> f64 {
    let least = min(a, b);
    max(0.0, min(least + least, a + b - apart.abs()))
}

/// The integral along x of a line clamped to `[-h, h]`, from one point to another on its right, both clamped to `[-w, w]`.
///
/// `rise` is its slope, and `run` the inverse.
#[inline(always)]
fn under(from: [f64; 2], to: [f64; 2], rise: f64, run: f64, w: f64, h: f64) -> f64 {
    let (x0, x1) = (clamp(from[0], -w, w), clamp(to[0], -w, w));
    let (y0, y1) = (from[1] + (x0 - from[0]) * rise, to[1] - (to[0] - x1) * rise);
    let (z0, z1) = (clamp(y0, -h, h), clamp(y1, -h, h));
    // Where it leaves the lower or upper bound, and where it reaches the other.
    let (t0, t1) = (clamp(x0 + (z0 - y0) * run, x0, x1), clamp(x1 - (y1 - z1) * run, x0, x1));
    z0 * (t0 - x0) + 0.5 * (z0 + z1) * (t1 - t0) + z1 * (x1 - t1)
}

#[inline(always)]
fn clamp(x: f64, low: f64, high: f64) -> f64 {
    min(max(x, low), high)
}
