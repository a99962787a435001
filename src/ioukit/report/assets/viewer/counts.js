// Counts, precision, recall and F1 of what is filtered, and the thresholds that they depend on.

const COUNT_TITLES = [["tp", "TP", "true positives"], ["fp", "FP", "false positives"], ["fn", "FN", "missed objects"],
  ["precision", "Precision", "TP / (TP + FP)"], ["recall", "Recall", "TP / (TP + FN)"], ["f1", "F1", "mean of precision and recall"]];
const countText = (counts, key) => (["tp", "fp", "fn"].includes(key) && Number.isFinite(counts[key]) ? whole(counts[key]) : fixed(counts[key] ?? NaN));
const NO_MISSED = "not defined under a range of scores: missed objects have no score";

function startCounts() {
  const holder = byId("numbers");
  if (!DATA.models.length) {
    holder.parentElement.hidden = true;
    return;
  }
  const cells = DATA.models.map(() => COUNT_TITLES.map(([key]) => element("span", { class: `value v-${key}` }, "–")));
  const many = DATA.models.length > 1;
  const head = element("tr", {}, many ? element("th", { scope: "col" }, "Model") : null,
    COUNT_TITLES.map(([key, title, words]) => element("th", { scope: "col", class: `num v-${key}`, title: words }, title)));
  const pick = (name, at) => (many ? element("button", { type: "button", class: "model", "aria-pressed": "false",
    onclick: () => STATE.set({ model: at ? name : null }) }, element("span", { class: "dot", "aria-hidden": "true" }), named(name)) : null);
  const rows = DATA.models.map((name, at) => element("tr", {}, many ? element("th", { scope: "row" }, pick(name, at)) : null,
    cells[at].map((cell) => element("td", { class: "num" }, cell))));
  holder.replaceChildren(element("table", { class: many ? "many" : "one" }, element("caption", { class: "unseen" }, "Numbers of what is filtered"),
    element("thead", {}, head), element("tbody", {}, rows)));
  startThresholds();
  parts.push((answer) => {
    const model = STATE.one("model", DATA.models[0]);
    rows.forEach((row, at) => {
      row.classList.toggle("chosen", many && DATA.models[at] === model);
      row.querySelector("button")?.setAttribute("aria-pressed", String(DATA.models[at] === model));
    });
    if (!answer) return;
    answer.counts.forEach((counts, at) => COUNT_TITLES.forEach(([key], k) => {
      cells[at][k].textContent = countText(counts, key);
      cells[at][k].title = counts.fn === null && ["fn", "recall", "f1"].includes(key) ? NO_MISSED : "";
    }));
  });
}

const SCORE_STEPS = 100;

function startThresholds() {
  const [low, high] = DATA.score_range, inside = low >= 0 && high <= 1;
  const first = inside ? 0 : low, last = inside ? 1 : high, step = (last - first) / SCORE_STEPS || 0.01;
  // Each model has its own start: the score with the best F1.
  const start = () => DATA.default.at_scores?.[DATA.models.indexOf(STATE.one("model", DATA.models[0]))] ?? DATA.default.at_score;
  const slider = byId("at-score"), exact = byId("at-score-exact"), back = byId("thresholds-reset");
  slider.max = String(SCORE_STEPS);
  const digits = digitsOf(first, last);
  const now = () => Number(STATE.one("at_score", String(start() ?? first)));
  slider.addEventListener("input", () => STATE.set({ at_score: (first + Number(slider.value) * step).toFixed(digits) }, { soft: true }));
  exact.addEventListener("change", () => {
    const value = Number(exact.value);
    STATE.set({ at_score: exact.value.trim() === "" || !Number.isFinite(value) ? null : String(value) });
  });
  const ious = DATA.iou_thresholds, iou = byId("at-iou"), said = byId("at-iou-said");
  iou.max = String(ious.length - 1);
  byId("at-iou-line").hidden = ious.length < 2;
  const place = () => {
    const wanted = Number(STATE.one("at_iou", String(DATA.default.at_iou)));
    return ious.reduce((best, value, k) => (Math.abs(value - wanted) < Math.abs(ious[best] - wanted) ? k : best), 0);
  };
  const iouText = (value) => (Math.round(value * 100) / 100 === value ? value.toFixed(2) : String(value));
  iou.addEventListener("input", () => STATE.set({ at_iou: String(ious[Number(iou.value)]) }, { soft: true }));
  back.addEventListener("click", () => {
    STATE.set({ at_score: null, at_iou: null });
    slider.focus();
  });
  parts.push(() => {
    const value = now(), at = place();
    slider.value = String(Math.round((value - first) / step));
    slider.setAttribute("aria-valuetext", `score ${score(value)}`);
    if (document.activeElement !== exact) exact.value = String(Number(value.toFixed(Math.max(4, digits))));
    iou.value = String(at);
    said.textContent = iouText(ious[at]);
    iou.setAttribute("aria-valuetext", `IoU ${iouText(ious[at])}`);
    back.hidden = !STATE.has("at_score") && !STATE.has("at_iou");
  });
}
