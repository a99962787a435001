"""One overlap (IoU, Jaccard index) engine for the whole life of an object detector.

    import ioukit

    ev = ioukit.evaluate("ground_truth.json", "detections.json")    # files of any format, folders, data in memory
    ev.summary["AP"]                        the numbers; print(ev.table()) as pycocotools prints them
    ev.interval("AP")                       how sure is it?
    ev.compare(other)                       is the other model better, and what changed?
    ev.error_kinds(), ev.confusion()        which errors?    ev.worst_images()    where?
    ev.report("report.html")                one page to look at    ev.figure("precision_recall")

    ioukit.view(ev, "images/")              look through it in the browser
    ioukit.pairwise_iou(boxes1, boxes2)     overlaps, also GIoU, masks, rotated boxes, boxes in space
    ioukit.nms(boxes, scores, 0.5)          which boxes survive
    ioukit.checks.check(gt, dt)             what looks wrong with the data?

Packages by question: evaluation, statistics, comparison, operating, slices, label_errors, checks, inspection, plots,
report, viewer, datasets, overlap, postprocess, losses, anchors, assign, torch, scale, runs, experiment_logs, compat.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
