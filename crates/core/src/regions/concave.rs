//! How much do simple polygons overlap that need not be convex?
//!
//! If one of two is convex, the other is cut along its edges: what is left of a concave polygon then is one path whose
//! parts hang together along the cuts, and whose area is right. Of two others, one is taken as a fan of triangles around
//! its first corner, each with the sign of its turn: together they count every point inside once and every other not at
//! all (as in the shoelace formula), so the area shared is the sum of what the triangles share, with their signs.

use crate::ending::ask_after;
use crate::memory::{Vec, vec};
use crate::overlap::areas::AreaMeasure;
use crate::regions::convex::Polygons;
use crate::regions::convex::clip::{Point, Scratch, intersection_area, signed_area, winding_area};
use crate::threads::each_with;

/// Simple polygons, of which it is known which are convex.
pub struct SimplePolygons<'a> {
    /// The polygons.
    pub polygons: Polygons,
    /// Whether each is convex.
    pub convex: &'a [bool],
}

impl SimplePolygons<'_> {
    /// How many.
    pub fn len(&self) -> usize {
        self.polygons.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.polygons.is_empty()
    }
}

/// Pairs a thread takes at a time. Fewer are not worth a second thread.
const PART: usize = 1 << 6;

/// The measure of the pairs with these positions, which are within the sets.
///
/// # Panics
///
/// If there are not as many of either, one is outside its set, or it is not said of each polygon whether it is convex.
pub fn pairs(
    measure: AreaMeasure,
    first: &SimplePolygons<'_>,
    second: &SimplePolygons<'_>,
    rows: &[i64],
    columns: &[i64],
    threads: usize,
) -> Vec<f64> {
    assert_eq!(rows.len(), columns.len(), "a row and a column per pair");
    let position = |number: i64| usize::try_from(number).expect("positions are not negative");
    let mut values = vec![0.0; rows.len()];
    let fill = |scratch: &mut Scratch, (number, values): (usize, &mut [f64])| {
        for (place, value) in (number * PART..).zip(values) {
            let (row, column) = (position(rows[place]), position(columns[place]));
            let shared = intersection(first, row, second, column, scratch);
            *value = measure.of(shared, first.polygons.area(row), second.polygons.area(column));
        }
    };
    each_with(values.chunks_mut(PART).enumerate(), threads, Scratch::default, fill);
    values
}

/// For each polygon, the sum over all parts of the plane of their area times the square of how often it goes around them.
///
/// That is its area if it goes around everything once or not at all, and more if it crosses itself.
pub fn squared_windings(polygons: &Polygons) -> Vec<f64> {
    let mut scratch = Scratch::default();
    let of_one = |number| {
        let (corners, bounds) = (polygons.corners(number), polygons.bounds(number));
        fan(corners, bounds, corners, [bounds[0], bounds[1]], &mut scratch)
    };
    (0..polygons.len()).map(of_one).collect()
}

/// The area shared by two polygons, the same bits in either order.
fn intersection(
    first: &SimplePolygons<'_>,
    row: usize,
    second: &SimplePolygons<'_>,
    column: usize,
    scratch: &mut Scratch,
) -> f64 {
    let (a, b) = (first.polygons.bounds(row), second.polygons.bounds(column));
    let low = [a[0].max(b[0]), a[1].max(b[1])];
    if !(low[0] < a[2].min(b[2]) && low[1] < a[3].min(b[3])) {
        return 0.0;
    }
    let smaller = first.polygons.area(row).min(second.polygons.area(column));
    let one = (first.convex[row], first.polygons.corners(row), a);
    let other = (second.convex[column], second.polygons.corners(column), b);
    if one.1 == other.1 {
        return smaller;
    }
    // The knife is the convex one; of two alike the one of fewer corners, and then the one that comes first.
    let key = |(convex, corners, _): &(bool, &[Point], [f64; 4])| (!convex, corners.len());
    let first_is_knife = match key(&one).cmp(&key(&other)) {
        std::cmp::Ordering::Equal => one.1 < other.1,
        order => order.is_lt(),
    };
    let (knife, cut) = if first_is_knife { (one, other) } else { (other, one) };
    let shared = if knife.0 {
        intersection_area(cut.1, knife.1, low, scratch)
    } else {
        fan(cut.1, cut.2, knife.1, low, scratch)
    };
    shared.clamp(0.0, smaller)
}

/// The area that a polygon shares with the fan of triangles of another.
fn fan(cut: &[Point], bounds: [f64; 4], knife: &[Point], origin: Point, scratch: &mut Scratch) -> f64 {
    let Some((&hub, rim)) = knife.split_first() else {
        return 0.0;
    };
    let mut shared = 0.0;
    for edge in rim.windows(2) {
        let (from, to) = (edge[0], edge[1]);
        let low = [hub[0].min(from[0]).min(to[0]), hub[1].min(from[1]).min(to[1])];
        let high = [hub[0].max(from[0]).max(to[0]), hub[1].max(from[1]).max(to[1])];
        if low[0] >= bounds[2] || low[1] >= bounds[3] || high[0] <= bounds[0] || high[1] <= bounds[1] {
            continue;
        }
        ask_after(1);
        let turn = signed_area(&[hub, from, to]);
        if turn > 0.0 {
            shared += winding_area(cut, &[hub, from, to], origin, scratch);
        } else if turn < 0.0 {
            shared -= winding_area(cut, &[hub, to, from], origin, scratch);
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square, a dart, a comb with two teeth, and a bow tie with unlike halves.
    fn shapes() -> (Polygons, [bool; 4]) {
        let corners: &[Point] = &[
            [0.0, 0.0],
            [4.0, 0.0],
            [4.0, 4.0],
            [0.0, 4.0],
            [1.0, 2.0],
            [0.0, 4.0],
            [4.0, 2.0],
            [0.0, 0.0],
            [0.0, 0.0],
            [6.0, 0.0],
            [6.0, 4.0],
            [4.0, 4.0],
            [4.0, 1.0],
            [2.0, 1.0],
            [2.0, 4.0],
            [0.0, 4.0],
            [0.0, 0.0],
            [4.0, 4.0],
            [4.0, 2.0],
            [0.0, 4.0],
        ];
        (Polygons::new(corners, &[0, 4, 8, 16, 20]).unwrap(), [true, false, false, false])
    }

    #[test]
    fn areas_one_can_check_in_the_head() {
        let (polygons, convex) = shapes();
        let set = SimplePolygons { polygons, convex: &convex };
        let (rows, columns) = ([0, 0, 1, 0, 2, 2, 1], [0, 1, 1, 2, 0, 2, 2]);
        let shared = pairs(AreaMeasure::Intersection, &set, &set, &rows, &columns, 1);
        // The dart within the comb: all of it less its part in the gap, x from 2 to 4 and y above 1.
        assert_eq!(shared, [16.0, 6.0, 6.0, 10.0, 10.0, 18.0, 4.0]);
    }

    #[test]
    fn crossing_shows() {
        let (polygons, _) = shapes();
        let squared = squared_windings(&polygons);
        assert_eq!(squared[..3], [16.0, 6.0, 18.0]);
        assert!(squared[3] > polygons.area(3) + 1.0);
    }

    #[test]
    fn corners_that_are_nearly_on_a_line_share_nothing() {
        let triangle = [
            [0.257_885_053_033_081_07, 1.430_987_177_363_549],
            [0.247_337_872_617_443_86, 1.355_433_946_843_835],
            [0.110_411_753_878_354_13, 0.374_583_121_733_609_74],
        ];
        let [a, b, c] = triangle;
        assert!(signed_area(&[a, b, c]) < 0.0 && signed_area(&[c, b, a]) < 0.0, "rounding, in either order");
        let dart = [[-1.0, -1.0], [5.0, -1.0], [5.0, 5.0], [3.0, 4.0], [-1.0, 5.0]];
        let polygons = Polygons::new(&[&triangle[..], &dart].concat(), &[0, 3, 8]).unwrap();
        assert!(polygons.area(0) > 0.0);
        let set = SimplePolygons { polygons, convex: &[false, false] };
        assert_eq!(pairs(AreaMeasure::Iou, &set, &set, &[0, 0], &[0, 1], 1), [1.0, 0.0]);
    }

    #[test]
    fn order_and_threads_change_nothing() {
        let (polygons, convex) = shapes();
        let set = SimplePolygons { polygons, convex: &convex };
        let rows: Vec<i64> = (0..900).map(|k| k % 3).collect();
        let columns: Vec<i64> = (0..900).map(|k| k / 3 % 3).collect();
        let one = pairs(AreaMeasure::Iou, &set, &set, &rows, &columns, 1);
        assert_eq!(one, pairs(AreaMeasure::Iou, &set, &set, &columns, &rows, 3));
    }
}
