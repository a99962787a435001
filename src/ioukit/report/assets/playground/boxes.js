// The two boxes, and everything that the page shows about them.

const byName = Object.fromEntries(DATA.variants.map((variant) => [variant.name, variant]));
const state = {
  object: [...DATA.presets[0].object],
  detection: [...DATA.presets[0].detection],
  chosen: "iou",
  snap: true,
  // The defaults of the library, and values for options without a default; the size of the picture is that of the image.
  options: { of: "second", alpha: 3, ratio: 0.75, constant: 12.8, image_size: DATA.image_size },
};
const SIDE_NAMES = ["x1", "y1", "x2", "y2"];
const LIMITS = { alpha: [0.1, 10, 0.1], ratio: [0.1, 4, 0.05], constant: [0.1, 100, 0.1] };

const pressPreset = chips(byId("presets"), DATA.presets.map(({ title }) => title), (k) => {
  const { object, detection } = DATA.presets[k];
  Object.assign(state, { object: [...object], detection: [...detection] });
  update(true);
});

// The table of measures: each row shows a value and chooses its measure.
const rows = DATA.variants.map(({ name, title }) => {
  const button = element("button", { type: "button", id: `choose-${name}`, "aria-pressed": "false" }, title);
  button.addEventListener("click", () => choose(name));
  const value = element("data", { id: `value-${name}` });
  const bar = shape("path"), mark = shape("circle", { cy: 6, r: 3 });
  const gauge = shape("svg", { viewBox: "-55 0 110 12", class: "gauge", "aria-hidden": "true" },
    shape("path", { d: "M-50 6H50", class: "axis" }), shape("path", { d: "M0 2V10", class: "zero" }), bar, mark);
  const row = element("tr", {}, element("th", { scope: "row" }, button), element("td", {}, gauge), element("td", {}, value));
  return { name, button, value, bar, mark, gauge, row };
});
byId("values").append(...rows.map(({ row }) => row));

byId("chosen").append(
  ...DATA.variants.map(({ name, title, has_loss: hasLoss }) =>
    element("option", { value: name }, hasLoss ? `1 \u2212 ${title}` : `${title} (no loss)`)),
);
byId("chosen").addEventListener("change", (event) => choose(event.target.value));
byId("snap").addEventListener("change", (event) => {
  state.snap = event.target.checked;
});

function choose(name) {
  state.chosen = name;
  showDetail();
  update();
}

// The row of ioukit's table about the chosen measure, and its options.
function showDetail() {
  const variant = byName[state.chosen];
  show("detail-title", variant.title);
  show("detail-formula", variant.formula);
  const made = Object.entries(variant.options).map(([name, help]) => {
    const help_id = `help-${name}`;
    if (name === "image_size") return element("p", {}, `image_size = (${DATA.image_size.join(", ")}), the picture. ${help}`);
    const [low, high, step] = LIMITS[name] ?? [];
    const input = name === "of"
      ? element("select", { id: `option-${name}`, "aria-describedby": help_id },
        element("option", { value: "second" }, "second (the detection)"), element("option", { value: "first" }, "first (the object)"))
      : element("input", { id: `option-${name}`, type: "number", min: low, max: high, step, "aria-describedby": help_id });
    input.value = state.options[name];
    input.addEventListener("input", () => {
      const value = name === "of" ? input.value : Number(input.value);
      if (!input.validity.valid && !input.validity.stepMismatch) return;
      state.options[name] = value;
      update();
    });
    return element("p", {}, element("label", { for: `option-${name}` }, `${name} `), input, " ",
      element("span", { id: help_id }, help));
  });
  byId("detail-options").replaceChildren(...made);
  const texts = { Range: variant.range, "Without area": variant.degenerate, Gradient: variant.gradient, Reference: variant.reference };
  byId("detail-text").replaceChildren(
    ...Object.entries(texts).flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]),
    element("dt", {}, "Gradient here"), element("dd", { id: "detail-gradient" }),
  );
}

const inputs = BOXES.map((name) => SIDE_NAMES.map((side) => byId(`${name}-${side}`)));
inputs.forEach((fields, b) => fields.forEach((field, k) => {
  field.setAttribute("max", DATA.image_size[k % 2]);
  field.addEventListener("input", () => {
    const box = fields.map((one) => one.valueAsNumber), opposite = (k + 2) % 4;
    const wrong = fields.some((one) => !one.validity.valid) || box[0] > box[2] || box[1] > box[3];
    // The edited field shows the error, and the box does not move until the value is valid.
    const fits = k < 2 ? box[k] <= box[opposite] : box[k] >= box[opposite];
    fields.forEach((one, j) => one.setAttribute("aria-invalid", String(!one.validity.valid || (j === k && !fits))));
    if (!wrong) change(BOXES[b], box, true);
  });
  field.addEventListener("blur", () => update());
}));

const drawStage = makeStage(byId("stage"), state, change);

let announcing;
function change(name, box, announce = false) {
  state[name] = box;
  update(announce);
}

function update(announce = false) {
  const { object, detection, chosen, options } = state, variant = byName[chosen];
  state.gradient = variant.has_loss ? lossGradient(chosen, object, detection, options) : undefined;
  const both = measure("intersection", object, detection), iou = measure("iou", object, detection);
  const either = areaOf(object) + areaOf(detection) - both, [width, height] = DATA.image_size;
  show("iou-top", plain(both, 2), both);
  show("iou-bottom", plain(either, 2), either);
  show("iou", fixed(iou), iou);
  const areas = { tp: both, fp: areaOf(detection) - both, fn: areaOf(object) - both, tn: width * height - either };
  for (const [name, value] of Object.entries(areas)) show(`area-${name}`, plain(value, 2), value);
  show("situation", situation(object, detection));

  for (const { name, button, value, bar, mark, gauge, row } of rows) {
    const number = measure(name, object, detection, options), inUnits = byName[name].high === null;
    value.setAttribute("value", number);
    value.textContent = inUnits ? plain(number, 3) : fixed(number, 4);
    const end = 50 * Math.min(Math.max(number, -1), 1);
    gauge.toggleAttribute("hidden", inUnits);
    set(bar, { d: `M0 6H${end}`, class: end < 0 ? "bar below" : "bar" });
    set(mark, { cx: end, class: number < -1 ? "mark beyond" : end < 0 ? "mark below" : "mark" });
    button.setAttribute("aria-pressed", String(name === chosen));
    row.className = name === chosen ? "chosen" : "";
  }
  byId("chosen").value = chosen;
  show("detail-worked", `= ${worked(chosen, object, detection, options)}`);
  const slopes = state.gradient?.map((slope, k) => element("span", {}, `${SIDE_NAMES[k]} ${fixed(slope, 4)}`));
  byId("detail-gradient").replaceChildren(...(slopes ?? ["This measure is not used as a loss, so there are no arrows."]));
  for (const id of ["descend", "run"]) byId(id).disabled = !variant.has_loss;

  const box = (sides) => `[${sides.map((x) => Number(x.toFixed(6))).join(", ")}]`;
  show("program", programFor(chosen, box(object), box(detection), options));
  inputs.forEach((fields, b) => fields.forEach((field, k) => {
    if (document.activeElement === field) return; // the user is editing this field
    field.value = Number(state[BOXES[b]][k].toFixed(6));
    field.setAttribute("aria-invalid", "false");
  }));
  const same = ({ object: o, detection: d }) => o.every((x, k) => x === object[k]) && d.every((x, k) => x === detection[k]);
  pressPreset(DATA.presets.findIndex(same));
  drawStage();
  if (announce) {
    clearTimeout(announcing);
    announcing = setTimeout(() => show("announcement", `IoU ${fixed(iou)}. ${situation(object, detection)}`), 400);
  }
}

function programFor(name, object, detection, options) {
  const given = {
    ioa: `, of="${options.of}"`, alpha_iou: `, alpha=${options.alpha}`, inner_iou: `, ratio=${options.ratio}`,
    nwd: `, constant=${options.constant}`, mpdiou: `, image_size=(${DATA.image_size.join(", ")})`,
  }[name] ?? "";
  return `from ioukit import elementwise_${name}\n\nobject = ${object}\ndetection = ${detection}\n` +
    `elementwise_${name}(object, detection${given})`;
}

// One step against the gradient. It moves the fastest side by 0.2, or by less if 0.2 is too far.
function descended() {
  const { chosen, object, detection, gradient, options } = state;
  const steepest = Math.max(...gradient.map(Math.abs)), before = measure(chosen, object, detection, options);
  for (let length = 0.2; steepest > 1e-9 && length > 4e-3; length /= 2) {
    const box = detection
      .map((x, k) => Math.min(Math.max(x - (gradient[k] / steepest) * length, 0), DATA.image_size[k % 2]))
      .map((x) => Math.round(x * 1e6) / 1e6); // as the fields show it
    if (box[0] > box[2]) box[0] = box[2] = (box[0] + box[2]) / 2;
    if (box[1] > box[3]) box[1] = box[3] = (box[1] + box[3]) / 2;
    if (measure(chosen, object, box, options) > before) return box;
  }
  return undefined;
}

function descend(announce) {
  const box = byName[state.chosen].has_loss ? descended() : undefined;
  if (box) change("detection", box, announce);
  else show("announcement", "There is no next step: the gradient is zero here, or the boxes are equal.");
  return box !== undefined;
}

let running;
function stop() {
  clearInterval(running);
  running = undefined;
  byId("run").textContent = "Let it learn";
}
byId("descend").addEventListener("click", () => descend(true));
byId("run").addEventListener("click", () => {
  if (running) return stop();
  byId("run").textContent = "Stop";
  running = setInterval(() => descend(false) || stop(), 40);
  return undefined;
});
// A run ends when the user takes hold of a box.
document.addEventListener("pointerdown", (event) => event.target !== byId("run") && running && stop());
document.addEventListener("keydown", (event) => event.target !== byId("run") && running && stop());

showDetail();
update();
