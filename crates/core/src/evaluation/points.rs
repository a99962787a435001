//! Curves written out: the values of their steps at each recall threshold.

use crate::memory::{Vec, vec};

/// Curves, with one of the two values of their steps: precision or score.
#[derive(Clone, Copy)]
pub struct Points<'a> {
    /// For each curve, where its steps end; those of the next one begin there.
    pub ends: &'a [u64],
    /// For each step, how many recall thresholds are reached with it.
    pub reached: &'a [u32],
    /// For each step, its value.
    pub values: &'a [f64],
    /// For each curve, its recall; NaN where the curve is undefined.
    pub recall: &'a [f64],
}

impl Points<'_> {
    /// Whether the lengths fit together.
    pub fn are_consistent(&self) -> bool {
        (self.ends.len(), self.reached.len()) == (self.recall.len(), self.values.len())
    }

    /// The values of some curves at each of `recalls` thresholds: 0 where a recall is not reached, NaN where a curve is
    /// undefined. A curve that is none of these is undefined.
    pub fn write_out(&self, curves: &[i64], recalls: usize) -> Vec<f64> {
        let mut out = vec![0.0; curves.len() * recalls];
        for (&curve, out) in curves.iter().zip(out.chunks_mut(recalls.max(1))) {
            let curve =
                usize::try_from(curve).ok().filter(|&curve| self.recall.get(curve).is_some_and(|at| !at.is_nan()));
            let Some(curve) = curve else {
                out.fill(f64::NAN);
                continue;
            };
            let start = if curve == 0 { 0 } else { self.ends[curve - 1] as usize };
            let mut at = 0;
            for step in start..(self.ends[curve] as usize).min(self.reached.len()) {
                let end = (self.reached[step] as usize).clamp(at, out.len());
                out[at..end].fill(self.values[step]);
                at = end;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Points;
    use crate::memory::vec;

    #[test]
    fn writes_steps_out() {
        let ends = [2, 2, 3, 3];
        let recall = [0.5, f64::NAN, 1.0, 0.0];
        let points = Points { ends: &ends, reached: &[1, 3, 4], values: &[0.9, 0.5, 1.0], recall: &recall };
        assert!(points.are_consistent());
        assert_eq!(points.write_out(&[3, 0, 2], 4), [0.0, 0.0, 0.0, 0.0, 0.9, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(points.write_out(&[1, -1, 4], 2).iter().all(|value| value.is_nan()), "undefined");
        assert_eq!(points.write_out(&[0], 2), [0.9, 0.5], "fewer thresholds than are reached");
        assert_eq!(points.write_out(&[0], 0), []);
        let [falling, beyond] =
            [[3, 1], [1, 9]].map(|ends| Points { ends: &ends, recall: &[0.0; 2], ..points }.write_out(&[1], 4));
        assert_eq!((falling, beyond), (vec![0.0; 4], vec![0.5, 0.5, 0.5, 1.0]), "steps that there are");
        assert!(!Points { ends: &[1], ..points }.are_consistent());
        assert!(!Points { reached: &[1], ..points }.are_consistent());
    }
}
