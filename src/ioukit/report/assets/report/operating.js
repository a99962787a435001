// Curves with a slider.

const CURVES = makeCurves(DATA.curves);
// row 0: all classes together, row k + 1: class k. position: that of the score; 0 is the highest score.
const chosen = { row: 0, position: CURVES ? CURVES.start : 0 };
const listeners = [];

function choose(change) {
  const rowChanged = change.row !== undefined && change.row !== chosen.row;
  Object.assign(chosen, change);
  for (const listener of listeners) listener(rowChanged);
}

const rowName = (row) => (row === 0 ? "All classes" : DATA.classes[row - 1]);
const rowLabel = (row) => (row === 0 ? "all classes together" : `class ${DATA.classes[row - 1]}`);

function startOperating() {
  if (!CURVES) return;
  const slider = byId("score");
  const count = CURVES.scores.length;
  // The score threshold rises to the right.
  const across = (position) => count - 1 - position;
  slider.max = String(count - 1);
  for (const select of document.querySelectorAll("select.class-choice")) {
    select.append(element("option", { value: 0 }, "All classes"),
      ...DATA.classes.map((name, k) => element("option", { value: k + 1 }, name)));
    select.addEventListener("change", () => choose({ row: Number(select.value) }));
  }
  slider.addEventListener("input", () => choose({ position: across(Number(slider.value)) }));
  byId("best").addEventListener("click", () => choose({ position: CURVES.rows[chosen.row].best }));

  const all = () => CURVES.scores.map((_, position) => CURVES.point(chosen.row, position));
  let points = all();
  const scores = CURVES.scores;
  const inside = scores[count - 1] >= 0 && scores[0] <= 1;
  const range = inside ? [0, 1] : [scores[count - 1], scores[0]];
  const nearest = (distance) => {
    let best = 0;
    points.forEach((point, position) => { if (distance(point) < distance(points[best])) best = position; });
    return best;
  };

  function numbers() {
    const now = points[chosen.position];
    slider.value = String(across(chosen.position));
    slider.setAttribute("aria-valuetext", `score ${score(now.score)}: precision ${spoken(now.precision)}, `
      + `recall ${spoken(now.recall)}, F1 ${spoken(now.f1)}`);
    slider.dataset.score = String(now.score);
    byId("score-now").textContent = score(now.score);
    const shown = { precision: fixed(now.precision, 4), recall: fixed(now.recall, 4), f1: fixed(now.f1, 4),
      tp: whole(now.tp), fp: whole(now.fp), fn: whole(now.fn) };
    for (const [key, text] of Object.entries(shown)) byId(`now-${key}`).textContent = text;
    byId("best").disabled = !(CURVES.rows[chosen.row].best >= 0) || chosen.position === CURVES.rows[chosen.row].best;
    const { n } = CURVES.rows[chosen.row];
    byId("now-words").replaceChildren(
      n === 0 ? element("span", {}, named(rowName(chosen.row)), " has no objects, so recall is undefined.")
        : element("span", {}, named(rowName(chosen.row)), `: ${whole(now.tp)} of ${plural(n, "object")} found; `
          + `${whole(now.fp)} of ${plural(now.tp + now.fp, "detection")} false.`));
  }

  function curvesNow() {
    const now = points[chosen.position];
    const where = rowLabel(chosen.row);
    lineChart(byId("pr-chart"), {
      label: `Precision over recall of ${where} at IoU ${CURVES.iou}. At score ${score(now.score)}: recall `
        + `${spoken(now.recall)}, precision ${spoken(now.precision)}.`,
      x: { title: "recall", low: 0, high: 1 }, y: { title: "precision", low: 0, high: 1 }, iso: [0.2, 0.4, 0.6, 0.8],
      series: [{ style: "", points: points.map((point) => [point.recall, point.precision]) }],
      dots: [{ style: "", x: now.recall, y: now.precision }],
      pick: (recall, precision) => choose({ position: nearest((point) => {
        const far = (point.recall - recall) ** 2 + (point.precision - precision) ** 2;
        return Number.isFinite(far) ? far : Infinity;
      }) }),
    });
    lineChart(byId("f1-chart"), {
      label: `Precision, recall and F1 of ${where} over the score threshold. At score ${score(now.score)}: precision `
        + `${spoken(now.precision)}, recall ${spoken(now.recall)}, F1 ${spoken(now.f1)}.`,
      x: { title: "score threshold", low: range[0], high: range[1] }, y: { title: "", low: 0, high: 1 }, cursor: now.score,
      series: ["precision", "recall", "f1"].map((key) => ({
        style: `s-${key}`, points: points.map((point) => [point.score, point[key]]) })),
      dots: ["precision", "recall", "f1"].map((key) => ({ style: `s-${key}`, x: now.score, y: now[key] })),
      pick: (wanted) => choose({ position: nearest((point) => Math.abs(point.score - wanted)) }),
    });
  }

  function table() {
    const stride = Math.max(1, Math.ceil(count / 40));
    const kept = points.filter((_, position) => position % stride === 0 || position === count - 1);
    chartTable(byId("curve-table"), `Precision, recall and F1 of ${rowLabel(chosen.row)}`,
      ["score ≥", "precision", "recall", "F1", "TP", "FP", "FN"],
      kept.map((point) => [score(point.score), fixed(point.precision), fixed(point.recall), fixed(point.f1),
        whole(point.tp), whole(point.fp), whole(point.fn)]));
  }

  legend(byId("f1-legend"), [["precision", "s-precision"], ["recall", "s-recall"], ["F1", "s-f1"]]);
  const fold = byId("curve-fold");
  fold.addEventListener("toggle", () => { if (fold.open) table(); });
  listeners.push((rowChanged) => {
    if (rowChanged) {
      points = all();
      for (const select of document.querySelectorAll("select.class-choice")) select.value = String(chosen.row);
      if (fold.open) table();
    }
    numbers();
    curvesNow();
  });
  numbers();
  drawnToFit(byId("pr-chart"), curvesNow);
}

function startByIou() {
  const holder = byId("iou-chart");
  if (!holder) return;
  const { thresholds, mean, classes } = DATA.byIou;
  const draw = () => {
    const row = chosen.row;
    const series = row === 0 ? [["mean over classes", mean, ""]]
      : [[named(rowName(row)), classes[row - 1], ""], ["mean over classes", mean, "s-mean"]];
    const numbers = series[0][1].map((value) => (value === null ? NaN : value));
    const first = numbers[0], last = numbers[numbers.length - 1];
    const only = thresholds.length === 1;
    legend(byId("iou-legend"), series.map(([text, , style]) => [text, style]));
    lineChart(holder, {
      label: `AP of ${row === 0 ? "the mean over classes" : rowLabel(row)} over the IoU threshold: ${spoken(first)} at `
        + `${fixed(thresholds[0], 2)}${only ? "" : `, ${spoken(last)} at ${fixed(thresholds[thresholds.length - 1], 2)}`}.`,
      x: { title: "IoU threshold", low: only ? thresholds[0] - 0.05 : thresholds[0],
        high: only ? thresholds[0] + 0.05 : thresholds[thresholds.length - 1] },
      y: { title: "AP", low: 0, high: 1 },
      series: series.map(([, values, style]) => ({ style, dots: true,
        points: values.map((value, k) => [thresholds[k], value === null ? NaN : value]) })),
    });
    chartTable(byId("iou-table"), "AP by IoU threshold", ["IoU", ...series.map(([text]) => (typeof text === "string" ? text : text.cloneNode(true)))],
      thresholds.map((threshold, k) => [fixed(threshold, 2), ...series.map(([, values]) => (values[k] === null ? "–" : fixed(values[k])))]));
  };
  listeners.push((rowChanged) => { if (rowChanged) draw(); });
  drawnToFit(holder, draw);
}
