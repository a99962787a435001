//! Polygons: their pixels beside a walk in single steps, and shared areas beside a sum over slabs of the plane.
#![no_main]

use arbitrary::{Result, Unstructured};
use ioukit_core::memory;
use ioukit_core::overlap::areas::AreaMeasure;
use ioukit_core::regions::concave::{self, SimplePolygons};
use ioukit_core::regions::convex::{self, Polygons, clip::Point};
use ioukit_core::regions::rle::{Size, polygon};
use ioukit_core::regions::rotated::{self, Rectangle, Rectangles, Turn};
use ioukit_fuzz::coordinate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = Unstructured::new(data);
    // An input that is too short is no case.
    let _ = match data.arbitrary::<u8>().unwrap_or_default() % 4 {
        0 => drawn(&mut data),
        1 => simple(&mut data),
        2 => turned(&mut data),
        _ => any(&mut data),
    };
});

/// The pixels of a polygon.
fn drawn(data: &mut Unstructured<'_>) -> Result<()> {
    let size = Size { height: data.int_in_range(0..=40)?, width: data.int_in_range(0..=40)? };
    let count = data.int_in_range(0..=16)?;
    let numbers: Vec<f64> = (0..count).map(|_| coordinate(data, 400.0)).collect::<Result<_>>()?;
    let mut runs = memory::Vec::new();
    polygon::Pen::default().draw(&numbers, size, &mut runs).expect("small numbers");
    assert_eq!(runs, walked(&numbers, size), "{numbers:?} {size:?}");
    Ok(())
}

/// The rule of COCO's tools, a step at a time: the outline is walked on a grid of five points a pixel, and wherever it
/// gets from one column of pixels into the next, over the middle, the row is noted.
fn walked(numbers: &[f64], size: Size) -> Vec<u32> {
    let (height, width) = (f64::from(size.height), i64::from(size.width));
    let points: Vec<[i64; 2]> =
        numbers.as_chunks::<2>().0.iter().map(|point| point.map(|c| (5.0 * c + 0.5) as i64)).collect();
    let mut path = Vec::new();
    for (place, &from) in points.iter().enumerate() {
        let to = points[(place + 1) % points.len()];
        let axis = usize::from((to[0] - from[0]).abs() < (to[1] - from[1]).abs()); // the longer one
        let (low, high) = if from[axis] > to[axis] { (to, from) } else { (from, to) };
        let steps = high[axis] - low[axis];
        let slope = (high[1 - axis] - low[1 - axis]) as f64 / steps as f64;
        let mut edge: Vec<[i64; 2]> = (0..=steps)
            .map(|step| {
                let other = (low[1 - axis] as f64 + slope * step as f64 + 0.5) as i64;
                if axis == 0 { [low[0] + step, other] } else { [other, low[1] + step] }
            })
            .collect();
        if from[axis] > to[axis] {
            edge.reverse();
        }
        if steps > 0 {
            path.extend(edge);
        }
    }
    let mut turns = Vec::new();
    for pair in path.windows(2) {
        let ([x0, y0], [x1, y1]) = (pair[0], pair[1]);
        let column = x0.min(x1) - 2;
        if x0 == x1 || column.rem_euclid(5) != 0 || !(0..width).contains(&(column / 5)) {
            continue;
        }
        let row = ((y0.min(y1) as f64 + 0.5) / 5.0 - 0.5).clamp(0.0, height).ceil();
        turns.push((column / 5) as u32 * size.height + row as u32);
    }
    turns.sort_unstable();
    let inside = |place: u32| turns.iter().filter(|&&turn| turn <= place).count() as u32 % 2;
    let pixels: Vec<u32> = (0..size.pixels()).map(inside).collect();
    let mut runs = vec![0];
    for &pixel in &pixels {
        if pixel != (runs.len() as u32 - 1) % 2 {
            runs.push(0);
        }
        *runs.last_mut().expect("a run") += 1;
    }
    runs
}

/// Two simple polygons: their areas, and what they share.
fn simple(data: &mut Unstructured<'_>) -> Result<()> {
    let (one, one_is_convex) = outline(data)?;
    let (other, other_is_convex) = outline(data)?;
    let corners = [&one[..], &other[..]].concat();
    let offsets = [0, one.len() as i64, corners.len() as i64];
    let set = Polygons::new(&corners, &offsets).expect("offsets that ascend");
    let scale = corners.iter().flatten().fold(1.0, |most: f64, c| most.max(c.abs()));
    let allowed = 1e-9 * scale * scale;
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() <= allowed, "{found} {expected}\n{one:?}\n{other:?}");
    };
    near(set.area(0), slabs(&one, &one));
    near(set.area(1), slabs(&other, &other));
    let expected = slabs(&one, &other);
    let simple = SimplePolygons { polygons: set, convex: &[one_is_convex, other_is_convex] };
    let set = &simple.polygons;
    let shared = concave::pairs(AreaMeasure::Intersection, &simple, &simple, &[0, 1, 0, 1], &[1, 0, 0, 1], 1);
    near(shared[0], expected);
    assert_eq!(shared[0].to_bits(), shared[1].to_bits(), "either order");
    assert_eq!(shared[2..], [set.area(0), set.area(1)], "all of itself");
    if one_is_convex && other_is_convex {
        let table = convex::pairwise(AreaMeasure::Intersection, set, set, 1);
        near(table[1], expected);
        assert_eq!(table[1].to_bits(), table[2].to_bits(), "either order");
    }
    for (number, squared) in concave::squared_windings(set).into_iter().enumerate() {
        near(squared, set.area(number));
    }
    Ok(())
}

/// A polygon that does not cross itself, and whether it is convex.
fn outline(data: &mut Unstructured<'_>) -> Result<(Vec<Point>, bool)> {
    let (x, y) = (coordinate(data, 1e4)?, coordinate(data, 1e4)?);
    let kind: u8 = data.arbitrary()?;
    let count = data.int_in_range(4..=9)?;
    let mut corners: Vec<Point> = match kind % 3 {
        // Columns of whole heights on one base, side by side.
        0 => {
            let heights: Vec<u8> = (0..count).map(|_| data.int_in_range(1..=6)).collect::<Result<_>>()?;
            let mut corners = vec![[x + heights.len() as f64, y], [x, y]];
            for (place, &height) in heights.iter().enumerate() {
                let top = y + f64::from(height);
                corners.extend([[x + place as f64, top], [x + place as f64 + 1.0, top]]);
            }
            corners
        }
        // Around a centre that sees all corners: less than half a turn from one to the next.
        1 => {
            let mut corners = Vec::new();
            for place in 0..count {
                let turn = (f64::from(place) + f64::from(data.int_in_range(0u8..=9)?) / 10.0) / f64::from(count);
                let radius = f64::from(data.int_in_range(1u8..=20)?);
                let (sin, cos) = (turn * std::f64::consts::TAU).sin_cos();
                corners.push([x + radius * cos, y + radius * sin]);
            }
            corners
        }
        _ => {
            let (width, height) = (f64::from(data.int_in_range(1u8..=9)?), f64::from(data.int_in_range(1u8..=9)?));
            vec![[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
        }
    };
    if data.arbitrary()? {
        corners.reverse();
    }
    Ok((corners, kind % 3 == 2))
}

/// The area that two simple polygons share. Between two neighbouring places along x at which a corner lies or two sides
/// cross, it is the width of the slab times the length that both share in its middle.
fn slabs(one: &[Point], other: &[Point]) -> f64 {
    let mut places: Vec<f64> = one.iter().chain(other).map(|corner| corner[0]).collect();
    for (a, b) in sides(one) {
        for (c, d) in sides(other) {
            let (u, v) = ([b[0] - a[0], b[1] - a[1]], [d[0] - c[0], d[1] - c[1]]);
            let cross = u[0] * v[1] - u[1] * v[0];
            let along = ((c[0] - a[0]) * v[1] - (c[1] - a[1]) * v[0]) / cross;
            if (0.0..=1.0).contains(&along) {
                places.push(a[0] + along * u[0]);
            }
        }
    }
    places.sort_by(f64::total_cmp);
    let mut area = 0.0;
    for pair in places.windows(2) {
        let middle = pair[0] + (pair[1] - pair[0]) / 2.0;
        let mut length = 0.0;
        for [low, high] in inside(one, middle) {
            for [least, most] in inside(other, middle) {
                length += (high.min(most) - low.max(least)).max(0.0);
            }
        }
        area += length * (pair[1] - pair[0]);
    }
    area
}

fn sides(corners: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// The parts of a line of this x within a polygon.
fn inside(corners: &[Point], x: f64) -> Vec<[f64; 2]> {
    let mut crossings: Vec<f64> = sides(corners)
        .filter(|(from, to)| (from[0] < x) != (to[0] < x))
        .map(|(from, to)| from[1] + (to[1] - from[1]) * ((x - from[0]) / (to[0] - from[0])))
        .collect();
    crossings.sort_by(f64::total_cmp);
    crossings.as_chunks().0.to_vec()
}

/// Rectangles that are turned, beside the polygons of their corners.
fn turned(data: &mut Unstructured<'_>) -> Result<()> {
    let turn = Turn { degrees: data.arbitrary()?, clockwise: data.arbitrary()? };
    let mut boxes = Vec::new();
    for _ in 0..data.int_in_range(1..=20)? {
        let (x, y) = (coordinate(data, 1e4)?, coordinate(data, 1e4)?);
        let (width, height) = (coordinate(data, 1e4)?.abs(), coordinate(data, 1e4)?.abs());
        let angle = if data.arbitrary()? { 15.0 * f64::from(data.arbitrary::<i8>()?) } else { coordinate(data, 1e4)? };
        boxes.push([x, y, width, height, angle]);
    }
    let corners: Vec<Point> = boxes.iter().flat_map(|one| Rectangle::new(one, turn).corners()).collect();
    let offsets: Vec<i64> = (0..=boxes.len() as i64).map(|number| 4 * number).collect();
    let polygons = Polygons::new(&corners, &offsets).expect("offsets that ascend");
    let set = Rectangles::new(&boxes, turn);
    let measure = AreaMeasure::Intersection;
    let (found, expected) =
        (rotated::pairwise(measure, &set, &set, 1), convex::pairwise(measure, &polygons, &polygons, 1));
    let scale = corners.iter().flatten().fold(1.0, |most: f64, c| most.max(c.abs()));
    let count = boxes.len();
    for (place, (found_here, expected)) in found.iter().zip(expected).enumerate() {
        let (row, column) = (place / count, place % count);
        assert!((found_here - expected).abs() <= 1e-9 * scale * scale, "{:?} {:?}", boxes[row], boxes[column]);
        assert_eq!(found_here.to_bits(), found[column * count + row].to_bits(), "either order");
    }
    assert_eq!(
        rotated::elementwise(measure, &set, &set, 1),
        (0..count).map(|k| found[k * count + k]).collect::<Vec<_>>()
    );
    Ok(())
}

/// Corners in any order and of any size: a number comes out, whatever the polygon.
fn any(data: &mut Unstructured<'_>) -> Result<()> {
    let most = if data.arbitrary()? { 2f64.powi(500) } else { 1e3 };
    let (mut corners, mut offsets) = (Vec::new(), vec![0]);
    for _ in 0..data.int_in_range(1..=4)? {
        for _ in 0..data.int_in_range(0..=7)? {
            corners.push([coordinate(data, most)?, coordinate(data, most)?]);
        }
        offsets.push(corners.len() as i64);
    }
    let set = Polygons::new(&corners, &offsets).expect("offsets that ascend");
    let positions: Vec<i64> = (0..set.len() as i64).collect();
    let (rows, columns): (Vec<i64>, Vec<i64>) =
        positions.iter().flat_map(|&row| positions.iter().map(move |&column| (row, column))).unzip();
    let convex = vec![false; set.len()];
    let simple = SimplePolygons { polygons: set, convex: &convex };
    let set = &simple.polygons;
    for shared in [
        concave::pairs(AreaMeasure::Iou, &simple, &simple, &rows, &columns, 1),
        convex::pairwise(AreaMeasure::Iou, set, set, 1),
    ] {
        for (place, value) in shared.iter().enumerate() {
            assert!((0.0..=1.0).contains(value), "{value}: {corners:?} {offsets:?}");
            let (row, column) = (place / set.len(), place % set.len());
            assert_eq!(value.to_bits(), shared[column * set.len() + row].to_bits(), "either order");
        }
    }
    concave::squared_windings(&set);
    Ok(())
}
