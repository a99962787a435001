// One score threshold for each of the two models. Everything that depends on them listens.

const CURVES = SIDES.map((side) => makeCurves(DATA.curves && DATA.curves[side]));
// position: that of the score of each model, 0 is the highest. row: 0 all classes together, k + 1 the k-th listed class.
const chosen = { positions: CURVES.map((curves, side) => (curves ? DATA.starts[side] : 0)), row: 0 };
const listeners = [];

let waiting = false;
function choose(change) {
  Object.assign(chosen, change);
  if (waiting) return;
  waiting = true; // a slider reports more often than a screen can draw
  requestAnimationFrame(() => {
    waiting = false;
    for (const listener of listeners) listener();
  });
}

const scoreAt = (side) => (CURVES[side] ? CURVES[side].scores[chosen.positions[side]] : NaN);
const pointAt = (side, row = chosen.row) => (CURVES[side] ? CURVES[side].point(row, chosen.positions[side]) : null);
const rowName = () => (chosen.row === 0 ? "all classes together" : `class ${DATA.curves.classes[chosen.row - 1]}`);

// The filters of the viewer that choose what a number of a side counts, at its score threshold.
const sideFilters = (side, outcome) => [["model", MODELS[side]], ["outcome", outcome],
  ...(chosen.row ? [["class", classFilter(DATA.names.indexOf(DATA.curves.classes[chosen.row - 1]))]] : []),
  ...(DATA.ranks ? [["at_score", String(scoreAt(side))]] : []), ["at_iou", String(DATA.iou)]];

// Every slider of a side shows the same threshold.
function startSlider(slider, output, side) {
  const curves = CURVES[side];
  slider.disabled = !curves;
  if (!curves) {
    output.textContent = "–";
    return;
  }
  const last = curves.scores.length - 1; // the score threshold rises to the right
  slider.max = String(last);
  const show = () => {
    const now = pointAt(side, 0);
    slider.value = String(last - chosen.positions[side]);
    slider.dataset.score = String(now.score);
    slider.setAttribute("aria-valuetext", `score ${score(now.score)}: ${plural(now.tp, "true positive")}, `
      + `${plural(now.fp, "false positive")}, ${whole(now.fn)} missed`);
    output.textContent = score(now.score);
  };
  slider.addEventListener("input", () => {
    const positions = [...chosen.positions];
    positions[side] = last - Number(slider.value);
    choose({ positions });
  });
  listeners.push(show);
  show();
}

function startSliders() {
  SIDES.forEach((name, side) => startSlider(byId(`score-${name}`), byId(`score-${name}-now`), side));
  byId("best").addEventListener("click", () => choose({ positions: CURVES.map((curves, side) => {
    const best = curves ? curves.rows[chosen.row].best : 0;
    return best >= 0 ? best : chosen.positions[side];
  }) }));
  byId("start").addEventListener("click", () => choose({ positions: [...DATA.starts] }));
}

function startThresholds() {
  if (!DATA.curves) return;
  if (DATA.ranks) startSliders();
  const select = byId("class");
  select.append(element("option", { value: 0 }, "All classes"),
    ...DATA.curves.classes.map((name, k) => element("option", { value: k + 1 }, name)));
  select.addEventListener("change", () => choose({ row: Number(select.value) }));

  SIDES.forEach((_, side) => ["tp", "fp", "fn"].forEach((outcome) => {
    const button = commandButton(() => sideFilters(side, outcome), "", `${WORDS.outcomes[outcome]}s of ${LETTERS[side]}`);
    if (button) byId("curve-commands").append(button);
  }));

  const KEYS = ["precision", "recall", "f1", "tp", "fp", "fn"];
  function numbers() {
    const points = SIDES.map((_, side) => pointAt(side));
    for (const key of KEYS) {
      const write = (value) => (!Number.isFinite(value) ? "–" : KEYS.indexOf(key) < 3 ? fixed(value) : whole(value));
      const [one, other] = points.map((point) => (point ? point[key] : NaN));
      byId(`a-${key}`).textContent = write(one);
      byId(`b-${key}`).textContent = write(other);
      byId(`d-${key}`).textContent = KEYS.indexOf(key) < 3 ? inPoints(other - one) : signedCount(other - one);
    }
  }
  function charts() {
    const lines = CURVES.map((curves, side) => (curves ? curves.scores.map((_, position) => curves.point(chosen.row, position)) : []));
    const now = SIDES.map((_, side) => pointAt(side) || {});
    const told = SIDES.map((_, side) => `${LETTERS[side]}: precision ${spoken(now[side].precision)}, recall ${spoken(now[side].recall)}`);
    const styles = ["s-a", "s-b"];
    lineChart(byId("pr-chart"), {
      label: `Precision over recall of both models, ${rowName()}, at ${DATA.overlap} ${DATA.iou}. At the chosen thresholds: ${told.join("; ")}.`,
      x: { title: "recall", low: 0, high: 1 }, y: { title: "precision", low: 0, high: 1 }, iso: [0.2, 0.4, 0.6, 0.8],
      series: lines.map((points, side) => ({ style: styles[side], points: points.map((point) => [point.recall, point.precision]) })),
      dots: now.map((point, side) => ({ style: styles[side], x: point.recall, y: point.precision })),
    });
    const ends = CURVES.filter(Boolean).flatMap(({ scores }) => [scores[0], scores[scores.length - 1]]);
    const inside = ends.every((value) => value >= 0 && value <= 1);
    lineChart(byId("f1-chart"), {
      label: `F1 of both models over the score threshold, ${rowName()}. At the chosen thresholds: `
        + `${SIDES.map((_, side) => `${LETTERS[side]} ${spoken(now[side].f1)}`).join(", ")}.`,
      x: { title: "score threshold", low: inside ? 0 : Math.min(...ends), high: inside ? 1 : Math.max(...ends) },
      y: { title: "F1", low: 0, high: 1 },
      series: lines.map((points, side) => ({ style: styles[side], points: points.map((point) => [point.score, point.f1]) })),
      dots: now.map((point, side) => ({ style: styles[side], x: point.score, y: point.f1 })),
    });
    if (byId("curve-fold").open) table(lines);
  }
  function table(lines) {
    const rows = lines.flatMap((points, side) => {
      const stride = Math.max(1, Math.ceil(points.length / 30));
      return points.filter((_, position) => position % stride === 0 || position === points.length - 1).map((point) =>
        [LETTERS[side], score(point.score), fixed(point.precision), fixed(point.recall), fixed(point.f1)]);
    });
    chartTable(byId("curve-table"), `Precision, recall and F1 of both models, ${rowName()}`, ["model", "score ≥", "precision", "recall", "F1"], rows);
  }
  listeners.push(numbers);
  numbers();
  if (!DATA.ranks) return; // then there is no curve
  for (const id of ["pr-legend", "f1-legend"]) {
    legend(byId(id), SIDES.map((name, side) => [element("span", {}, `${LETTERS[side]} `, named(MODELS[side])), `s-${name}`]));
  }
  byId("curve-fold").addEventListener("toggle", charts);
  listeners.push(charts);
  drawnToFit(byId("pr-chart"), charts);
}

const signedCount = (value) => (!Number.isFinite(value) ? "–" : value === 0 ? "0" : `${value > 0 ? "+" : "−"}${whole(Math.abs(value))}`);
