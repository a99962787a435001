// NMS, step by step.

const suppression = { scene: 0, threshold: 0.5, step: 0, result: undefined };
const letter = (k) => String.fromCharCode(65 + k);
const score = (k) => fixed(DATA.scenes[suppression.scene].scores[k], 2);

const pressScene = chips(byId("scenes"), DATA.scenes.map(({ title }) => title), (k) => openScene(k));

function openScene(k) {
  Object.assign(suppression, { scene: k, threshold: DATA.scenes[k].threshold, step: 0 });
  byId("nms-threshold").value = suppression.threshold;
  show("nms-scene", DATA.scenes[k].text);
  pressScene(k);
  decide();
}

function decide() {
  const { boxes, scores } = DATA.scenes[suppression.scene];
  suppression.result = nms(boxes, scores, suppression.threshold);
  suppression.step = Math.min(suppression.step, suppression.result.steps.length);
  showStep();
}

// The state of each box after a number of steps: waiting, kept, or removed by another box.
function known() {
  const { result, step } = suppression, done = result.steps.slice(0, step);
  const state = result.suppressedBy.map(() => ({ state: "waiting" }));
  for (const [k, { best, compared }] of done.entries()) {
    state[best] = { state: "kept", now: k === step - 1 };
    for (const { box, overlap, removed } of compared) {
      if (removed) state[box] = { state: "removed", by: best, overlap, now: k === step - 1 };
      else if (k === step - 1) state[box] = { ...state[box], overlap, beside: best };
    }
  }
  return state;
}

function words() {
  const { result, step, threshold } = suppression;
  if (step === 0) return `${result.order.length} boxes, the best score first. Take a step.`;
  const { best, compared } = result.steps[step - 1], removed = compared.filter((pair) => pair.removed);
  const names = removed.map(({ box }) => letter(box)).join(" and ");
  const kept = `${letter(best)} has the best score that is left, ${score(best)}: it is kept`;
  const effect = removed.length
    ? ` and removes ${names}, with an IoU above ${fixed(threshold, 2)}.`
    : compared.length ? ". No other box overlaps it enough to be removed." : ".";
  const survivors = result.keep.map(letter).join(", ");
  return kept + effect + (step === result.steps.length ? ` No box is left: ${survivors} survive.` : "");
}

let nmsUnit = 1;
function showStep() {
  const { result, step, threshold, scene } = suppression, states = known();
  show("nms-threshold-value", fixed(threshold, 2));
  show("nms-words", words());
  byId("nms-back").disabled = step === 0;
  byId("nms-reset").disabled = step === 0;
  byId("nms-step").disabled = step === result.steps.length;
  const rows = result.order.map((k) => {
    const { state, by, overlap, beside } = states[k];
    const text = {
      waiting: beside === undefined ? "waits" : `waits; IoU with ${letter(beside)} ${fixed(overlap, 3)}`,
      kept: "stays",
      removed: `removed by ${letter(by ?? 0)}: IoU ${fixed(overlap ?? 0, 3)}`,
    }[state];
    return element("tr", { class: state, "data-box": k },
      element("th", { scope: "row" }, letter(k)), element("td", {}, score(k)), element("td", {}, text));
  });
  byId("nms-rows").replaceChildren(...rows);
  drawBoxes(DATA.scenes[scene].boxes, states);
}

// The possible places of a name in a box: at its corners, then next to the first of them.
function corners([x1, y1, x2, y2], unit) {
  const [left, top, right, bottom] = [x1 * unit + 13, y1 * unit + 13, x2 * unit - 13, y2 * unit - 13];
  return [[left, top], [left, bottom], [right, top], [right, bottom], [left + 25, top]];
}

function drawBoxes(boxes, states) {
  const svg = byId("nms"), unit = nmsUnit, made = [shape("path", { class: "grid", d: gridLines(unit) })], names = [];
  const rank = { removed: 0, waiting: 1, kept: 2 };
  const order = boxes.map((_, k) => k).sort((j, k) => rank[states[j].state] - rank[states[k].state]);
  for (const k of order) {
    const { state, now } = states[k];
    made.push(shape("rect", { ...rectangle(boxes[k], unit), class: `candidate ${state}${now ? " now" : ""}` }));
  }
  // Two boxes may share a corner: a name goes to the first corner of its box that is free.
  const taken = [];
  for (const k of boxes.keys()) {
    const free = ([x, y]) => taken.every(([u, v]) => Math.abs(u - x) >= 23 || Math.abs(v - y) >= 23);
    const [x, y] = corners(boxes[k], unit).find(free) ?? corners(boxes[k], unit)[0];
    taken.push([x, y]);
    const { state, now } = states[k];
    names.push(shape("g", { class: `name ${state}${now ? " now" : ""}` }, shape("circle", { cx: x, cy: y, r: 11 }),
      shape("text", { x, y, "text-anchor": "middle", "dominant-baseline": "central" }, letter(k))));
  }
  svg.replaceChildren(...made, ...names);
}

byId("nms-step").addEventListener("click", () => move(1));
byId("nms-back").addEventListener("click", () => move(-1));
byId("nms-reset").addEventListener("click", () => move(-suppression.step));
function move(by) {
  suppression.step += by;
  showStep();
  // A button that is disabled loses the focus: the next button takes it.
  const active = document.activeElement;
  if (active instanceof HTMLButtonElement && active.disabled) byId(by > 0 ? "nms-back" : "nms-step").focus();
}
byId("nms-threshold").addEventListener("input", (event) => {
  suppression.threshold = Number(event.target.value);
  decide();
});

picture(byId("nms"), (pixels) => {
  nmsUnit = pixels;
  if (suppression.result) showStep();
});
openScene(0);
