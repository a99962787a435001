//! `ioukit._core`: registers the functions that Python calls. One file per subject; nothing here computes.
//!
//! Python checks the arguments and raises the errors; these functions take one dtype, contiguous and read-only.

mod ahead;
mod arrays;
mod assignment;
mod coco;
mod curves;
mod detached;
mod evaluation;
mod formats;
mod fusion;
mod influence;
mod join;
mod losses;
mod nms;
mod overlap;
mod plain;
mod records;
mod regions;
mod replicates;
mod tracks;

use std::alloc::System;

use ioukit_core::spare::Sparing;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Sparing<System> = Sparing(System);

// Nothing here was tried on a Python without the lock, which then turns it on, with a warning, for this module.
#[pymodule(gil_used = true)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::ahead::{read_coco_ahead, stop_reading_ahead};
    #[pymodule_export]
    use super::assignment::{assign_rows, highest_pairs};
    #[pymodule_export]
    use super::coco::{
        box_problem, find_coco_parts, known_detections, read_coco_detections, read_coco_ground_truth,
        read_coco_keypoints, read_coco_mask_areas, read_coco_masks, read_text, settle_annotations, unique_rows,
    };
    #[pymodule_export]
    use super::curves::{CurveDrawer, accumulate, curve_points, order_by_category, sums_by_category};
    #[pymodule_export]
    use super::evaluation::{match_detections, pairs_of_images, step_curves};
    #[pymodule_export]
    use super::formats::{
        find_csv_parts, read_csv, read_csv_rows, read_image_sizes, read_number_lines, read_voc_annotations,
    };
    #[pymodule_export]
    use super::fusion::{fuse_boxes, settle_pairs, soft_nms};
    #[pymodule_export]
    use super::influence::leave_one_out;
    #[pymodule_export]
    use super::join::overlap_join;
    #[pymodule_export]
    use super::losses::loss_gradient;
    #[pymodule_export]
    use super::nms::{best_candidates, nms_first_suppressors, nms_of_pairs, nms_survivors};
    #[pymodule_export]
    use super::overlap::{elementwise, first_invalid, pairwise, simd_levels, thread_count};
    #[pymodule_export]
    use super::plain::{plain_matches, plain_nms, plain_pairwise};
    #[pymodule_export]
    use super::records::{complete_boxes, record_columns};
    #[pymodule_export]
    use super::regions::boxes3d::{boxes3d_elementwise, boxes3d_pairs, boxes3d_pairwise};
    #[pymodule_export]
    use super::regions::concave::{simple_polygon_pairs, simple_polygon_squared_windings};
    #[pymodule_export]
    use super::regions::convex::{hull_giou, polygon_elementwise, polygon_pairs, polygon_pairwise};
    #[pymodule_export]
    use super::regions::keypoints::{keypoint_bounds, keypoint_exponents, keypoint_means, keypoints_may_reach};
    #[pymodule_export]
    use super::regions::masks::conversion::{
        masks_from_boxes, masks_from_pixels, masks_from_polygons, masks_from_rle, masks_to_pixels, masks_to_rle,
        rle_areas, rle_bounds, rle_merge,
    };
    #[pymodule_export]
    use super::regions::masks::{
        coco_box_iou, mask_areas, mask_bounds, masks_boundary, masks_elementwise, masks_merge, masks_pairs,
        masks_pairwise,
    };
    #[pymodule_export]
    use super::regions::rotated::{
        rotated_bounds, rotated_corners, rotated_elementwise, rotated_pairs, rotated_pairwise,
    };

    #[pymodule_export]
    use super::replicates::replicate;
    #[pymodule_export]
    use super::tracks::{count_tracks, pair_frames};

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        super::detached::note_panics();
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
