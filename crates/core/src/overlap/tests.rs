use super::columns::Columns;
use super::formula::{self, Formula, Measured};
use super::kernel::TablePart;
use super::{Run, Variant, elementwise, pairwise};
use crate::number::Float;
use crate::simd::{self, InstructionSet, Kernel, Level, Vector};

/// Sizes around those of vectors and blocks.
const SIZES: [usize; 12] = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 70];

fn on(threads: usize, level: Level) -> Run {
    Run { threads, level, reused: false }
}

/// Boxes in a small window, so that many overlap; some without area, some equal.
fn boxes<F: Float>(count: usize, seed: u64) -> Vec<[F; 4]> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    (0..count)
        .map(|k| {
            let (x, y) = (random() * 20.0, random() * 20.0);
            let width = if k % 7 == 3 { 0.0 } else { random() * 15.0 };
            let fixed = [3.0, 4.0, 8.5, 9.25];
            let corners = if k % 5 == 4 { fixed } else { [x, y, x + width, y + random() * 15.0] };
            corners.map(F::from_f64)
        })
        .collect()
}

/// One pair, by the formula alone: no blocks, no vectors.
fn one<F: Float>(variant: Variant, a: [F; 4], b: [F; 4]) -> F {
    fn value<V: Formula, F: Float>(formula: V, a: [F; 4], b: [F; 4]) -> F {
        let (a, b) = (Measured::new(a, true), Measured::new(b, true));
        formula.value(&a, &b, formula::intersection(&a, &b))
    }
    with_formula!(variant, value(a, b))
}

/// -0 and 0 differ here, and NaN equals itself.
fn bits<F: Float>(values: &[F]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

fn every_level_gives_the_bits_of_the_formula<F: Float>() {
    for variant in Variant::ALL {
        for rows in SIZES {
            for width in SIZES {
                let (a, b) = (boxes::<F>(rows, 1), boxes::<F>(width, 2));
                let expected: Vec<F> = a.iter().flat_map(|&a| b.iter().map(move |&b| one(variant, a, b))).collect();
                for level in Level::available() {
                    let mut out = vec![F::ONE; rows * width];
                    pairwise(variant, &a, &b, 1, &mut out, on(1, level));
                    assert_eq!(bits(&out), bits(&expected), "{} {rows}x{width}", level.name());
                }
            }
            let (a, b) = (boxes::<F>(rows, 3), boxes::<F>(rows, 4));
            let expected: Vec<F> = a.iter().zip(&b).map(|(&a, &b)| one(variant, a, b)).collect();
            for level in Level::available() {
                let mut out = vec![F::ONE; rows];
                elementwise(variant, &a, &b, &mut out, on(1, level));
                assert_eq!(bits(&out), bits(&expected), "{} {rows}", level.name());
            }
        }
    }
}

#[test]
fn every_level_gives_the_bits_of_the_formula_in_single() {
    every_level_gives_the_bits_of_the_formula::<f32>();
}

#[test]
fn every_level_gives_the_bits_of_the_formula_in_double() {
    every_level_gives_the_bits_of_the_formula::<f64>();
}

#[test]
fn streamed_results_are_the_same_wherever_a_part_begins() {
    let (a, b) = (boxes::<f32>(3, 1), boxes::<f32>(61, 2));
    let columns = Columns::new(&b, false);
    let mut expected = vec![0.0; 3 * 61];
    pairwise(Variant::Iou, &a, &b, 1, &mut expected, on(1, Level::Baseline));
    for level in Level::available() {
        for start in 0..61 {
            for end in start..3 * 61 {
                let mut out = vec![-1.0; 3 * 61];
                let part = TablePart {
                    rows: &a,
                    columns: &columns,
                    start,
                    out: &mut out[start..end],
                    stream: true,
                    formula: formula::Iou,
                };
                simd::run(level, part);
                assert_eq!(out[start..end], expected[start..end], "{} {start}..{end}", level.name());
                assert!(out[..start].iter().chain(&out[end..]).all(|&value| value == -1.0));
            }
        }
    }
}

/// Loads a vector of boxes from every place, the last of which is behind the boxes.
struct Loads<'a, F> {
    boxes: &'a [[F; 4]],
    columns: &'a Columns<F>,
}

impl<F: Float> Kernel for Loads<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let count = self.boxes.len();
        let mut y2 = vec![F::ONE; F::Vector::<I>::LANES];
        for start in 0..=count {
            for place in 0..=count - start {
                let measured = self.columns.from(start).load::<F::Vector<I>>(place);
                measured.y2.store(&mut y2);
                let boxes = self.boxes[start + place..].iter().map(|corners| corners[3]);
                assert!(
                    y2.iter().copied().eq(boxes.chain(std::iter::repeat(F::ZERO)).take(y2.len())),
                    "{start} {place}"
                );
                measured.angle.store(&mut y2);
            }
        }
    }
}

#[test]
fn a_vector_may_begin_behind_the_last_box() {
    for count in SIZES {
        let (single, double) = (boxes::<f32>(count, 1), boxes::<f64>(count, 1));
        for level in Level::available() {
            simd::run(level, Loads { boxes: &single, columns: &Columns::new(&single, true) });
            simd::run(level, Loads { boxes: &double, columns: &Columns::new(&double, true) });
        }
    }
}

/// Loads a vector one place too far.
struct LoadsBehind(Columns<f32>);

impl Kernel for LoadsBehind {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        self.0.from(2).load::<I::F32>(self.0.len - 1);
    }
}

#[test]
#[should_panic(expected = "a box of the set")]
fn a_vector_does_not_begin_further_behind() {
    let boxes = boxes::<f32>(5, 1);
    simd::run(Level::Baseline, LoadsBehind(Columns::new(&boxes, false)));
}

#[test]
fn threads_change_no_bit() {
    let (a, b) = (boxes::<f64>(517, 1), boxes::<f64>(519, 2));
    let run = |threads| {
        let mut out = vec![0.0; 517 * 519];
        pairwise(Variant::Ciou, &a, &b, 1, &mut out, on(threads, Level::best()));
        bits(&out)
    };
    let serial = run(1);
    for threads in [0, 2, 8] {
        assert_eq!(run(threads), serial);
    }
}

#[test]
fn a_batch_is_its_pairs_of_sets() {
    let (a, b) = (boxes::<f32>(3 * 5, 1), boxes::<f32>(3 * 21, 2));
    let run = on(1, Level::best());
    let mut together = vec![0.0; 3 * 5 * 21];
    pairwise(Variant::Giou, &a, &b, 3, &mut together, run);
    for k in 0..3 {
        let mut alone = vec![0.0; 5 * 21];
        pairwise(Variant::Giou, &a[k * 5..][..5], &b[k * 21..][..21], 1, &mut alone, run);
        assert_eq!(together[k * 105..][..105], alone);
    }
}

#[test]
fn huge_single_precision_boxes_overflow_nowhere_and_touch_no_other_pair() {
    let huge = [-1e30, -1e30, 1e30, 1e30_f32];
    let (mut a, mut b) = (boxes::<f32>(4, 1), boxes::<f32>(20, 2));
    let run = on(1, Level::best());
    for variant in Variant::ALL.into_iter().filter(|&variant| variant != Variant::Intersection) {
        let mut before = vec![0.0; 4 * 20];
        pairwise(variant, &a, &b, 1, &mut before, run);
        (a[2], b[17]) = (huge, huge);
        let mut after = vec![0.0; 4 * 20];
        pairwise(variant, &a, &b, 1, &mut after, run);
        let mut diagonal = vec![0.0; 4];
        elementwise(variant, &a, &b[16..], &mut diagonal, run);
        assert_eq!(after[2 * 20 + 17], with_itself(variant));
        for k in 0..80 {
            assert!(after[k].is_finite() || matches!(variant, Variant::Mpdiou { .. })); // far outside the image
            if k / 20 != 2 && k % 20 != 17 {
                assert_eq!(after[k].to_bits(), before[k].to_bits());
            }
        }
        for k in 0..4 {
            assert_eq!(diagonal[k].to_bits(), after[k * 20 + 16 + k].to_bits());
        }
    }
}

#[test]
fn values_one_can_check_in_the_head() {
    let unit = [0.0, 0.0, 2.0, 2.0_f64];
    let image = Variant::Mpdiou { width: 3.0, height: 4.0 };
    for (variant, other, expected) in [
        (Variant::Intersection, [1.0, 1.0, 3.0, 3.0], 1.0),
        (Variant::Iou, [0.0, 0.0, 1.0, 1.0], 0.25),
        (Variant::Iou, [2.0, 0.0, 4.0, 2.0], 0.0),
        (Variant::IoaFirst, [0.0, 0.0, 1.0, 1.0], 0.25),
        (Variant::IoaSecond, [0.0, 0.0, 1.0, 1.0], 1.0),
        (Variant::Iom, [1.0, 1.0, 3.0, 2.0], 0.5),
        (Variant::Giou, [2.0, 2.0, 4.0, 4.0], -0.5),
        (Variant::Diou, [2.0, 2.0, 4.0, 4.0], -0.25),
        (Variant::Ciou, [2.0, 2.0, 4.0, 4.0], -0.25),
        (Variant::Eiou, [0.0, 0.0, 1.0, 2.0], 0.5 - 0.25 / 8.0 - 0.25),
        (Variant::Eiou, [0.0; 4], -2.25),
        // The centres are level, so gamma is 2: exp(-2 (2/4)^2) of the way along x.
        (Variant::Siou, [2.0, 0.0, 4.0, 2.0], -(1.0 - (-0.5_f64).exp()) / 2.0),
        (image, [3.0, 4.0, 5.0, 6.0], -2.0),
        (Variant::AlphaIou { alpha: 2.0 }, [0.0, 0.0, 1.0, 1.0], 0.0625),
        (Variant::InnerIou { ratio: 0.5 }, [0.0, 0.0, 2.0, 1.0], 1.0 / 5.0),
        (Variant::InnerIou { ratio: 0.5 }, [1.0, 0.0, 3.0, 2.0], 0.0),
        (Variant::InnerIou { ratio: 2.0 }, [2.0, 0.0, 4.0, 2.0], 1.0 / 3.0),
        (Variant::Nwd { constant: 2.5 }, [3.0, 4.0, 5.0, 6.0], (-2.0_f64).exp()),
        (Variant::CentreDistance, [3.0, 4.0, 5.0, 6.0], 5.0),
        (Variant::JaccardDistance, [0.0, 0.0, 1.0, 1.0], 0.75),
        (Variant::Tiou, [0.0, 0.0, 1.0, 1.0], 0.0625),
        (Variant::Tiou, [0.0, 0.0, 4.0, 4.0], 0.25),
    ] {
        assert_eq!(one(variant, unit, other), expected, "{}", variant.name());
    }
    let point = [1.0; 4];
    for variant in Variant::ALL {
        let nothing = matches!(variant, Variant::Nwd { .. } | Variant::JaccardDistance);
        assert_eq!(one(variant, point, point), f64::from(nothing), "{}", variant.name());
        assert_eq!(one(variant, unit, unit), if variant == Variant::Intersection { 4.0 } else { with_itself(variant) });
    }
    assert_eq!(one(Variant::Giou, point, [3.0; 4]), -1.0);
}

fn with_itself<F: Float>(variant: Variant) -> F {
    if matches!(variant, Variant::CentreDistance | Variant::JaccardDistance) { F::ZERO } else { F::ONE }
}

#[test]
fn a_variant_is_found_by_its_name_with_all_its_parameters() {
    for variant in Variant::ALL {
        let parameters: &[f64] = match variant {
            Variant::Mpdiou { width, height } => &[width, height],
            Variant::AlphaIou { alpha: one } | Variant::InnerIou { ratio: one } | Variant::Nwd { constant: one } => {
                &[one]
            }
            _ => &[],
        };
        assert_eq!(Variant::named(variant.name(), parameters), Some(variant));
        assert_eq!(Variant::named(variant.name(), &[1.0; 3]), None);
    }
    assert_eq!(Variant::named("nwd", &[]), None);
    assert_eq!(Variant::named("dice", &[]), None);
}
