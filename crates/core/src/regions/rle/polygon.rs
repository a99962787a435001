//! Polygons and boxes as masks, pixel for pixel as COCO's tools draw them.
//!
//! COCO walks along the edges on a grid of five points a pixel, takes down the row wherever the walk crosses the middle
//! of a column, and fills each column between these rows. Where the walk crosses is computed here without the steps in
//! between, by the same expressions: a coordinate on the fine grid is `(5 * c + 0.5)` cut off towards zero, which is
//! not the nearest below zero, and a point of an edge is cut off likewise.

use std::ops::RangeInclusive;

use super::{MaskList, Problem, Size, merge};
use crate::memory::{Vec, sort};
use crate::threads::map;

/// Points of the fine grid in a pixel.
const SCALE: f64 = 5.0;
/// The point of a column's five where its row is taken: crossings go from here to the next.
const MIDDLE: i64 = 2;
/// Differences on the fine grid stay within 32 bits, beyond which COCO's tools are undefined.
const LARGEST: f64 = 134_217_728.0;
/// So few numbers are drawn before a second thread has begun.
const NUMBERS_FOR_THREADS: usize = 4096;

/// Polygons of masks: `parts` says where the polygons of each mask begin among `rings`, and `rings` where the numbers
/// of each polygon begin among `numbers`; both end with where the last ends.
#[derive(Clone, Copy, Debug)]
pub struct Polygons<'a> {
    /// x and y in turn, in pixels.
    pub numbers: &'a [f64],
    /// One more than there are polygons.
    pub rings: &'a [usize],
    /// One more than there are masks.
    pub parts: &'a [usize],
}

/// The masks of polygons, each of its size; the polygons of a mask are united. The error names the mask and, within it,
/// the polygon.
pub fn masks(polygons: Polygons<'_>, sizes: &[Size], threads: usize) -> Result<MaskList, (usize, usize, Problem)> {
    let one = |index: usize| {
        let size = sizes[index];
        let rings = polygons.parts[index]..polygons.parts[index + 1];
        let rings = rings.map(|ring| &polygons.numbers[polygons.rings[ring]..polygons.rings[ring + 1]]);
        let runs = mask(rings, size).map_err(|(part, problem)| (index, part, problem))?;
        Ok((size, runs))
    };
    let threads = if polygons.numbers.len() < NUMBERS_FOR_THREADS { 1 } else { threads };
    let made = map(0..sizes.len(), threads, one);
    let mut list = MaskList::default();
    // The first error, whichever thread finds another sooner.
    list.extend(made.into_iter().collect::<Result<_, _>>()?);
    Ok(list)
}

/// The runs of the union of some polygons, each `x, y, x, y, ...`. The error names the polygon.
pub fn mask<'a>(rings: impl Iterator<Item = &'a [f64]>, size: Size) -> Result<Vec<u32>, (usize, Problem)> {
    let mut drawn = MaskList::default();
    for (part, numbers) in rings.enumerate() {
        draw(numbers, size, &mut drawn.runs).map_err(|problem| (part, problem))?;
        drawn.close(size);
    }
    if drawn.sizes.len() == 1 {
        return Ok(drawn.runs);
    }
    let (mut runs, view) = (Vec::new(), drawn.view());
    match view.iter().collect::<Vec<_>>().as_slice() {
        [] => runs.push(size.pixels()),
        parts => merge::merge(parts, size, false, &mut runs),
    }
    Ok(runs)
}

/// The masks of boxes `[x, y, width, height]`; the error names the box.
pub fn boxes(boxes: &[[f64; 4]], sizes: &[Size]) -> Result<MaskList, (usize, Problem)> {
    let mut list = MaskList::default();
    for (index, (&[x, y, width, height], &size)) in boxes.iter().zip(sizes).enumerate() {
        let (right, bottom) = (x + width, y + height);
        let ring = [x, y, x, bottom, right, bottom, right, y];
        draw(&ring, size, &mut list.runs).map_err(|problem| (index, problem))?;
        list.close(size);
    }
    Ok(list)
}

/// Appends the runs of one polygon, `x, y, x, y, ...`; a last number without its partner is left out.
pub fn draw(numbers: &[f64], size: Size, runs: &mut Vec<u32>) -> Result<(), Problem> {
    if let Some(position) = numbers.iter().position(|value| value.is_nan() || value.abs() > LARGEST) {
        return Err(Problem::Coordinate { position, value: numbers[position] });
    }
    let pixels = size.pixels();
    // Where foreground begins or ends, in the order of the runs.
    let mut turns = Vec::new();
    if pixels > 0 {
        let points = numbers.as_chunks::<2>().0;
        let fine = |[x, y]: [f64; 2]| [(SCALE * x + 0.5) as i64, (SCALE * y + 0.5) as i64];
        let ends = points.iter().skip(1).chain(points.first());
        for (&from, &to) in points.iter().zip(ends) {
            edge(fine(from), fine(to), size, &mut turns);
        }
    }
    sort(&mut turns); // the turns of a chain of edges are in order already, or in the reverse, which a stable sort finds
    let (first, mut at) = (runs.len(), 0);
    for &turn in &turns {
        // Two turns at one place are none; what ends with the last pixel needs no turn.
        if turn == at && runs.len() > first {
            at -= runs.pop().expect("a run is there");
        } else if turn < pixels {
            runs.push(turn - at);
            at = turn;
        }
    }
    runs.push(pixels - at);
    Ok(())
}

/// The turns where an edge, on the fine grid, crosses the middle of a column.
fn edge(from: [i64; 2], to: [i64; 2], size: Size, turns: &mut Vec<u32>) {
    let (wide, high) = ((to[0] - from[0]).abs(), (to[1] - from[1]).abs());
    if wide == 0 {
        return;
    }
    let flat = wide >= high;
    // Along the longer side, upwards.
    let ([x0, y0], [x1, y1]) =
        if (flat && from[0] > to[0]) || (!flat && from[1] > to[1]) { (to, from) } else { (from, to) };
    let height = f64::from(size.height);
    let start = turns.len();
    let mut turn = |column: i64, y: i64| {
        let row = ((y as f64 + 0.5) / SCALE - 0.5).max(0.0).min(height);
        // Up to the next whole number, without the call that `ceil` is where there is no instruction for it.
        let below = row as u32;
        turns.push(column as u32 * size.height + below + u32::from(f64::from(below) < row));
    };
    // The columns whose crossing, from 5 * column + 2 to the next, is within the edge and the image.
    let (low, high_end) = (x0.min(x1), x0.max(x1));
    let first = (low - MIDDLE + 4).div_euclid(5).max(0);
    let last = (high_end - MIDDLE - 1).div_euclid(5).min(i64::from(size.width) - 1);
    if flat {
        let slope = (y1 - y0) as f64 / wide as f64;
        let y = |x: i64| (y0 as f64 + slope * (x - x0) as f64 + 0.5) as i64;
        for column in first..=last {
            let x = 5 * column + MIDDLE;
            turn(column, y(x).min(y(x + 1)));
        }
    } else {
        steep((x0, y0), (x1, y1), first..=last, turn);
    }
    if from[0] > to[0] {
        turns[start..].reverse();
    }
}

/// The turns of an edge that is higher than wide, in the order of the columns.
fn steep((x0, y0): (i64, i64), (x1, y1): (i64, i64), columns: RangeInclusive<i64>, mut turn: impl FnMut(i64, i64)) {
    let high = y1 - y0;
    let slope = (x1 - x0) as f64 / high as f64;
    let x = |y: i64| (x0 as f64 + slope * (y - y0) as f64 + 0.5) as i64;
    for column in columns {
        let middle = 5 * column + MIDDLE;
        // The first step behind the crossing, estimated and then found: rounding may move it by one.
        let behind = |y: i64| if x1 > x0 { x(y) > middle } else { x(y) <= middle };
        let estimate = y0 + ((middle as f64 + 0.5 - x0 as f64) / slope) as i64;
        let mut y = estimate.clamp(y0 + 1, y1);
        while y > y0 + 1 && behind(y - 1) {
            y -= 1;
        }
        while y < y1 && !behind(y) {
            y += 1;
        }
        turn(column, y - 1);
    }
}
