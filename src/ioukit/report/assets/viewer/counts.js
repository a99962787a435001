// Counts, precision, recall and F1 of what is filtered, and the thresholds that they depend on.

const COUNT_TITLES = [["tp", "TP", "true positives"], ["fp", "FP", "false positives"], ["fn", "FN", "missed objects"],
  ["precision", "Precision", "TP / (TP + FP)"], ["recall", "Recall", "detected objects / (detected objects + FN)"],
  ["f1", "F1", "harmonic mean of precision and recall"]];
const countText = (counts, key) => (["tp", "fp", "fn"].includes(key) && Number.isFinite(counts[key]) ? whole(counts[key]) : fixed(counts[key] ?? NaN));
const NO_MISSED = "not defined under a range of scores: missed objects have no score";
const ONLY_OBJECTS = "the filter chooses objects only";

// What the numbers leave out under the filters that are on, in sentences.
const onlyObjects = () => ["change", "flag"].filter((key) => STATE.has(key));
function countSentences(counts, model) {
  const { found, fn } = counts;
  const titles = (keys) => keys.map((key) => FILTER_TITLES[key]);
  const listed = (keys) => titles(keys).map((title) => `“${title}”`).join(" and ");
  const unused = ["outcome", "error"].filter((key) => STATE.has(key)), objects = onlyObjects();
  return [
    unused.length ? `These numbers do not follow the filter ${listed(unused)}: they count all ${DATA.annotators ? "regions" : "outcomes"}.` : "",
    objects.length ? `The filter ${listed(objects)} chooses objects only, so detections are not counted. ${model} finds ${whole(found)} of these ${plural(found + (fn ?? 0), "object")}.` : "",
    STATE.has("score") ? "Missed objects have no score. So with the filter “Score”, FN, recall and F1 are not defined." : "",
    apartSentence(counts, model),
  ].filter(Boolean).join(" ");
}

// Where a filter separates objects and their detections, those that are found are not those that are right.
function apartSentence({ tp, found, fn, precision, recall }, model) {
  if (tp === found || precision === null || recall === null) return "";
  const these = (words) => `${whole(found)} of these ${plural(found + fn, words)}`;
  if (!DATA.annotators) return `The filters choose an object and its detection each by itself: TP counts detections, recall counts objects. ${model} finds ${these("object")}.`;
  const [first, second] = DATA.annotators;
  return `The filters choose the two regions of a pair each by itself: ${second} has ${plural(tp, "paired region")}, ${first} has ${these("region")} paired.`;
}

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
  const said = element("p", { class: "small soft numbers-words", id: "numbers-words", role: "status", hidden: true });
  holder.replaceChildren(element("table", { class: many ? "many" : "one" }, element("caption", { class: "unseen" }, "Numbers of what is filtered"),
    element("thead", {}, head), element("tbody", {}, rows)), said);
  startThresholds();
  parts.push((answer) => {
    const model = STATE.one("model", DATA.models[0]);
    rows.forEach((row, at) => {
      row.classList.toggle("chosen", many && DATA.models[at] === model);
      row.querySelector("button")?.setAttribute("aria-pressed", String(DATA.models[at] === model));
    });
    if (!answer) return;
    const objects = onlyObjects().length > 0;
    answer.counts.forEach((counts, at) => COUNT_TITLES.forEach(([key], k) => {
      const left = objects && ["fp", "precision", "f1"].includes(key);
      cells[at][k].textContent = left ? "–" : countText(counts, key);
      const found = key === "recall" && counts.recall !== null ? `${whole(counts.found)} of ${plural(counts.found + counts.fn, "object")}` : "";
      cells[at][k].title = left ? ONLY_OBJECTS : counts.fn === null && ["fn", "recall", "f1"].includes(key) ? NO_MISSED : found;
    }));
    said.textContent = countSentences(answer.counts[Math.max(0, DATA.models.indexOf(model))], many ? model : "The model");
    said.hidden = !said.textContent;
  });
}

const SCORE_STEPS = 100;

// Where the protocol does not read scores, a sentence stands in the place of their threshold.
function startThresholds() {
  if (DATA.ranks) startScoreThreshold();
  else {
    byId("at-score").parentElement.replaceWith(element("p", { class: "small soft without-scores" },
      DATA.annotators ? "Regions of one class are paired one to one: the most pairs, and of these the closest."
        : "The protocol does not read scores: all detections count, and those of an image choose their objects together."));
  }
  startIouThreshold();
}

function startScoreThreshold() {
  const [low, high] = DATA.score_range, inside = low >= 0 && high <= 1;
  const first = inside ? 0 : low, last = inside ? 1 : high, step = (last - first) / SCORE_STEPS || 0.01;
  // Each model has its own start: the score with the best F1.
  const start = () => DATA.default.at_scores?.[DATA.models.indexOf(STATE.one("model", DATA.models[0]))] ?? DATA.default.at_score;
  const slider = byId("at-score"), exact = byId("at-score-exact");
  slider.max = String(SCORE_STEPS);
  const label = byId("at-score-label"), whose = byId("at-score-whose"), many = DATA.models.length > 1;
  whose.hidden = !many;
  const digits = digitsOf(first, last);
  const now = () => Number(STATE.one("at_score", String(start() ?? first)));
  slider.addEventListener("input", () => STATE.set({ at_score: (first + Number(slider.value) * step).toFixed(digits) }, { soft: true }));
  exact.addEventListener("change", () => {
    const value = Number(exact.value);
    STATE.set({ at_score: exact.value.trim() === "" || !Number.isFinite(value) ? null : String(value) });
  });
  parts.push(() => {
    const value = now();
    slider.value = String(Math.round((value - first) / step));
    slider.setAttribute("aria-valuetext", `score ${score(value)}`);
    if (document.activeElement !== exact) exact.value = String(Number(value.toFixed(Math.max(4, digits))));
    // Without a threshold in the address, each model has its own.
    const name = STATE.one("model", DATA.models[0]), all = STATE.has("at_score");
    whose.textContent = all ? "for all models" : `best F1 of ${name}`;
    label.title = !many ? "" : all ? "This threshold holds for all models." : "Each model has the threshold of its best F1. This is the one of the chosen model.";
  });
}

function startIouThreshold() {
  const ious = DATA.iou_thresholds, iou = byId("at-iou"), said = byId("at-iou-said");
  document.querySelector('label[for="at-iou"]').textContent = `${OVERLAP()} ≥`;
  iou.max = String(ious.length - 1);
  byId("at-iou-line").hidden = ious.length < 2;
  const place = () => {
    const wanted = Number(STATE.one("at_iou", String(DATA.default.at_iou)));
    return ious.reduce((best, value, k) => (Math.abs(value - wanted) < Math.abs(ious[best] - wanted) ? k : best), 0);
  };
  const iouText = (value) => (Math.round(value * 100) / 100 === value ? value.toFixed(2) : String(value));
  iou.addEventListener("input", () => STATE.set({ at_iou: String(ious[Number(iou.value)]) }, { soft: true }));
  parts.push(() => {
    const at = place();
    iou.value = String(at);
    said.textContent = iouText(ious[at]);
    iou.setAttribute("aria-valuetext", `${OVERLAP()} ${iouText(ious[at])}`);
  });
}
