//! The area of the intersection of two convex polygons: one is cut along every edge of the other.
//!
//! Sutherland and Hodgman, Reentrant polygon clipping, CACM 1974. Without any tolerance: a corner that rounding puts on
//! the wrong side of an edge is within a rounding of that edge, so the area is off by a rounding times the length of the
//! edge, whatever the angle between the edges. A cut lies between two corners by construction.

use crate::memory::Vec;

/// A point, x and y.
pub type Point = [f64; 2];

/// Room for the corners of a polygon while it is cut; one per thread, used again and again.
#[derive(Default)]
pub struct Scratch {
    corners: Vec<Point>,
    cut: Vec<Point>,
    edges: Vec<Point>,
}

/// The area of the region within both polygons, which are convex and have one orientation: counterclockwise where y
/// points up.
///
/// `origin` is a point near both, from which coordinates are taken. A polygon may repeat corners, and have corners on
/// its sides; one of less than three corners has no area.
///
/// The order of the two polygons may change the last bits: let the caller have an order.
pub fn intersection_area(first: &[Point], second: &[Point], origin: Point, scratch: &mut Scratch) -> f64 {
    winding_area(first, second, origin, scratch).max(0.0)
}

/// The area of a convex polygon, counterclockwise where y points up, each point times how often a path goes around it.
///
/// The path may be any; what it goes around clockwise counts below 0.
pub fn winding_area(path: &[Point], convex: &[Point], origin: Point, scratch: &mut Scratch) -> f64 {
    let near = |corner: &Point| [corner[0] - origin[0], corner[1] - origin[1]];
    let Scratch { corners, cut, edges } = scratch;
    corners.clear();
    corners.extend(path.iter().map(near));
    edges.clear();
    edges.extend(convex.iter().map(near));
    let Some(&last) = edges.last() else {
        return 0.0;
    };
    let mut from = last;
    for &to in &*edges {
        cut_along(from, to, corners, cut);
        std::mem::swap(corners, cut);
        if corners.len() < 3 {
            return 0.0;
        }
        from = to;
    }
    signed_area(corners)
}

/// The area of a polygon, positive if its corners run counterclockwise where y points up.
pub fn signed_area(corners: &[Point]) -> f64 {
    let Some((&first, rest)) = corners.split_first() else {
        return 0.0;
    };
    // Triangles around the first corner: small coordinates, small products.
    let doubled: f64 = rest
        .windows(2)
        .map(|pair| {
            let [ax, ay] = [pair[0][0] - first[0], pair[0][1] - first[1]];
            let [bx, by] = [pair[1][0] - first[0], pair[1][1] - first[1]];
            ax * by - ay * bx
        })
        .sum();
    doubled / 2.0
}

/// What lies to the left of the line, or on it.
fn cut_along(from: Point, to: Point, corners: &[Point], cut: &mut Vec<Point>) {
    cut.clear();
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let side = |corner: Point| dx * (corner[1] - from[1]) - dy * (corner[0] - from[0]);
    let Some(&last) = corners.last() else {
        return;
    };
    let (mut before, mut side_before) = (last, side(last));
    for &corner in corners {
        let here = side(corner);
        if (here < 0.0) != (side_before < 0.0) && here != 0.0 && side_before != 0.0 {
            // From the inside outward in both directions, so that neighbours cut one edge at one point.
            let (inside, outside, near, far) =
                if here < 0.0 { (before, corner, side_before, here) } else { (corner, before, here, side_before) };
            let part = near / (near - far);
            cut.push([inside[0] + part * (outside[0] - inside[0]), inside[1] + part * (outside[1] - inside[1])]);
        }
        if here >= 0.0 {
            cut.push(corner);
        }
        (before, side_before) = (corner, here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(first: &[Point], second: &[Point]) -> f64 {
        intersection_area(first, second, [0.0, 0.0], &mut Scratch::default())
    }

    const SQUARE: [Point; 4] = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];

    #[test]
    fn areas_one_can_check_in_the_head() {
        let diamond = [[1.0, 0.0], [2.0, 1.0], [1.0, 2.0], [0.0, 1.0]];
        let triangle = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
        let moved = SQUARE.map(|[x, y]| [x + 1.0, y + 1.0]);
        assert_eq!(shared(&SQUARE, &SQUARE), 4.0);
        assert_eq!(shared(&SQUARE, &diamond), 2.0);
        assert_eq!(shared(&diamond, &SQUARE), 2.0);
        assert_eq!(shared(&SQUARE, &moved), 1.0);
        assert_eq!(shared(&triangle, &SQUARE), 4.0);
        assert_eq!(shared(&triangle, &moved), 2.0);
        assert_eq!(signed_area(&triangle), 8.0);
    }

    #[test]
    fn touching_or_apart_is_nothing() {
        for (dx, dy) in [(2.0, 0.0), (0.0, -2.0), (2.0, 2.0), (2.0, 1.0), (5.0, 0.0)] {
            assert_eq!(shared(&SQUARE, &SQUARE.map(|[x, y]| [x + dx, y + dy])), 0.0);
        }
    }

    #[test]
    fn nothing_comes_of_no_polygon() {
        for few in [&SQUARE[..0], &SQUARE[..1], &SQUARE[..2]] {
            assert_eq!(shared(few, &SQUARE), 0.0);
            assert_eq!(shared(&SQUARE, few).min(0.0), 0.0);
        }
    }

    #[test]
    fn repeated_corners_and_corners_on_sides_change_nothing() {
        let more = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [0.0, 2.0]];
        let moved = SQUARE.map(|[x, y]| [x + 1.0, y + 1.0]);
        assert_eq!(shared(&more, &moved), 1.0);
        assert_eq!(shared(&moved, &more), 1.0);
    }

    #[test]
    fn a_far_origin_and_any_scale_keep_the_digits() {
        for scale in [2.0_f64.powi(-100), 1.0, 2.0_f64.powi(100)] {
            let small = SQUARE.map(|[x, y]| [x * scale, y * scale]);
            let moved = small.map(|[x, y]| [x + scale, y + scale]);
            assert_eq!(shared(&small, &moved), scale * scale);
        }
        let far = 2.0_f64.powi(40);
        let (a, b) = (SQUARE.map(|[x, y]| [x + far, y - far]), SQUARE.map(|[x, y]| [x + far + 0.5, y - far]));
        assert_eq!(intersection_area(&a, &b, [far, -far], &mut Scratch::default()), 3.0);
    }
}
