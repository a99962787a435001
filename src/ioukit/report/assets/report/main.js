// Start all parts, after all of them are defined.

const LOOK = outcomesLook(DATA.images.some(({ boxes = [] }) => boxes.some((kind, k) => k % 7 === 0 && kind >= 4)));

// The filters of the viewer that say at which thresholds a number was counted.
function thresholdFilters() {
  return [...(DATA.ranks ? [["at_score", String(SCORES[chosen.position])]] : []), ["at_iou", String(DATA.iou)]];
}

// With a class-agnostic protocol the curves have one class, which is none of the names.
function rowFilters() {
  return chosen.row && DATA.classes.length === DATA.names.length ? [["class", classFilter(chosen.row - 1)]] : [];
}

startFolds();
startThreshold();
startOperating();
startByIou();
startClassTable(CURVES && ((position) => {
  choose({ row: position + 1 });
  byId("curves").scrollIntoView();
  byId("class").focus({ preventScroll: true });
}));
startLarge();
startMatrix();
startErrors();
startSizes();
startHistograms();
startImages();
startStory();
downloads(byId("numbers-downloads"), "summary", "all numbers", { rows: () => tableRows(byId("numbers-table")) });
if (byId("class-table")) downloads(byId("class-downloads"), "classes", "table of the classes", { rows: () => tableRows(byId("class-table")) });
startHints();
document.documentElement.setAttribute("data-ready", "");
