//! Boxes of several detectors into one set: weighted boxes fusion and non-maximum weighted.
//!
//! From the best box down, each joins the cluster whose box it overlaps most, if that is more than the threshold, and
//! otherwise begins one. The box of a cluster is the mean of its members, weighted by their scores, and moves with each
//! of them ([`Clusters::Moving`]), or it stays that of the best and is averaged in the end ([`Clusters::Fixed`]).
//!
//! Clusters are found through the grid of `cells`, which follows boxes that move. The highest overlap, then the first
//! cluster win, so the way of searching changes no bit: where the grid would ask more cells than there are clusters, all
//! clusters are looked at.

mod cells;

use crate::ending::ask_after;
use crate::join::bound::{Bound, Reference};
use crate::memory::{Vec, vec};
use crate::order::{by_key, by_two_keys, of_integer, rising};
use crate::overlap::{Variant, single};
use crate::threads::map;
use cells::{Cells, Place};

/// What new boxes are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// The mean of the members so far, by their scores: weighted boxes fusion.
    Moving,
    /// The best member; the mean is by score times IoU with it: non-maximum weighted.
    Fixed,
}

/// The score of a cluster of `n` boxes from `m` models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The mean, times `min(n, m)` over the sum of the weights.
    Average,
    /// The sum over the sum of the weights: above 1 where a model has several boxes of one object.
    AverageOverflowing,
    /// The largest, over the largest weight.
    Max,
    /// The sum over the weights of the boxes, times the share of the models that are in the cluster.
    BoxAndModelAverage,
    /// The sum over the weights of the boxes and of the models that are not in the cluster.
    AbsentModelAwareAverage,
    /// That of the best box.
    Best,
}

/// Boxes of all models, one entry per box in each slice but the last.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    /// `[x1, y1, x2, y2]`.
    pub boxes: &'a [[f64; 4]],
    /// Times the weight of the model; not negative.
    pub scores: &'a [f64],
    /// Only boxes of one label share a cluster.
    pub labels: &'a [i64],
    /// The model of each, a position in `weights`.
    pub models: &'a [i64],
    /// Of the models, positive.
    pub weights: &'a [f64],
}

/// Fused boxes, from the best score down; of equal scores, that of the better and then of the earlier first box.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fused {
    /// `[x1, y1, x2, y2]`.
    pub boxes: Vec<[f64; 4]>,
    /// By the rule.
    pub scores: Vec<f64>,
    /// The best box of each cluster.
    pub best: Vec<i64>,
    /// For each box that was given, the cluster it is in.
    pub clusters: Vec<i64>,
}

/// Fewer boxes than these are not worth a second thread.
const WORTH_THREADS: usize = 1 << 12;

/// Fuses boxes whose IoU is above `threshold`; threads work on a label each and change no bit.
///
/// # Panics
///
/// If the slices differ in length, or a model has no weight.
pub fn fuse(given: Models<'_>, threshold: f64, clusters: Clusters, rule: Rule, threads: usize) -> Fused {
    let count = given.boxes.len();
    let lengths = [given.scores.len(), given.labels.len(), given.models.len()];
    assert!(lengths.iter().all(|&length| length == count), "one entry per box");
    let order = by_key(given.scores.iter().map(|&score| !rising(score)));
    let by_label = by_key(order.iter().map(|&number| of_integer(given.labels[number as usize])));
    let by_label: Vec<u32> = by_label.into_iter().map(|place| order[place as usize]).collect();
    let labels: Vec<&[u32]> =
        by_label.chunk_by(|&a, &b| given.labels[a as usize] == given.labels[b as usize]).collect();

    let threads = if count < WORTH_THREADS { 1 } else { threads };
    let fused = map(0..labels.len(), threads, |label| Label::fuse(&given, labels[label], threshold, clusters));

    let mut rank = vec![0; count];
    for (place, &number) in (0..).zip(&order) {
        rank[number as usize] = place;
    }
    let mut found: Vec<(f64, u32, [f64; 4], &[u32])> = Vec::new();
    for label in &fused {
        let mut starts = label.members.as_slice();
        for cluster in &label.clusters {
            let members = starts.split_off(..cluster.count).expect("as many as were counted");
            found.push((cluster.score(&given, members, rule), members[0], cluster.mean(clusters), members));
        }
    }
    let best_first = by_two_keys(found.iter().map(|&(score, best, ..)| (!rising(score), rank[best as usize])));
    let mut result = Fused { clusters: vec![-1; count], ..Fused::default() };
    for (number, found) in best_first.into_iter().map(|place| found[place as usize]).enumerate() {
        let (score, best, corners, members) = found;
        result.boxes.push(corners);
        result.scores.push(score);
        result.best.push(i64::from(best));
        for &member in members {
            result.clusters[member as usize] = number as i64;
        }
    }
    result
}

struct Cluster {
    /// What new boxes are compared with.
    corners: [f64; 4],
    /// Corners times weights, and the weights, in the order of the members.
    sums: [f64; 4],
    weight: f64,
    count: usize,
    place: Option<Place>,
}

impl Cluster {
    fn new(corners: [f64; 4], score: f64) -> Self {
        Self { corners, sums: corners.map(|x| score * x), weight: score, count: 1, place: None }
    }

    fn add(&mut self, corners: [f64; 4], weight: f64) {
        for (sum, x) in self.sums.iter_mut().zip(corners) {
            *sum += weight * x;
        }
        self.weight += weight;
        self.count += 1;
    }

    /// The weighted mean; the first box as it is where there is no other, or no weight.
    fn weighted(&self) -> [f64; 4] {
        if self.count == 1 || self.weight == 0.0 { self.corners } else { self.sums.map(|sum| sum / self.weight) }
    }

    fn mean(&self, clusters: Clusters) -> [f64; 4] {
        match clusters {
            Clusters::Moving => self.corners,
            Clusters::Fixed => self.weighted(),
        }
    }

    fn score(&self, given: &Models<'_>, members: &[u32], rule: Rule) -> f64 {
        let count = members.len() as f64;
        let sum: f64 = members.iter().map(|&number| given.scores[number as usize]).sum();
        let best = given.scores[members[0] as usize];
        let all: f64 = given.weights.iter().sum();
        let of_boxes = || members.iter().map(|&number| given.weights[given.models[number as usize] as usize]).sum();
        let of_models = |present: bool| -> f64 {
            let mut is_there = vec![false; given.weights.len()];
            members.iter().for_each(|&number| is_there[given.models[number as usize] as usize] = true);
            let weights = given.weights.iter().zip(is_there);
            weights.filter(|&(_, is_there)| is_there == present).map(|(weight, _)| weight).sum()
        };
        match rule {
            Rule::Average => sum / count * count.min(given.weights.len() as f64) / all,
            Rule::AverageOverflowing => sum / count * count / all,
            Rule::Max => best / given.weights.iter().copied().fold(0.0, f64::max),
            Rule::BoxAndModelAverage => {
                let weights: f64 = of_boxes();
                sum / count * count / weights * of_models(true) / all
            }
            Rule::AbsentModelAwareAverage => {
                let weights: f64 = of_boxes();
                sum / count * count / (weights + of_models(false))
            }
            Rule::Best => best,
        }
    }
}

/// The clusters of one label, in the order they began, and their members, those of one after those of the other.
struct Label {
    clusters: Vec<Cluster>,
    members: Vec<u32>,
}

/// Up to so many clusters are looked at one by one.
const FEW: usize = 48;

impl Label {
    fn fuse(given: &Models<'_>, members: &[u32], threshold: f64, clusters: Clusters) -> Self {
        let bound = Bound::new(Reference::Larger, threshold);
        let mut found: Vec<Cluster> = Vec::new();
        let mut cluster_of = Vec::with_capacity(members.len());
        let mut cells = None;
        for &number in members {
            ask_after(1);
            let (corners, score) = (given.boxes[number as usize], given.scores[number as usize]);
            let (best, overlap) = closest(&found, cells.as_mut(), &bound, threshold, corners);
            if let Some(best) = best {
                let cluster = &mut found[best as usize];
                cluster_of.push(best);
                match clusters {
                    Clusters::Fixed => cluster.add(corners, score * overlap),
                    Clusters::Moving => {
                        cluster.add(corners, score);
                        cluster.corners = cluster.weighted();
                        if let Some(cells) = &mut cells {
                            cluster.settle(cells, best);
                        }
                    }
                }
                continue;
            }
            cluster_of.push(found.len() as u32);
            found.push(Cluster::new(corners, score));
            match &mut cells {
                None if found.len() <= FEW => {}
                None => {
                    let mut all = Cells::default();
                    for (number, cluster) in found.iter_mut().enumerate() {
                        cluster.settle(&mut all, number as u32);
                    }
                    cells = Some(all);
                }
                Some(cells) => {
                    let number = found.len() - 1;
                    found[number].settle(cells, number as u32);
                }
            }
        }
        // Of each cluster, the best member stays first.
        let ordered = by_key(cluster_of.into_iter().map(u64::from));
        Self { clusters: found, members: ordered.into_iter().map(|place| members[place as usize]).collect() }
    }
}

impl Cluster {
    /// Puts the cluster where it belongs now. Without an area it overlaps nothing and belongs nowhere.
    fn settle(&mut self, cells: &mut Cells, number: u32) {
        let [x1, y1, x2, y2] = self.corners;
        let place = (x2 > x1 && y2 > y1).then(|| Cells::place(self.corners));
        if place == self.place {
            return;
        }
        if let Some(old) = self.place {
            cells.remove(old, number);
        }
        if let Some(new) = place {
            cells.insert(new, number);
        }
        self.place = place;
    }
}

/// The cluster with the largest IoU above the threshold, the first of equals, and that IoU.
fn closest(
    clusters: &[Cluster],
    cells: Option<&mut Cells>,
    bound: &Bound,
    threshold: f64,
    corners: [f64; 4],
) -> (Option<u32>, f64) {
    let (mut best, mut most) = (None, threshold);
    let [x1, y1, x2, y2] = corners;
    if x1 == x2 || y1 == y2 {
        return (best, most);
    }
    let mut see = |number: u32| {
        let other = &clusters[number as usize].corners;
        // Most do not even touch: four comparisons instead of a division.
        if other[0] >= x2 || other[2] <= x1 || other[1] >= y2 || other[3] <= y1 {
            return;
        }
        let overlap = single(Variant::Iou, other, &corners);
        // Cells show clusters in any order.
        if overlap > most || (overlap == most && best.is_some_and(|best| number < best)) {
            (best, most) = (Some(number), overlap);
        }
    };
    // Where areas underflow, the bound of the sides does not hold.
    let bounded = Bound::is_exact::<f64>((x2 - x1) * (y2 - y1) * threshold * threshold);
    let seen = bounded && cells.is_some_and(|cells| cells.near(bound, corners, &mut see));
    if !seen {
        (0..clusters.len() as u32).for_each(&mut see);
    }
    (best, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    /// Boxes that crowd around a few places, of very different sizes, by a simple generator.
    fn crowd(count: usize) -> (Vec<[f64; 4]>, Vec<f64>) {
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24)
        };
        (0..count)
            .map(|_| {
                let size = f64::powi(2.0, (next() * 6.0) as i32);
                let (x, y) = ((next() * 60.0).floor() * 4.0 + next(), (next() * 60.0).floor() * 4.0 + next());
                ([x, y, x + size * (1.0 + next()), y + size * (1.0 + next())], (next() * 64.0).floor() / 64.0)
            })
            .unzip()
    }

    /// The same by looking at every cluster.
    fn plainly(boxes: &[[f64; 4]], scores: &[f64], threshold: f64) -> Vec<([f64; 4], usize)> {
        let mut order: Vec<usize> = (0..boxes.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut clusters: Vec<([f64; 4], Vec<usize>)> = Vec::new();
        for number in order {
            let (mut best, mut most) = (None, threshold);
            for (k, (corners, _)) in clusters.iter().enumerate() {
                let overlap = single(Variant::Iou, corners, &boxes[number]);
                if overlap > most {
                    (best, most) = (Some(k), overlap);
                }
            }
            let Some(best) = best else {
                clusters.push((boxes[number], vec![number]));
                continue;
            };
            clusters[best].1.push(number);
            let weight: f64 = clusters[best].1.iter().map(|&k| scores[k]).sum();
            if weight > 0.0 {
                let mean = |x: usize| clusters[best].1.iter().map(|&k| scores[k] * boxes[k][x]).sum::<f64>() / weight;
                clusters[best].0 = [0, 1, 2, 3].map(mean);
            }
        }
        clusters.into_iter().map(|(corners, members)| (corners, members.len())).collect()
    }

    #[test]
    fn cells_find_what_a_search_of_all_finds() {
        let (boxes, scores) = crowd(4_000);
        let (labels, models) = (vec![0; boxes.len()], vec![0; boxes.len()]);
        for threshold in [0.0, 0.1, 0.3, 0.55, 0.9] {
            let given = Models { boxes: &boxes, scores: &scores, labels: &labels, models: &models, weights: &[1.0] };
            let fused = fuse(given, threshold, Clusters::Moving, Rule::Best, 1);
            let mut expected = plainly(&boxes, &scores, threshold);
            assert_eq!(fused.boxes.len(), expected.len(), "{threshold}");
            let mut counts = vec![0; expected.len()];
            for &cluster in &fused.clusters {
                counts[cluster as usize] += 1;
            }
            let mut got: Vec<_> = fused.boxes.into_iter().zip(counts).collect();
            for set in [&mut got, &mut expected] {
                set.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
            }
            assert_eq!(got, expected, "{threshold}");
        }
    }

    #[test]
    fn threads_change_nothing() {
        let (boxes, scores) = crowd(6_000);
        let labels: Vec<i64> = (0..6_000).map(|k| k % 7).collect();
        let models: Vec<i64> = (0..6_000).map(|k| k % 3).collect();
        let given =
            Models { boxes: &boxes, scores: &scores, labels: &labels, models: &models, weights: &[1.0, 2.0, 0.5] };
        for rule in [Rule::Average, Rule::BoxAndModelAverage, Rule::AbsentModelAwareAverage] {
            let one = fuse(given, 0.5, Clusters::Fixed, rule, 1);
            assert_eq!(one, fuse(given, 0.5, Clusters::Fixed, rule, 3));
            assert!(one.scores.is_sorted_by(|a, b| a >= b));
        }
    }
}
