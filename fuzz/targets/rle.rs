//! Masks from the compressed runs of COCO, beside one pixel at a time.
//!
//! The first byte of an input is the height, the second one chooses a distance; the rest is a string of runs.
#![no_main]

use ioukit_core::memory;
use ioukit_core::overlap::areas::AreaMeasure;
use ioukit_core::regions::rle::overlap::{Crowd, pairwise};
use ioukit_core::regions::rle::{Mask, MaskList, Size, boundary, merge, pixels, settle, string};
use libfuzzer_sys::fuzz_target;

/// Larger masks take too long, pixel by pixel.
const MOST_PIXELS: u64 = 1 << 12;

fuzz_target!(|data: &[u8]| {
    let [height, distance, text @ ..] = data else { return };
    let mut counts = memory::Vec::new();
    if string::decode(text, &mut counts).is_err() {
        return;
    }
    let (mut again, mut canonical) = (memory::Vec::new(), memory::Vec::new());
    string::encode(&counts, &mut canonical);
    string::decode(&canonical, &mut again).expect("what encode writes");
    assert_eq!(again, counts);
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let height = u64::from(*height).max(1);
    let fits = Size::new(height as i64, (total / height) as i64).ok().filter(|_| total % height == 0);
    let Some(size) = fits else {
        let size = Size { height: height as u32, width: 7 };
        assert_eq!(settle(&counts, size, &mut memory::Vec::new()).is_ok(), total == 7 * height, "runs of another size");
        return;
    };
    let mut runs = memory::Vec::new();
    settle(&counts, size, &mut runs).expect("runs that cover the mask");
    assert!(runs[1..].iter().all(|&run| run > 0), "runs without gaps");
    if total > MOST_PIXELS {
        return;
    }
    check(size, &counts, &runs, 1 + u32::from(distance % 5));
});

fn check(size: Size, counts: &[u32], runs: &[u32], distance: u32) {
    let first = of_counts(counts);
    let mut reversed = counts.to_vec();
    reversed.reverse();
    let second = of_counts(&reversed);
    assert_eq!(encoded(&first), runs);
    let mask = Mask { size, runs };
    let mut decoded = vec![0; first.len()];
    pixels::decode(mask, &mut decoded);
    assert_eq!(decoded, first);
    let (height, width) = (size.height as usize, size.width as usize);
    let rows: Vec<u8> = (0..first.len()).map(|at| 255 * first[at % width * height + at / width]).collect();
    let mut of_rows = memory::Vec::new();
    pixels::encode_rows(&rows, size, &mut of_rows);
    assert_eq!(of_rows, runs);
    assert_eq!(mask.area(), sum(&first));
    assert_eq!(mask.bounds(), bounds(&first, height));

    let mut list = MaskList::default();
    for pixels in [&first, &second] {
        list.runs.extend(encoded(pixels));
        list.close(size);
    }
    let masks: Vec<_> = list.view().iter().collect();
    let both: Vec<u8> = first.iter().zip(&second).map(|(a, b)| a & b).collect();
    let either: Vec<u8> = first.iter().zip(&second).map(|(a, b)| a | b).collect();
    for (intersect, expected) in [(true, &both), (false, &either)] {
        let mut merged = memory::Vec::new();
        merge::merge(&masks, size, intersect, &mut merged);
        assert_eq!(merged, encoded(expected));
    }
    let mut table = [0.0; 4];
    pairwise(AreaMeasure::Intersection, list.view(), list.view(), Crowd::No, &mut table, 1);
    assert_eq!(table, [&first, &both, &both, &second].map(|pixels| f64::from(sum(pixels))));

    let mut found = memory::Vec::new();
    boundary::boundary(mask, distance, &mut found);
    assert_eq!(found, encoded(&boundary_of(&first, height, width, i64::from(distance))));
}

/// One byte for each pixel, column after column.
fn of_counts(counts: &[u32]) -> Vec<u8> {
    let runs = counts.iter().enumerate();
    runs.flat_map(|(position, &count)| std::iter::repeat_n((position % 2) as u8, count as usize)).collect()
}

fn encoded(pixels: &[u8]) -> memory::Vec<u32> {
    let mut runs = memory::Vec::new();
    pixels::encode_columns(pixels, &mut runs);
    runs
}

fn sum(pixels: &[u8]) -> u32 {
    pixels.iter().map(|&pixel| u32::from(pixel)).sum()
}

fn bounds(pixels: &[u8], height: usize) -> [u32; 4] {
    let ones = || pixels.iter().enumerate().filter(|(_, pixel)| **pixel == 1).map(|(at, _)| at as u32);
    let height = height as u32;
    let columns = ones().map(|at| at / height);
    let rows = ones().map(|at| at % height);
    let (Some(left), Some(top)) = (columns.clone().min(), rows.clone().min()) else { return [0; 4] };
    [left, top, columns.max().expect("a pixel") - left + 1, rows.max().expect("a pixel") - top + 1]
}

/// The pixels of which the square of this distance reaches outside.
fn boundary_of(pixels: &[u8], height: usize, width: usize, distance: i64) -> Vec<u8> {
    let (height, width) = (height as i64, width as i64);
    let at =
        |x: i64, y: i64| (0..width).contains(&x) && (0..height).contains(&y) && pixels[(x * height + y) as usize] == 1;
    let is_inside = |x, y| (-distance..=distance).all(|dx| (-distance..=distance).all(|dy| at(x + dx, y + dy)));
    let places = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
    places.map(|(x, y)| u8::from(at(x, y) && !is_inside(x, y))).collect()
}
