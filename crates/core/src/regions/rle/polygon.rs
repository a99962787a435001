//! Polygons and boxes as masks, pixel for pixel as COCO's tools draw them.
//!
//! COCO walks along the edges on a grid of five points a pixel, takes down the row wherever the walk crosses the middle
//! of a column, and fills each column between these rows. Where the walk crosses is computed here without the steps in
//! between, by the same expressions: a coordinate on the fine grid is `(5 * c + 0.5)` cut off towards zero, which is
//! not the nearest below zero, and a point of an edge is cut off likewise.

use std::ops::RangeInclusive;

use super::{MaskList, Problem, Size, merge};
use crate::memory::Vec;
use crate::threads::map;

/// Points of the fine grid in a pixel.
const SCALE: f64 = 5.0;
/// The point of a column's five where its row is taken: crossings go from here to the next.
const MIDDLE: i32 = 2;
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
        let mut runs = Vec::new();
        mask(rings, size, &mut Pen::default(), &mut runs).map_err(|(part, problem)| (index, part, problem))?;
        Ok((size, runs))
    };
    let threads = if polygons.numbers.len() < NUMBERS_FOR_THREADS { 1 } else { threads };
    let made = map(0..sizes.len(), threads, one);
    let mut list = MaskList::default();
    // The first error, whichever thread finds another sooner.
    list.extend(made.into_iter().collect::<Result<_, _>>()?);
    Ok(list)
}

/// Appends the runs of the union of some polygons, each `x, y, x, y, ...`. The error names the polygon.
pub fn mask<'a>(
    mut rings: impl ExactSizeIterator<Item = &'a [f64]>,
    size: Size,
    pen: &mut Pen,
    runs: &mut Vec<u32>,
) -> Result<(), (usize, Problem)> {
    if rings.len() == 1
        && let Some(numbers) = rings.next()
    {
        return pen.draw(numbers, size, runs).map_err(|problem| (0, problem));
    }
    let mut drawn = MaskList::default();
    for (part, numbers) in rings.enumerate() {
        pen.draw(numbers, size, &mut drawn.runs).map_err(|problem| (part, problem))?;
        drawn.close(size);
    }
    match drawn.view().iter().collect::<Vec<_>>().as_slice() {
        [] => runs.push(size.pixels()),
        parts => merge::merge(parts, size, false, runs),
    }
    Ok(())
}

/// The masks of boxes `[x, y, width, height]`; the error names the box.
pub fn boxes(boxes: &[[f64; 4]], sizes: &[Size]) -> Result<MaskList, (usize, Problem)> {
    let (mut list, mut pen) = (MaskList::default(), Pen::default());
    for (index, (&[x, y, width, height], &size)) in boxes.iter().zip(sizes).enumerate() {
        let (right, bottom) = (x + width, y + height);
        let ring = [x, y, x, bottom, right, bottom, right, y];
        pen.draw(&ring, size, &mut list.runs).map_err(|problem| (index, problem))?;
        list.close(size);
    }
    Ok(list)
}

/// Draws polygons one after the other, in memory that it keeps.
#[derive(Default)]
pub struct Pen {
    /// The edges of the polygon that cross the middle of a column of the image.
    edges: Vec<Edge>,
    /// For each column from the first that is crossed, where the next of its turns goes.
    places: Vec<u32>,
    /// Where foreground begins or ends, column by column.
    turns: Vec<u32>,
}

impl Pen {
    /// Appends the runs of one polygon, `x, y, x, y, ...`; a last number without its partner is left out.
    pub fn draw(&mut self, numbers: &[f64], size: Size, runs: &mut Vec<u32>) -> Result<(), Problem> {
        if let Some(position) = numbers.iter().position(|value| value.is_nan() || value.abs() > LARGEST) {
            return Err(Problem::Coordinate { position, value: numbers[position] });
        }
        let pixels = size.pixels();
        self.edges.clear();
        if pixels > 0 {
            self.take_edges(numbers.as_chunks().0, size);
        }
        self.take_turns(size);
        runs.reserve(self.turns.len() + 1);
        let (first, mut at) = (runs.len(), 0);
        let mut turn_to = |turn: u32| {
            // Two turns at one place are none; what ends with the last pixel needs no turn.
            if turn == at && runs.len() > first {
                at -= runs.pop().expect("a run is there");
            } else if turn < pixels {
                runs.push(turn - at);
                at = turn;
            }
        };
        let mut start = 0;
        for &end in &self.places {
            let of_column = &mut self.turns[start as usize..end as usize];
            start = end;
            if let &mut [one, other] = of_column {
                turn_to(one.min(other));
                turn_to(one.max(other));
            } else {
                of_column.sort_unstable();
                of_column.iter().copied().for_each(&mut turn_to);
            }
        }
        runs.push(pixels - at);
        Ok(())
    }

    /// Takes the edges of a polygon that cross columns of the image.
    fn take_edges(&mut self, points: &[[f64; 2]], size: Size) {
        let Some(last) = points.last() else { return };
        let fine = |[x, y]: [f64; 2]| [(SCALE * x + 0.5) as i32, (SCALE * y + 0.5) as i32];
        let mut from = fine(*last);
        for &point in points {
            let to = fine(point);
            if let Some(edge) = Edge::new(from, to, size) {
                self.edges.push(edge);
            }
            from = to;
        }
    }

    /// Finds the turns of all edges. Each edge has one in each of its columns, so their places need no sort.
    fn take_turns(&mut self, size: Size) {
        let left = self.edges.iter().map(|edge| edge.first).min().unwrap_or(0);
        let columns = self.edges.iter().map(|edge| edge.behind).max().unwrap_or(0) - left;
        // How many edges more than the column before cross each, then where the turns of each begin.
        self.places.clear();
        self.places.resize(columns as usize + 1, 0);
        for edge in &self.edges {
            let (first, behind) = ((edge.first - left) as usize, (edge.behind - left) as usize);
            self.places[first] = self.places[first].wrapping_add(1);
            self.places[behind] = self.places[behind].wrapping_sub(1);
        }
        let (mut crossing, mut count) = (0u32, 0);
        for place in &mut self.places {
            crossing = crossing.wrapping_add(*place);
            *place = count;
            count += crossing;
        }
        self.places.truncate(columns as usize);
        self.turns.clear();
        self.turns.resize(count as usize, 0);
        let Self { edges, places, turns } = self;
        for edge in edges {
            let places = &mut places[(edge.first - left) as usize..(edge.behind - left) as usize];
            edge.turns(size.height, places.iter_mut(), turns);
        }
    }
}

/// An edge on the fine grid, and the columns whose middle it crosses within the image.
struct Edge {
    /// The end with the lesser coordinate along the longer side.
    from: [i32; 2],
    to: [i32; 2],
    /// The first column.
    first: u32,
    /// The column behind the last.
    behind: u32,
}

impl Edge {
    #[inline(always)]
    fn new(from: [i32; 2], to: [i32; 2], size: Size) -> Option<Self> {
        // From 5 * column + 2 to the next.
        let first = (from[0].min(to[0]) - MIDDLE + 4).max(0) as u32 / 5;
        let behind = ((from[0].max(to[0]) - MIDDLE + 4).max(0) as u32 / 5).min(size.width);
        if first >= behind {
            return None;
        }
        let along = usize::from((to[0] - from[0]).abs() < (to[1] - from[1]).abs());
        let (from, to) = if from[along] > to[along] { (to, from) } else { (from, to) };
        Some(Self { from, to, first, behind })
    }

    /// Puts its turn in each of its columns at the place of the column, and moves the place on.
    #[inline(always)]
    fn turns<'a>(&self, height: u32, places: impl Iterator<Item = &'a mut u32>, turns: &mut [u32]) {
        let ([x0, y0], [x1, y1]) = (self.from, self.to);
        let (wide, high) = (x1 - x0, y1 - y0);
        let mut top = self.first * height;
        let mut turn = |place: &mut u32, y: i32| {
            // COCO's `(y + 0.5) / 5 - 0.5` up to the next whole number: fifths, which rounding moves past none.
            turns[*place as usize] = top + ((y + 2).max(0) as u32 / 5).min(height);
            *place += 1;
            top = top.wrapping_add(height);
        };
        let middle = 5 * self.first as i32 + MIDDLE;
        if wide >= high.abs() {
            // The upper one of the points at both steps of a crossing: the second all along an edge that rises.
            let slope = f64::from(high) / f64::from(wide);
            let mut x = middle + i32::from(high < 0) - x0;
            for place in places {
                turn(place, (f64::from(y0) + slope * f64::from(x) + 0.5) as i32);
                x += 5;
            }
        } else {
            let (slope, steps) = (f64::from(wide) / f64::from(high), f64::from(high) / f64::from(wide));
            let x = |y: i32| f64::from(x0) + slope * f64::from(y - y0) + 0.5;
            let mut middle = f64::from(middle);
            for place in places {
                let behind = |y: i32| (x(y) >= middle + 1.0) == (wide > 0);
                // The first step behind the crossing: computed, and looked for where rounding moves it.
                let way = (middle + 0.5 - f64::from(x0)) * steps;
                let passed = way as i32;
                let mut y = (y0 + passed + i32::from(wide < 0 || f64::from(passed) < way)).clamp(y0 + 1, y1);
                if (y > y0 + 1 && behind(y - 1)) || (y < y1 && !behind(y)) {
                    y = first_behind(y, y0 + 1..=y1, behind);
                }
                turn(place, y - 1);
                middle += 5.0;
            }
        }
    }
}

/// The first step that is behind a crossing, near another one; the last if none is.
#[cold]
#[inline(never)]
fn first_behind(near: i32, steps: RangeInclusive<i32>, behind: impl Fn(i32) -> bool) -> i32 {
    let mut step = near;
    while step > *steps.start() && behind(step - 1) {
        step -= 1;
    }
    while step < *steps.end() && !behind(step) {
        step += 1;
    }
    step
}
