use super::*;
use crate::overlap::{Variant, single as overlap_of};

/// A generator that needs no crate.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }

    fn boxes(&mut self, count: usize) -> Vec<[f64; 4]> {
        let mut one = || {
            let (x, y) = (self.next() * 20.0, self.next() * 20.0);
            [x, y, x + 0.1 + self.next() * 20.0, y + 0.1 + self.next() * 20.0]
        };
        (0..count).map(|_| one()).collect()
    }
}

/// All losses, with parameters that no loss has by default.
fn all() -> impl Iterator<Item = Loss> {
    let plain = ["iou", "giou", "diou", "ciou", "eiou", "siou", "wiou_1"].map(|name| Loss::named(name, &[]));
    let others = [
        ("mpdiou", &[30.0, 40.0][..]),
        ("alpha_iou", &[3.0]),
        ("alpha_giou", &[2.0]),
        ("alpha_diou", &[1.5]),
        ("alpha_ciou", &[0.5]),
        ("wiou_2", &[0.4, 0.5]),
        ("wiou_3", &[0.4, 1.7, 2.7]),
    ];
    plain
        .into_iter()
        .chain(others.map(|(name, parameters)| Loss::named(name, parameters)))
        .map(|loss| loss.expect("one"))
}

fn evaluate<F: Float>(loss: Loss, a: &[[F; 4]], b: &[[F; 4]], threads: usize, level: Level) -> (Vec<F>, Vec<[F; 4]>) {
    let (mut values, mut gradient) = (vec![F::ZERO; a.len()], vec![[F::ZERO; 4]; a.len()]);
    value_and_gradient(loss, a, b, &mut values, &mut gradient, threads, level);
    (values, gradient)
}

#[test]
fn values_are_one_less_the_overlap() {
    let mut numbers = Numbers(1);
    let (a, b) = (numbers.boxes(1000), numbers.boxes(1000));
    for (name, parameters) in [
        ("iou", &[][..]),
        ("giou", &[]),
        ("diou", &[]),
        ("ciou", &[]),
        ("eiou", &[]),
        ("siou", &[]),
        ("mpdiou", &[30.0, 40.0]),
        ("alpha_iou", &[3.0]),
    ] {
        let loss = Loss::named(name, parameters).expect("a loss of this name");
        let variant = Variant::named(name, parameters).expect("a variant of this name");
        let (values, _) = evaluate(loss, &a, &b, 1, Level::best());
        for ((value, a), b) in values.iter().zip(&a).zip(&b) {
            assert!((value - (1.0 - overlap_of(variant, a, b))).abs() < 1e-14, "{loss:?}");
        }
    }
}

#[test]
fn gradients_are_difference_quotients() {
    let mut numbers = Numbers(2);
    let (a, b) = (numbers.boxes(500), numbers.boxes(500));
    let step = 1e-6;
    // Weights that are constants have no place in a quotient.
    let smooth = |loss: &Loss| !matches!(loss, Loss::Ciou | Loss::Wiou(_) | Loss::Alpha { base: Base::Ciou, .. });
    for loss in all().filter(smooth) {
        let (_, gradient) = evaluate(loss, &a, &b, 1, Level::best());
        for c in 0..4 {
            let moved = |by: f64| -> Vec<_> {
                a.iter()
                    .map(|&corners| {
                        let mut corners = corners;
                        corners[c] += by;
                        corners
                    })
                    .collect()
            };
            let (ahead, _) = evaluate(loss, &moved(step), &b, 1, Level::best());
            let (behind, _) = evaluate(loss, &moved(-step), &b, 1, Level::best());
            for k in 0..a.len() {
                let quotient = (ahead[k] - behind[k]) / (2.0 * step);
                assert!((gradient[k][c] - quotient).abs() < 1e-6 + 1e-5 * quotient.abs(), "{loss:?} {k} {c}");
            }
        }
    }
}

#[test]
fn bits_depend_on_neither_threads_nor_instructions() {
    let mut numbers = Numbers(3);
    let (a, b) = (numbers.boxes(40_003), numbers.boxes(40_003));
    let single = |boxes: &[[f64; 4]]| boxes.iter().map(|x| x.map(|c| c as f32)).collect::<Vec<_>>();
    let (a, b) = (single(&a), single(&b));
    for loss in all() {
        let (values, gradient) = evaluate(loss, &a, &b, 1, Level::Baseline);
        for level in Level::available() {
            for threads in [1, 2, 0] {
                let (again, slopes) = evaluate(loss, &a, &b, threads, level);
                assert!(values.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{loss:?}");
                let bits = |g: &[[f32; 4]]| g.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&gradient), bits(&slopes), "{loss:?}");
            }
        }
    }
}

#[test]
fn equal_boxes_have_no_gradient_and_others_a_finite_one() {
    let sides = [-3.0, 0.0, 1e-4, 1.0, 1e6, 1e18_f32];
    let mut boxes = Vec::new();
    for x in [-1.0, 0.0, 5.0] {
        for w in sides {
            boxes.extend(sides.map(|h| [x, 0.0, x + w, h]));
        }
    }
    for loss in all() {
        for b in &boxes {
            let (values, gradient) = evaluate(loss, &boxes, &vec![*b; boxes.len()], 1, Level::best());
            assert!(values.iter().chain(gradient.iter().flatten()).all(|x| x.is_finite()), "{loss:?} {b:?}");
        }
        let equal = [[1.0, 2.0, 4.0, 9.0_f64]];
        let (values, gradient) = evaluate(loss, &equal, &equal, 1, Level::best());
        assert!(values[0] == 0.0 && gradient[0].iter().all(|x| x.abs() < 1e-15), "{loss:?}: {gradient:?}");
    }
}

#[test]
fn nan_in_nan_out() {
    let good = [0.0, 0.0, 4.0, 3.0_f32];
    for loss in all() {
        for column in 0..4 {
            let mut bad = good;
            bad[column] = f32::NAN;
            let (pred, target) = ([good, bad, good, good], [good, good, bad, good]);
            let (values, gradient) = evaluate(loss, &pred, &target, 1, Level::best());
            let is_nan = |k: usize| values[k].is_nan() && gradient[k].iter().all(|x| x.is_nan());
            assert!(is_nan(1) && is_nan(2) && values[0] == 0.0 && values[3] == 0.0, "{loss:?} {column}: {values:?}");
        }
    }
}
