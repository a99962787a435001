//! Turned rectangles: where their corners are, and how much they overlap.
//!
//! x points right and y down, as in an image. Sines and cosines are libm's, so that the bits are the same everywhere.
//!
//! Two rectangles are compared by an integral without branches (`shared`), which the compiler vectorises; `convex`, which
//! cuts any polygon along the sides of another one, is the slower way that tests compare with. In a dense table,
//! rectangles are sorted along x and their bounds are compared a vector at a time. The few that may meet are put together
//! in blocks across rows, so a sparse table costs little more than writing its zeros. One thread writes it: two would
//! only wait for each other where the system provides its pages.

pub(crate) mod shared;

use std::ops::Range;

use crate::memory::{Vec, vec};
use crate::order::{by_key, rising};
use crate::overlap::areas::AreaMeasure;
use crate::regions::convex::clip::Point;
use crate::simd::{self, InstructionSet, Kernel, Level};
use crate::threads::fill;
use shared::{AREA, BLOCK, Columns, Row, may_meet, shared};

/// What the fifth number of a rectangle, its angle, means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Degrees rather than radians.
    pub degrees: bool,
    /// A positive angle turns the rectangle clockwise as seen on the screen, from the x axis to the y axis.
    pub clockwise: bool,
}

impl Turn {
    /// Cosine and sine of an angle, clockwise; for degrees exact where it is a multiple of a quarter turn.
    pub fn direction(self, angle: f64) -> Point {
        let (cos, sin) = if self.degrees { of_degrees(angle) } else { (libm::cos(angle), libm::sin(angle)) };
        [cos, if self.clockwise { sin } else { -sin }]
    }
}

fn of_degrees(angle: f64) -> (f64, f64) {
    let angle = angle % 360.0; // exact
    let quarters = (angle / 90.0).round();
    let rest = angle - quarters * 90.0; // exact, within 45
    let (cos, sin) = if rest.abs() == 45.0 {
        (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2.copysign(rest))
    } else {
        let radians = rest.to_radians();
        (libm::cos(radians), libm::sin(radians))
    };
    match (quarters as i32).rem_euclid(4) {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

/// A rectangle by its centre, half its sides, and the direction of its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// The centre.
    pub centre: Point,
    /// Half the width and half the height.
    pub half: Point,
    /// Cosine and sine of the angle, clockwise.
    pub direction: Point,
}

impl Rectangle {
    /// From cx, cy, width, height and an angle.
    pub fn new(&[x, y, width, height, angle]: &[f64; 5], turn: Turn) -> Self {
        Self { centre: [x, y], half: [width / 2.0, height / 2.0], direction: turn.direction(angle) }
    }

    /// The corners, clockwise on the screen; at angle 0 the left top one first.
    pub fn corners(&self) -> [Point; 4] {
        let Self { centre: [x, y], half: [w, h], direction: [cos, sin] } = *self;
        [[-w, -h], [w, -h], [w, h], [-w, h]].map(|[u, v]| [x + (u * cos - v * sin), y + (u * sin + v * cos)])
    }

    /// The upright box around it: x1, y1, x2, y2.
    pub fn bounds(&self) -> [f64; 4] {
        let Self { centre: [x, y], half: [w, h], direction: [cos, sin] } = *self;
        let (reach_x, reach_y) = (w * cos.abs() + h * sin.abs(), w * sin.abs() + h * cos.abs());
        [x - reach_x, y - reach_y, x + reach_x, y + reach_y]
    }
}

/// Rectangles, ready to be compared.
pub struct Rectangles {
    rows: Vec<Row>,
}

impl Rectangles {
    /// From rows of cx, cy, width, height and an angle.
    pub fn new(boxes: &[[f64; 5]], turn: Turn) -> Self {
        let rows: Vec<Row> = boxes
            .iter()
            .map(|row| {
                let Rectangle { centre: [x, y], half: [w, h], direction: [cos, sin] } = Rectangle::new(row, turn);
                let (reach_x, reach_y) = (w * cos.abs() + h * sin.abs(), w * sin.abs() + h * cos.abs());
                [x, y, w, h, cos, sin, row[2] * row[3], reach_x, reach_y]
            })
            .collect();
        Self { rows }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Pairs a thread takes at a time; two such parts are worth a second thread.
const PART: usize = 1 << 13;

/// In a table, so many pairs that may meet along x are worth a second thread. Fewer take less time than the pages of the
/// table, which two threads touch no faster than one.
const WORTH_THREADS: usize = if cfg!(test) { 1 << 13 } else { 1 << 17 };

/// Rectangles by where they begin along x: those that may meet another lie together.
struct Sweep {
    /// In this order.
    rows: Vec<Row>,
    /// Their positions in the set.
    numbers: Vec<u32>,
    /// Where each begins; empty where there is no order.
    begins: Vec<f64>,
    /// The longest reach from where one begins to where it ends.
    longest: f64,
    /// Where each is and how far it reaches, as columns of their own: all that most pairs are asked for.
    places: [Vec<f64>; 4],
}

impl Sweep {
    /// For so many queries: a few are not worth a sort.
    fn new(set: &Rectangles, queries: usize) -> Self {
        let begin = |row: &Row| row[0] - row[7];
        let mut numbers: Vec<u32> = (0..set.rows.len() as u32).collect();
        let mut begins = Vec::new();
        if queries >= 16 {
            numbers = by_key(set.rows.iter().map(|row| rising(begin(row))));
            begins = numbers.iter().map(|&number| begin(&set.rows[number as usize])).collect();
        }
        let rows: Vec<Row> = numbers.iter().map(|&number| set.rows[number as usize]).collect();
        let longest = rows.iter().fold(0.0, |longest: f64, row| longest.max(2.0 * row[7]));
        // Filled up by a block that is near nothing: a block is read wherever it begins.
        let filled = |column: usize| rows.iter().map(|row| row[column]).chain([f64::NAN; BLOCK]).collect();
        let places = [0, 1, 7, 8].map(filled);
        Self { rows, numbers, begins, longest, places }
    }

    /// The positions in this order beyond which none may meet this one.
    fn window(&self, one: &Row) -> Range<usize> {
        if self.begins.is_empty() {
            return 0..self.rows.len();
        }
        // More than what rounding may add or take; `may_meet` is exact about the rest.
        let margin = 16.0 * f64::EPSILON * (one[0].abs() + one[7] + self.longest);
        let low = one[0] - one[7] - self.longest - margin;
        let high = one[0] + one[7] + margin;
        self.begins.partition_point(|&begin| begin < low)..self.begins.partition_point(|&begin| begin <= high)
    }

    /// Which of the rectangles from `start` on may meet this one: 1, else 0.
    #[inline(always)]
    fn near(&self, one: &Row, start: usize) -> [u8; BLOCK] {
        let [x, y, reach_x, reach_y]: [&[f64; BLOCK]; 4] = [
            block(&self.places[0], start),
            block(&self.places[1], start),
            block(&self.places[2], start),
            block(&self.places[3], start),
        ];
        let mut near = [0; BLOCK];
        for k in 0..BLOCK {
            near[k] = u8::from(may_meet(one[0], one[1], one[7], one[8], [x[k], y[k], reach_x[k], reach_y[k]]));
        }
        near
    }
}

/// Every rectangle of one set against every rectangle of the other: row by row.
pub fn pairwise(measure: AreaMeasure, first: &Rectangles, second: &Rectangles, threads: usize) -> Vec<f64> {
    let width = second.len();
    let sweep = Sweep::new(second, first.len());
    let windows: Vec<_> = first.rows.iter().map(|row| sweep.window(row)).collect();
    let threads = if windows.iter().map(Range::len).sum::<usize>() < WORTH_THREADS { 1 } else { threads };
    let part = (PART / width.max(1)).max(1) * width;
    in_parts(first.len() * width, part, threads, &|start, out| {
        let rows = start / width..(start + out.len()) / width;
        let (rows, windows) = (&first.rows[rows.clone()], &windows[rows]);
        simd::run(Level::best(), PairwisePart { measure, rows, windows, second: &sweep, out });
    })
}

/// The pairs of two sequences of one length.
///
/// # Panics
///
/// If their lengths differ.
pub fn elementwise(measure: AreaMeasure, first: &Rectangles, second: &Rectangles, threads: usize) -> Vec<f64> {
    assert_eq!(first.len(), second.len(), "one of each per pair");
    in_parts(first.len(), PART, threads, &|start, out| {
        let end = start + out.len();
        let pairs = first.rows[start..end].iter().zip(&second.rows[start..end]);
        simd::run(Level::best(), Pairs { measure, pairs, out });
    })
}

/// The pairs with these positions.
///
/// # Panics
///
/// If there are not as many of either, or one is outside its set.
pub fn pairs(
    measure: AreaMeasure,
    first: &Rectangles,
    second: &Rectangles,
    rows: &[i64],
    columns: &[i64],
    threads: usize,
) -> Vec<f64> {
    assert_eq!(rows.len(), columns.len(), "a row and a column per pair");
    in_parts(rows.len(), PART, threads, &|start, out| {
        let end = start + out.len();
        let (rows, columns) = (rows[start..end].iter(), columns[start..end].iter());
        let pairs = rows.zip(columns).map(|(&row, &column)| (&first.rows[row as usize], &second.rows[column as usize]));
        simd::run(Level::best(), Pairs { measure, pairs, out });
    })
}

fn in_parts(count: usize, part: usize, threads: usize, work: &(dyn Fn(usize, &mut [f64]) + Sync)) -> Vec<f64> {
    let mut values = vec![0.0; count];
    if count > 0 {
        fill(&mut values, part, if count < 2 * PART { 1 } else { threads }, work);
    }
    values
}

/// Some rows of a pairwise result.
struct PairwisePart<'a> {
    measure: AreaMeasure,
    rows: &'a [Row],
    /// The positions in `second` that may meet each of them.
    windows: &'a [Range<usize>],
    second: &'a Sweep,
    out: &'a mut [f64],
}

impl Kernel for PairwisePart<'_> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let Self { measure, rows, windows, second, out } = self;
        let width = second.rows.len();
        let nothing = measure.of(0.0, 1.0, 1.0);
        if nothing != 0.0 {
            out.fill(nothing); // else it is fresh memory, which is 0
        }
        let (mut a, mut b, mut values) = (Columns::new(), Columns::new(), [0.0; BLOCK]);
        let (mut waiting, mut places) = (0, [0; BLOCK]);
        for (number, (one, window)) in rows.iter().zip(windows).enumerate() {
            // Where rows have few pairs, several of them share a block: the pairs from `own` on are of this one.
            let (mut own, mut filled) = (waiting, false);
            for start in window.clone().step_by(BLOCK) {
                let near = second.near(one, start);
                for (group, near) in near.as_chunks::<8>().0.iter().enumerate() {
                    if u64::from_ne_bytes(*near) == 0 {
                        continue;
                    }
                    for (k, _) in near.iter().enumerate().filter(|&(_, &near)| near != 0) {
                        let position = start + group * 8 + k;
                        if position >= window.end {
                            break;
                        }
                        b.set(waiting, &second.rows[position]);
                        places[waiting] = number * width + second.numbers[position] as usize;
                        waiting += 1;
                        if waiting == BLOCK {
                            if own > 0 {
                                for place in own..BLOCK {
                                    a.set(place, one);
                                }
                            } else if !filled {
                                a.fill(one);
                                filled = true;
                            }
                            measure_block(measure, &a, &b, &mut values);
                            scatter(&places, &values, out);
                            (waiting, own) = (0, 0);
                        }
                    }
                }
            }
            if !filled {
                for place in own..waiting {
                    a.set(place, one);
                }
            }
        }
        if waiting > 0 {
            measure_block(measure, &a, &b, &mut values);
            scatter(&places[..waiting], &values, out);
        }
    }
}

/// Pairs in whatever order.
struct Pairs<'a, P> {
    measure: AreaMeasure,
    pairs: P,
    out: &'a mut [f64],
}

impl<'r, P: Iterator<Item = (&'r Row, &'r Row)>> Kernel for Pairs<'_, P> {
    #[inline(always)]
    fn run<I: InstructionSet>(mut self) {
        let (mut a, mut b, mut values) = (Columns::new(), Columns::new(), [0.0; BLOCK]);
        for out in self.out.chunks_mut(BLOCK) {
            for (place, (one, other)) in self.pairs.by_ref().take(out.len()).enumerate() {
                a.set(place, one);
                b.set(place, other);
            }
            measure_block(self.measure, &a, &b, &mut values);
            out.copy_from_slice(&values[..out.len()]);
        }
    }
}

#[inline(always)]
fn block(column: &[f64], start: usize) -> &[f64; BLOCK] {
    column[start..].first_chunk().expect("filled up")
}

#[inline(always)]
fn scatter(places: &[usize], values: &[f64; BLOCK], out: &mut [f64]) {
    for (&place, &value) in places.iter().zip(values) {
        out[place] = value;
    }
}

#[inline(always)]
fn measure_block(measure: AreaMeasure, a: &Columns, b: &Columns, values: &mut [f64; BLOCK]) {
    // With an iterator over `values` the compiler may miss the vectors, as in the dense kernel of upright boxes.
    #[expect(clippy::needless_range_loop)]
    for k in 0..BLOCK {
        values[k] = shared(&a.at(k), &b.at(k));
    }
    let (first, second) = (&a.columns[AREA], &b.columns[AREA]);
    // One loop per measure: the choice is made before it, and the division in vectors.
    macro_rules! finish {
        ($measure:expr) => {
            for k in 0..BLOCK {
                values[k] = $measure.of(values[k], first[k], second[k]);
            }
        };
    }
    match measure {
        AreaMeasure::Intersection => {}
        AreaMeasure::Iou => finish!(AreaMeasure::Iou),
        AreaMeasure::IoaFirst => finish!(AreaMeasure::IoaFirst),
        AreaMeasure::IoaSecond => finish!(AreaMeasure::IoaSecond),
        AreaMeasure::Iom => finish!(AreaMeasure::Iom),
        AreaMeasure::JaccardDistance => finish!(AreaMeasure::JaccardDistance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    const DEGREES: Turn = Turn { degrees: true, clockwise: true };

    #[test]
    fn quarter_turns_in_degrees_are_exact() {
        for turns in -9_i32..=9 {
            let [cos, sin] = DEGREES.direction(90.0 * f64::from(turns));
            let wanted = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][turns.rem_euclid(4) as usize];
            assert_eq!([cos, sin], wanted);
        }
        let [cos, sin] = DEGREES.direction(-315.0);
        assert_eq!(cos.to_bits(), sin.to_bits());
    }

    #[test]
    fn directions_are_those_of_radians() {
        let radians = Turn { degrees: false, clockwise: true };
        for angle in [-700.3, -200.0, -91.0, -1e-9, 0.0, 1e-300, 30.0, 44.9, 135.5, 359.9, 1e6] {
            let (a, b) = (DEGREES.direction(angle), radians.direction((angle % 360.0).to_radians()));
            assert!((a[0] - b[0]).abs() < 1e-14 && (a[1] - b[1]).abs() < 1e-14, "{angle}");
        }
    }

    #[test]
    fn the_sense_says_which_way_the_screen_sees_it_turn() {
        let row = [0.0, 0.0, 4.0, 2.0, 90.0];
        let right_top = |clockwise| Rectangle::new(&row, Turn { degrees: true, clockwise }).corners()[1];
        assert_eq!(right_top(true), [1.0, 2.0]); // from the right top to the right bottom
        assert_eq!(right_top(false), [-1.0, -2.0]);
        assert_eq!(Rectangle::new(&row, DEGREES).bounds(), [-1.0, -2.0, 1.0, 2.0]);
    }

    fn some(count: usize) -> Vec<[f64; 5]> {
        (0..count)
            .map(|k| {
                let k = k as f64;
                [(k * 0.7) % 13.0, (k * 1.3) % 11.0, 0.5 + k % 7.0, 0.5 + k % 5.0, (k * 37.5) % 360.0]
            })
            .collect()
    }

    #[test]
    fn areas_one_can_check_in_the_head() {
        let boxes =
            [[1.0, 1.0, 2.0, 2.0, 0.0], [1.0, 1.0, 2.0_f64.sqrt(), 2.0_f64.sqrt(), 45.0], [3.0, 1.0, 2.0, 2.0, 90.0]];
        let set = Rectangles::new(&boxes, DEGREES);
        let table = pairwise(AreaMeasure::Intersection, &set, &set, 1);
        let wanted = [4.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 4.0];
        assert!(table.iter().zip(wanted).all(|(value, right)| (value - right).abs() < 1e-15), "{table:?}");
        assert_eq!((table[0], table[2], table[8]), (4.0, 0.0, 4.0));
        assert_eq!(pairwise(AreaMeasure::JaccardDistance, &set, &set, 1)[2], 1.0);
    }

    #[test]
    fn neither_threads_nor_the_instruction_set_nor_the_order_change_a_bit() {
        let (first, second) = (Rectangles::new(&some(150), DEGREES), Rectangles::new(&some(170), DEGREES));
        let table = pairwise(AreaMeasure::Iou, &first, &second, 1);
        assert_eq!(table, pairwise(AreaMeasure::Iou, &first, &second, 3));
        assert!(table.iter().filter(|&&value| value > 0.0).count() > 5000);
        let turned = pairwise(AreaMeasure::Iou, &second, &first, 1);
        assert!((0..150).all(|i| (0..170).all(|j| table[170 * i + j] == turned[150 * j + i])));
        for level in Level::available() {
            let mut out = vec![0.0; table.len()];
            let sweep = Sweep::new(&second, 1);
            let windows: Vec<_> = first.rows.iter().map(|row| sweep.window(row)).collect();
            let (rows, windows) = (&first.rows[..], &windows[..]);
            simd::run(level, PairwisePart { measure: AreaMeasure::Iou, rows, windows, second: &sweep, out: &mut out });
            assert_eq!(out, table, "{}", level.name());
        }
    }

    #[test]
    fn it_is_the_area_that_clipping_finds() {
        let rows = some(60);
        let set = Rectangles::new(&rows, DEGREES);
        let corners: Vec<_> = rows.iter().flat_map(|row| Rectangle::new(row, DEGREES).corners()).collect();
        let offsets: Vec<_> = (0..=60).map(|k| 4 * k).collect();
        let polygons = crate::regions::convex::Polygons::new(&corners, &offsets).unwrap();
        let (a, b) = (
            pairwise(AreaMeasure::Iou, &set, &set, 1),
            crate::regions::convex::pairwise(AreaMeasure::Iou, &polygons, &polygons, 1),
        );
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-13));
    }

    #[test]
    fn pairs_in_any_order_have_the_values_of_the_table() {
        let (first, second) = (Rectangles::new(&some(90), DEGREES), Rectangles::new(&some(90), DEGREES));
        let table = pairwise(AreaMeasure::Iom, &first, &second, 1);
        let rows: Vec<i64> = (0..90).map(|k| (k * 7) % 90).collect();
        let columns: Vec<i64> = (0..90).map(|k| (k * k) % 90).collect();
        let values = pairs(AreaMeasure::Iom, &first, &second, &rows, &columns, 1);
        assert!((0..90).all(|k| values[k] == table[(rows[k] * 90 + columns[k]) as usize]));
        let diagonal = elementwise(AreaMeasure::Iom, &first, &second, 1);
        assert!((0..90).all(|k| diagonal[k] == table[k * 91]));
        assert!(pairwise(AreaMeasure::Iou, &first, &Rectangles::new(&[], DEGREES), 1).is_empty());
    }
}
