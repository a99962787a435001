// The curves of precision and recall, and the numbers at the score threshold.

function startOperating() {
  if (!CURVES) return;
  const slider = byId("score"), count = SCORES.length;
  for (const select of document.querySelectorAll("select.class-choice")) {
    select.append(element("option", { value: 0 }, "All classes"),
      ...DATA.classes.map((name, k) => element("option", { value: k + 1 }, name)));
    select.addEventListener("change", () => choose({ row: Number(select.value) }));
  }
  byId("best").addEventListener("click", () => choose({ position: CURVES.rows[chosen.row].best }));

  const all = () => CURVES.scores.map((_, position) => CURVES.point(chosen.row, position));
  let points = all();
  const scores = SCORES;
  const low = scores[count - 1], high = scores[0];
  const inside = low >= 0 && high <= 1;
  const range = inside || low === high ? [Math.min(0, low), Math.max(1, high)] : [low, high];
  const nearest = (distance) => {
    let best = 0;
    points.forEach((point, position) => { if (distance(point) < distance(points[best])) best = position; });
    return best;
  };

  function numbers() {
    const now = points[chosen.position];
    slider?.setAttribute("aria-valuetext", `score ${score(now.score)}: precision ${spoken(now.precision)}, `
      + `recall ${spoken(now.recall)}, F1 ${spoken(now.f1)}`);
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
      label: `Precision over recall of ${where} at ${DATA.overlap} ${CURVES.iou}. At score ${score(now.score)}: recall `
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
  const rows = () => [["score threshold", "precision", "recall", "F1", "TP", "FP", "FN"],
    ...points.map((point) => [point.score, point.precision, point.recall, point.f1, point.tp, point.fp, point.fn])];
  downloads(byId("pr-downloads"), "precision_recall", "precision over recall", { rows, drawing: () => byId("pr-chart").querySelector("svg") });
  downloads(byId("f1-downloads"), "scores", "precision, recall and F1 over the score threshold", { rows, drawing: () => byId("f1-chart").querySelector("svg") });
  const command = (outcome) => () => [...rowFilters(), ["outcome", outcome], ...thresholdFilters()];
  for (const outcome of ["tp", "fp", "fn"]) {
    const button = commandButton(command(outcome), WORDS.outcomes[outcome]);
    if (button) byId(`command-${outcome}`).append(button);
  }
}
