//! Memory that ends, at every request: the call ends, or has the same result as with all memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Debug;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use ioukit_core::coco::{Dialect, OnInvalid, Source, read_detections, read_ground_truth};
use ioukit_core::coordinate::Coordinate;
use ioukit_core::ending::{Ending, endable};
use ioukit_core::evaluation::{
    Areas, CapScope, Choice, Detections, Drawing, LeftOut, Objects, Outcomes, Quantity, Reading, Rules, Scene, Table,
    accumulate, influence, match_detections, regions, replicates,
};
use ioukit_core::formats::csv::{self, Choice as Fields, Kind};
use ioukit_core::formats::{number_lines, voc};
use ioukit_core::fusion::{Clusters, Models, Rule as Fusing, fuse};
use ioukit_core::join::Set;
use ioukit_core::join::Threshold;
use ioukit_core::nms::soft::Decay;
use ioukit_core::nms::{Rule, Scores};
use ioukit_core::overlap::Variant;
use ioukit_core::overlap::areas::AreaMeasure;
use ioukit_core::regions::rle::{Size, boundary, overlap, polygon};
use ioukit_core::regions::rotated::{self, Rectangles, Turn};
use ioukit_core::spare::Sparing;
use ioukit_core::threads::with_threads;

/// The system's memory, of which requests from the `FIRST`th to the `LAST`th are refused.
struct Refusing;

static ASKED: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(usize::MAX);
static LAST: AtomicUsize = AtomicUsize::new(usize::MAX);

impl Refusing {
    fn refuses(&self) -> bool {
        let number = ASKED.fetch_add(1, Ordering::Relaxed);
        (FIRST.load(Ordering::Relaxed)..=LAST.load(Ordering::Relaxed)).contains(&number)
    }
}

// SAFETY: it does what the system's allocator does, or refuses.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        if self.refuses() { null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        if self.refuses() { null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        if self.refuses() { null_mut() } else { unsafe { System.realloc(memory, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: Sparing<Refusing> = Sparing(Refusing);

fn never() -> bool {
    false
}

/// What `work` does if the requests from `first` to `last` are refused, and how often it asks.
fn outcome<R>(first: usize, last: usize, work: &impl Fn() -> R) -> (Result<R, Ending>, usize) {
    FIRST.store(first, Ordering::Relaxed);
    LAST.store(last, Ordering::Relaxed);
    ASKED.store(0, Ordering::Relaxed);
    let found = endable(never, work);
    let asked = ASKED.load(Ordering::Relaxed);
    FIRST.store(usize::MAX, Ordering::Relaxed);
    (found, asked)
}

/// How many requests of a call are refused, one after the other.
const REFUSALS: usize = 25;

fn check<R: Debug>(name: &str, work: impl Fn() -> R) {
    let text = |found: &R| format!("{found:?}");
    let (found, _) = outcome(usize::MAX, usize::MAX, &work);
    let expected = text(&found.expect("there is memory"));
    let (_, asked) = outcome(usize::MAX, usize::MAX, &work); // threads that are kept have started
    let (mut ended, step) = (0, asked.div_ceil(REFUSALS).max(1));
    for first in (0..asked).step_by(step) {
        // One request alone, or all from there on.
        for last in [first, usize::MAX - 1] {
            match outcome(first, last, &work).0 {
                Ok(found) => assert_eq!(text(&found), expected, "{name}, {first} to {last} of {asked}"),
                Err(ending) => {
                    assert_eq!(ending, Ending::OutOfMemory, "{name}, {first} to {last} of {asked}");
                    ended += 1;
                }
            }
        }
    }
    assert!(asked == 0 || ended > 0, "{name} never ended");
    assert_eq!(text(&outcome(usize::MAX, usize::MAX, &work).0.expect("memory is back")), expected, "{name}");
}

/// Numbers between 0 and 1 that look random.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    }
}

fn corners(count: usize) -> Vec<[f64; 4]> {
    let mut next = random(7);
    (0..count)
        .map(|_| {
            let (x, y) = (600.0 * next(), 600.0 * next());
            [x, y, x + 5.0 + 60.0 * next(), y + 5.0 + 60.0 * next()]
        })
        .collect()
}

fn rules() -> Rules<'static> {
    Rules {
        thresholds: &[0.5, 0.75],
        more_than: false,
        areas: &[[0.0, 1e10], [0.0, 1024.0]],
        max_detections: 100,
        cap_scope: CapScope::ImageAndCategory,
        class_agnostic: false,
        choice: Choice::BestFree,
        last_of_equal: true,
        leaves_out_empty: false,
        leaves_out_empty_objects: false,
        near: Some(0.1),
    }
}

/// Objects and detections beside them, and all that is computed of them.
fn evaluated(threads: usize) {
    const IMAGES: usize = 40;
    let (mut next, count) = (random(3), 600);
    let column = |below: usize, next: &mut dyn FnMut() -> f64| -> Vec<u32> {
        (0..count).map(|_| (below as f64 * next()) as u32).collect()
    };
    let (category, image) = (column(5, &mut next), column(IMAGES, &mut next));
    let boxes: Vec<[f64; 4]> = corners(count).iter().map(|&[x1, y1, x2, y2]| [x1, y1, x2 - x1, y2 - y1]).collect();
    let moved: Vec<[f64; 4]> = boxes.iter().map(|&[x, y, w, h]| [x + 4.0 * next(), y, w, h]).collect();
    let (score, area): (Vec<f64>, Vec<f64>) = boxes.iter().map(|[_, _, w, h]| (next(), w * h)).unzip();
    let scene = Scene {
        images: IMAGES,
        objects: Objects { category: &category, image: &image, area: &area, flags: &[], outside: &[] },
        detections: Detections { category: &category, image: &image, score: &score, area: Areas::OfBoxes(&moved) },
        verified: None,
    };
    let of_boxes = regions::Boxes { objects: &boxes, detections: &moved };
    let matching = || with_threads(threads, || match_detections(scene, &of_boxes, rules()));
    check("matching", || {
        let found = matching();
        let rows = found.detections;
        (rows.row, rows.rank, rows.matched, rows.ignored, found.objects.row, found.pairs.overlap, found.near.overlap)
    });
    let found = matching();
    let (rows, objects) = (&found.detections, &found.objects);
    let object_count = [60; 10];
    let outcomes = Outcomes {
        category: &rows.category,
        rank: &rows.rank,
        score: &rows.score,
        matched: &rows.matched,
        ignored: &rows.ignored,
        object_count: &object_count,
        ranges: 2,
        thresholds: 2,
    };
    let recalls: Vec<f64> = (0..101).map(|number| f64::from(number) / 100.0).collect();
    let drawing = || Drawing {
        recall_thresholds: recalls.clone().into(),
        caps: [100].into(),
        caps_over_all_images: false,
        plain_precision: false,
        area: None,
    };
    check("accumulate", || {
        let curves = with_threads(threads, || accumulate(outcomes, &drawing()));
        (curves.steps.precision, curves.steps.scores, curves.recall)
    });
    let weighed = replicates::Weighed {
        outcomes,
        image: &rows.image,
        object_category: &objects.category,
        object_image: &objects.image,
        object_ignored: &objects.ignored,
        images: IMAGES,
    };
    let weights: Vec<u16> = (0..8 * IMAGES).map(|number| (number * 7 % 3) as u16).collect();
    check("replicates", || {
        let numbers = [replicates::Reading::Recalls, replicates::Reading::Steps].map(|reading| replicates::Number {
            reading,
            range: 0,
            cap: 100,
            thresholds: [0, 1].into(),
            of_category: [true; 5].into(),
        });
        let rules =
            replicates::Rules { recall_thresholds: &recalls, plain_precision: false, zero_where_only_detected: false };
        with_threads(threads, || replicates::replicate(weighed, 8, &weights, &numbers, rules, false).values)
    });
    let mut near_starts = vec![0; rows.row.len() + 1];
    found.near.detection.iter().for_each(|&row| near_starts[row as usize + 1] += 1);
    (1..near_starts.len()).for_each(|row| near_starts[row] += near_starts[row - 1]);
    let widened = |rows: &[u32]| rows.iter().map(|&row| i64::from(row)).collect::<Vec<_>>();
    let (row, near_object) = (widened(&rows.row), widened(&found.near.object));
    let outside: Vec<bool> = rows.row.iter().map(|&row| area[row as usize] > 1e10).collect();
    let object_ignored = vec![false; objects.row.len()];
    let object_flags = vec![0; objects.row.len()];
    let table = Table {
        images: IMAGES,
        categories: 5,
        category: &rows.category,
        image: &rows.image,
        rank: &rows.rank,
        row: &row,
        score: &rows.score,
        matched: &rows.matched,
        ignored: &rows.ignored,
        special_of: &[],
        outside: &outside,
        object_category: &objects.category,
        object_image: &objects.image,
        object_flags: &object_flags,
        object_ignored: &object_ignored,
        unverified: &[],
        near_starts: &near_starts,
        near_object: &near_object,
        near_overlap: &found.near.overlap,
        ranges: 2,
        range: 0,
        cap: 100,
    };
    let reading = Reading {
        quantity: Quantity::Precisions,
        recall_thresholds: &recalls,
        plain_precision: false,
        zero_if_detected: false,
    };
    check("influence", || {
        let left_out = LeftOut::Images;
        with_threads(threads, || influence(table, rules(), reading, &[0, 1], &[true; 5], left_out))
            .map(|found| (found.total, found.mean, found.change))
            .map_err(|_| "inconsistent")
    });
}

fn boxes(threads: usize) {
    let boxes = corners(3_000);
    let mut next = random(5);
    let scores: Vec<f64> = boxes.iter().map(|_| next()).collect();
    let labels: Vec<i64> = (0..3_000).map(|number| number % 3).collect();
    let rule = || Rule::new(Variant::Iou, 0.3);
    check("nms", || f64::survivors(&boxes, Scores::Double(&scores), Some(&labels), rule(), None, threads));
    let set = |labels| Set { boxes: &boxes, labels };
    let threshold = || Threshold::new(Variant::Iou, 0.3).expect("a threshold");
    check("join", || {
        let pairs = f64::self_join(set(None), threshold(), threads);
        (pairs.rows, pairs.columns, pairs.values)
    });
    check("join of two sets", || {
        let other = Set { boxes: &boxes[..900], labels: Some(&labels[..900]) };
        let pairs = f64::join(set(Some(&labels)), other, threshold(), threads);
        (pairs.rows, pairs.columns, pairs.values)
    });
    check("first suppressors", || {
        let kept = Set { boxes: &boxes[..500], labels: None };
        f64::first_suppressors(kept, Set { boxes: &boxes[500..], labels: None }, rule(), threads)
    });
    check("soft nms", || {
        let pairs =
            f64::self_join(set(Some(&labels)), Threshold::new(Variant::Iou, 0.01).expect("a threshold"), threads);
        f64::soft_nms(&scores, &pairs, Decay::Gaussian { sigma: 0.5 }, 0.01, usize::MAX)
    });
    let models: Vec<i64> = (0..3_000).map(|number| number % 4).collect();
    let given =
        Models { boxes: &boxes, scores: &scores, labels: &labels, models: &models, weights: &[1.0, 2.0, 1.0, 1.0] };
    for clusters in [Clusters::Moving, Clusters::Fixed] {
        check("fusion", || fuse(given, 0.3, clusters, Fusing::Average, threads));
    }
}

fn masks(threads: usize) {
    let boxes = corners(120);
    let circle = |&[x1, y1, x2, y2]: &[f64; 4], points: usize| {
        (0..points).flat_map(move |number| {
            let (sin, cos) = (number as f64 * std::f64::consts::TAU / points as f64).sin_cos();
            [(x1 + x2 + (x2 - x1) * cos) / 2.0, (y1 + y2 + (y2 - y1) * sin) / 2.0]
        })
    };
    let numbers: Vec<f64> = boxes.iter().flat_map(|corners| circle(corners, 30)).collect();
    let rings: Vec<usize> = (0..=120).map(|number| 60 * number).collect();
    let parts: Vec<usize> = (0..=60).map(|number| 2 * number).collect();
    let sizes = [Size::new(660, 660).expect("a size"); 60];
    let polygons = polygon::Polygons { numbers: &numbers, rings: &rings, parts: &parts };
    check("masks of polygons", || polygon::masks(polygons, &sizes, threads));
    let list = polygon::masks(polygons, &sizes, 1).expect("polygons");
    let (rows, columns): (Vec<i64>, Vec<i64>) = (0..3_600).map(|pair| (pair / 60, pair % 60)).unzip();
    check("overlaps of masks", || overlap::pairs(AreaMeasure::Iou, list.view(), list.view(), &rows, &columns, threads));
    check("boundaries", || boundary::boundaries(list.view(), 0.02, threads));
    let turned: Vec<[f64; 5]> = boxes.iter().map(|&[x1, y1, x2, y2]| [x1, y1, x2 - x1, y2 - y1, x2]).collect();
    check("turned boxes", || {
        let boxes = Rectangles::new(&turned, Turn { degrees: true, clockwise: false });
        rotated::pairwise(AreaMeasure::Iou, &boxes, &boxes, threads)
    });
}

fn files(threads: usize, folder: &Path) {
    let mut next = random(1);
    let records: String = (0..4_000)
        .map(|number| {
            let score = next();
            format!(
                r#"{{"image_id": {}, "category_id": 1, "bbox": [1, 2.5, {number}, 7], "score": {score}, "name": "\u00e4"}},"#,
                number / 9
            )
        })
        .collect();
    let records = format!("[{}]", &records[..records.len() - 1]);
    let detections = folder.join("detections.json");
    std::fs::write(&detections, &records).expect("a file");
    let text = |found: Result<_, ioukit_core::coco::ReadError>| found.map_err(|error| format!("{error:?}"));
    check("detections", || {
        let source = Source::open(&detections).expect("it is there");
        text(read_detections(&source, OnInvalid::Error, false, threads).map(|found| (found.image_ids, found.boxes)))
    });
    let annotations = records.replace("\"score\"", "\"id\": 1, \"area\": 3, \"iscrowd\"").replace("0.", "");
    let truth = format!(
        r#"{{"images": [{{"id": 0, "file_name": "a\tb.jpg"}}], "categories": [{{"id": 1, "name": "x"}}], "annotations": {}}}"#,
        annotations.replace(r#""iscrowd": "#, r#""iscrowd": 0, "x": "#)
    );
    let source = Source::Memory(truth.into_bytes().into());
    check("ground truth", || {
        let found = read_ground_truth(&source, OnInvalid::Error, Dialect::Coco, threads);
        found.map(|found| (found.images.names.bytes, found.annotations.boxes)).map_err(|error| format!("{error:?}"))
    });
    let rows: String = (0..3_000).map(|row| format!("image{},{row},\"a\"\"{row}\",0.5\n", row / 7)).collect();
    let table = folder.join("table.csv");
    std::fs::write(&table, rows).expect("a file");
    let choice = Fields {
        fields: 4,
        delimiter: b',',
        header: false,
        columns: &[(0, Kind::Text), (1, Kind::Number), (2, Kind::Text)],
    };
    check("csv", || csv::read(&table, choice, threads).map_err(|_| "no table"));
    let paths: Vec<_> = (0..70).map(|number| folder.join(format!("{number}.txt"))).collect();
    paths.iter().for_each(|path| std::fs::write(path, "0 0.5 0.5 0.25 0.25\n1 0.5 x\n".repeat(20)).expect("a file"));
    check("lines of numbers", || {
        let found = number_lines::read(&paths, 0, number_lines::Between::Space, threads);
        (found.numbers, found.ends, found.lines, found.problems.count)
    });
    let object = "<object><name>c&amp;t</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>9</ymax></bndbox></object>";
    let voc_file = format!("<annotation><filename>a.jpg</filename>{}</annotation>", object.repeat(9));
    paths.iter().for_each(|path| std::fs::write(path, &voc_file).expect("a file"));
    check("voc", || {
        let found = voc::read(&paths, 0, 0.0, threads);
        (found.names, found.corners, found.classes.sorted(), found.bad_files.count)
    });
}

#[test]
fn a_call_ends_wherever_memory_ends() {
    let folder = std::env::temp_dir().join(format!("ioukit-out-of-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for threads in [1, 2] {
        boxes(threads);
        masks(threads);
        evaluated(threads);
        files(threads, &folder);
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
