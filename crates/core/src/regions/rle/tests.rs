//! Laws of masks on small random ones, against one pixel at a time.

use super::overlap::{Crowd, elementwise, pairs, pairwise};
use super::{Mask, MaskList, Problem, Size, boundary, merge, pixels, polygon, settle, string};
use crate::memory::{Vec, vec};
use crate::overlap::areas::AreaMeasure;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn pixels(&mut self, size: Size) -> Vec<u8> {
        let (share, streak) = (self.roll(5), 1 + self.roll(40));
        let mut value = 0;
        let mut next = |dice: &mut Self| {
            if dice.roll(streak) == 0 {
                value = u8::from(dice.roll(4) < share);
            }
            value
        };
        (0..size.pixels()).map(|_| next(self)).collect()
    }
}

fn size(height: u32, width: u32) -> Size {
    Size { height, width }
}

fn encode(pixels: &[u8]) -> Vec<u32> {
    let mut runs = Vec::new();
    pixels::encode_columns(pixels, &mut runs);
    runs
}

fn decode(mask: Mask<'_>) -> Vec<u8> {
    let mut pixels = vec![0; mask.size.pixels() as usize];
    pixels::decode(mask, &mut pixels);
    pixels
}

fn cases() -> impl Iterator<Item = (Dice, Size)> {
    (0..400).map(|seed| {
        let mut dice = Dice(seed);
        let size = size(dice.roll(150) as u32, dice.roll(9) as u32);
        (dice, size)
    })
}

#[test]
fn pixels_to_runs_and_back() {
    for (mut dice, size) in cases() {
        let columns = dice.pixels(size);
        let runs = encode(&columns);
        assert_eq!(decode(Mask { size, runs: &runs }), columns);
        assert!(runs[1..].iter().all(|&run| run > 0));
        let (height, width) = (size.height as usize, size.width as usize);
        let rows: Vec<u8> = (0..height * width).map(|at| 7 * columns[at % width * height + at / width]).collect();
        let mut same = Vec::new();
        pixels::encode_rows(&rows, size, &mut same);
        assert_eq!(same, runs);
        let (mut text, mut again) = (Vec::new(), Vec::new());
        string::encode(&runs, &mut text);
        string::decode(&text, &mut again).unwrap();
        assert_eq!(again, runs);
    }
    assert_eq!(encode(&[]), [0]);
    assert_eq!(encode(&[2, 255, 0]), [0, 2, 1]);
}

#[test]
fn bounds_are_those_of_the_pixels() {
    for (mut dice, size) in cases() {
        let columns = dice.pixels(size);
        let runs = encode(&columns);
        let (mut low, mut high) = ([u32::MAX; 2], [0; 2]);
        for at in (0..size.pixels()).filter(|&at| columns[at as usize] != 0) {
            let place = [at / size.height, at % size.height];
            low = [low[0].min(place[0]), low[1].min(place[1])];
            high = [high[0].max(place[0] + 1), high[1].max(place[1] + 1)];
        }
        let around = if high[0] == 0 { [0; 4] } else { [low[0], low[1], high[0] - low[0], high[1] - low[1]] };
        assert_eq!(Mask { size, runs: &runs }.bounds(), around);
    }
}

#[test]
fn empty_runs_are_joined() {
    let settled = |counts: &[u32]| {
        let mut runs = Vec::new();
        settle(counts, size(3, 4), &mut runs).map(|()| runs)
    };
    assert_eq!(settled(&[12]), Ok(vec![12]));
    assert_eq!(settled(&[0, 12]), Ok(vec![0, 12]));
    assert_eq!(settled(&[12, 0, 0]), Ok(vec![12]));
    assert_eq!(settled(&[0, 0, 5, 0, 0, 3, 0, 4]), Ok(vec![5, 7]));
    assert_eq!(settled(&[4, 0, 4, 4]), Ok(vec![8, 4]));
    assert_eq!(settled(&[6, 5]), Err(Problem::Sum { total: 11, size: size(3, 4) }));
    assert_eq!(settled(&[u32::MAX, 13]), Err(Problem::Sum { total: (1 << 32) + 12, size: size(3, 4) }));
}

#[test]
fn measures_and_merges_are_those_of_the_pixels() {
    for (mut dice, size) in cases() {
        let count = 1 + dice.roll(4) as usize;
        let all: Vec<_> = (0..count).map(|_| dice.pixels(size)).collect();
        let mut list = MaskList::default();
        for pixels in &all {
            list.runs.extend(encode(pixels));
            list.close(size);
        }
        let masks: Vec<_> = list.view().iter().collect();
        for intersect in [false, true] {
            let mut runs = Vec::new();
            merge::merge(&masks, size, intersect, &mut runs);
            let of = |at: usize| {
                all.iter().map(|pixels| pixels[at]).fold(
                    u8::from(intersect),
                    |a, b| {
                        if intersect { a & b } else { a | b }
                    },
                )
            };
            assert_eq!(runs, encode(&(0..size.pixels() as usize).map(of).collect::<Vec<_>>()));
        }
        let areas: Vec<usize> = all.iter().map(|pixels| pixels.iter().map(|&pixel| pixel as usize).sum()).collect();
        let mut table = vec![f64::NAN; count * count];
        pairwise(AreaMeasure::Intersection, list.view(), list.view(), Crowd::No, &mut table, 0);
        for (row, first) in all.iter().enumerate() {
            assert_eq!(masks[row].area() as usize, areas[row]);
            for (column, second) in all.iter().enumerate() {
                let both: u32 = first.iter().zip(second).map(|(a, b)| u32::from(a & b)).sum();
                assert_eq!(table[row * count + column], f64::from(both));
            }
        }
        let (rows, columns): (Vec<i64>, Vec<i64>) =
            (0..count * count).map(|at| ((at / count) as i64, (at % count) as i64)).unzip();
        assert_eq!(pairs(AreaMeasure::Intersection, list.view(), list.view(), &rows, &columns, 2), table);
        let diagonal = elementwise(AreaMeasure::Intersection, list.view(), list.view(), 0);
        assert!(diagonal.iter().zip(&areas).all(|(&value, &area)| value == area as f64));
    }
}

#[test]
fn runs_bits_and_spans_give_the_same_intersection() {
    // A bar down a large image has one span a column, a comb many.
    let size = size(2000, 2000);
    let bar = [999_000, 2_000_000, 1_001_000];
    let comb: Vec<u32> = std::iter::repeat_n(10, 400_000).collect();
    let mut list = MaskList::default();
    for runs in [&bar[..], &comb] {
        list.runs.extend(runs);
        list.close(size);
    }
    let mut table = [0.0; 4];
    pairwise(AreaMeasure::Intersection, list.view(), list.view(), Crowd::No, &mut table, 0);
    assert_eq!(table, [2e6, 1e6, 1e6, 2e6]);
}

#[test]
fn the_boundary_is_within_a_distance_of_the_outside() {
    for (mut dice, size) in cases() {
        let pixels = dice.pixels(size);
        let (height, width, distance) = (i64::from(size.height), i64::from(size.width), 1 + dice.roll(3) as i64);
        let at = |x: i64, y: i64| {
            (0..width).contains(&x) && (0..height).contains(&y) && pixels[(x * height + y) as usize] == 1
        };
        let expected: Vec<u8> = (0..width * height)
            .map(|place| {
                let (x, y) = (place / height, place % height);
                let mut square = (-distance..=distance).flat_map(|dx| (-distance..=distance).map(move |dy| (dx, dy)));
                u8::from(at(x, y) && !square.all(|(dx, dy)| at(x + dx, y + dy)))
            })
            .collect();
        let (runs, mut found) = (encode(&pixels), Vec::new());
        boundary::boundary(Mask { size, runs: &runs }, distance as u32, &mut found);
        assert_eq!(found, encode(&expected));
    }
    let full = [0, 12 * 9];
    let mut found = Vec::new();
    boundary::boundary(Mask { size: size(12, 9), runs: &full }, 4, &mut found);
    assert_eq!(found, [0, 4 * 12 + 4, 4, 4 + 4 * 12], "one column of four is left");
}

#[test]
fn strings_that_are_none_are_refused() {
    let decoded = |text: &[u8]| {
        let mut runs = Vec::new();
        string::decode(text, &mut runs).map(|()| runs)
    };
    assert_eq!(decoded(b""), Ok(vec![]));
    assert_eq!(decoded(b"52203"), Ok(vec![5, 2, 2, 2, 5]));
    assert_eq!(decoded(b"5 "), Err(Problem::Byte { position: 1, byte: b' ' }));
    assert_eq!(decoded(b"5p"), Err(Problem::Byte { position: 1, byte: b'p' }));
    assert_eq!(decoded(b"5Q"), Err(Problem::Cut));
    assert_eq!(decoded(b"5QQQQQQQ1"), Err(Problem::Long { position: 1 }));
    assert_eq!(decoded(b"5O"), Err(Problem::Count { position: 1, value: -1 }));
}

#[test]
fn a_square_is_drawn_and_what_is_outside_is_not() {
    let draw = |numbers: &[f64]| {
        let mut runs = Vec::new();
        polygon::Pen::default().draw(numbers, size(4, 5), &mut runs).map(|()| runs)
    };
    assert_eq!(draw(&[1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 1.0]), Ok(vec![5, 2, 2, 2, 9]));
    assert_eq!(draw(&[-9.0, -9.0, -9.0, 1e8, 1e8, 1e8, 1e8, -9.0]), Ok(vec![0, 20]));
    assert_eq!(draw(&[6.0, 1.0, 6.0, 3.0, 8.0, 3.0]), Ok(vec![20]));
    assert_eq!(draw(&[]), Ok(vec![20]));
    assert!(matches!(draw(&[0.0, f64::NAN]), Err(Problem::Coordinate { position: 1, .. })));
    assert!(matches!(draw(&[1e9, 0.0]), Err(Problem::Coordinate { position: 0, .. })));
}
