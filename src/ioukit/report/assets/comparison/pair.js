// Both models on one image, side by side, at the chosen score thresholds.

// In the data of an image, `regions` has three numbers for each: side (0 object, 1 ignored object, 2 detection of A, 3 of
// the other model); for a detection the object that it matches (-1 none, -2 ignored); and the position of the slider at which it counts.
// `boxes` has seven, the first of which is the place in `regions`.
function sideOf(image, side) {
  const { regions } = image, position = chosen.positions[side];
  const found = new Map(), kinds = new Map();
  const counts = { tp: 0, fp: 0, fn: 0 };
  for (let r = 0; r * 3 < regions.length; r += 1) {
    if (regions[r * 3] !== side + 2 || !CURVES[side] || regions[r * 3 + 2] > position) continue;
    const match = regions[r * 3 + 1];
    kinds.set(r, match >= 0 ? "tp" : match === -1 ? "fp" : "ignored");
    if (match >= 0) found.set(match, r);
    if (match >= 0) counts.tp += 1;
    else if (match === -1) counts.fp += 1;
  }
  for (let r = 0; r * 3 < regions.length && regions[r * 3] < 2; r += 1) {
    kinds.set(r, regions[r * 3] === 1 ? "ignored" : found.has(r) ? "gt" : "fn");
    if (regions[r * 3] === 0 && !found.has(r)) counts.fn += 1;
  }
  return { kinds, counts };
}

// marked: the places of the regions that a change is about; the others are drawn faintly.
function boxesOn(image, kinds, marked) {
  const boxes = [];
  for (let k = 0; k < image.boxes.length; k += 7) {
    const [r, label, points, x, y, w, h] = image.boxes.slice(k, k + 7);
    const kind = kinds.get(r);
    if (!kind) continue;
    const detection = image.regions[r * 3] > 1;
    boxes.push({ kind, label: DATA.names[label], score: detection && DATA.ranks ? points / 1000 : null, x: x / 10, y: y / 10, w: w / 10, h: h / 10,
      outline: image.shapes && image.shapes[k / 7], look: !marked ? null : marked.includes(r) ? "marked" : "dim" });
  }
  return boxes;
}

const countWords = ({ tp, fp, fn }) => `${whole(tp)} found, ${whole(fp)} false, ${whole(fn)} missed`;

// One side of an image. around: the part of the image to show, the whole one if null.
function sidePicture(image, side, size, marked, around) {
  const { kinds, counts } = sideOf(image, side);
  const drawing = picture({ ...image, ...counts, name: `${LETTERS[side]}, ${image.name}` }, size, boxesOn(image, kinds, marked));
  if (around) drawing.setAttribute("viewBox", around.join(" "));
  return { drawing, counts };
}

// The part of an image around regions, with a margin, at least a sixth of the image.
function partAround(image, marked) {
  let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  for (let k = 0; k < image.boxes.length; k += 7) {
    const [r, , , x, y, w, h] = image.boxes.slice(k, k + 7);
    if (!marked.includes(r)) continue;
    low = [Math.min(low[0], x / 10), Math.min(low[1], y / 10)];
    high = [Math.max(high[0], (x + w) / 10), Math.max(high[1], (y + h) / 10)];
  }
  if (!Number.isFinite(low[0])) return null;
  const aspect = image.w / image.h;
  let w = Math.max((high[0] - low[0]) * 2.5, image.w / 6), h = Math.max((high[1] - low[1]) * 2.5, image.h / 6);
  if (w / h < aspect) w = h * aspect;
  else h = w / aspect;
  if (w >= image.w || h >= image.h) return null;
  const x = Math.max(0, Math.min((low[0] + high[0]) / 2 - w / 2, image.w - w));
  const y = Math.max(0, Math.min((low[1] + high[1]) / 2 - h / 2, image.h - h));
  return [x, y, w, h];
}

let showChanges = null; // (row of the list, the list)
let showImage = null; // (position of an image, the list)

function startPair() {
  const dialog = byId("pair");
  if (!dialog) return;
  // items: rows of the list of changes, or positions of images.
  const state = { items: [], at: 0, changes: false, near: true };
  const stages = SIDES.map((side) => byId(`pair-${side}`));
  overlaySwitches(byId("pair-overlays"), byId("pair-stages"), true);
  if (DATA.ranks) SIDES.forEach((side, at) => startSlider(byId(`pair-score-${side}`), byId(`pair-score-${side}-now`), at));

  const item = () => state.items[state.at];
  const imageAt = () => DATA.images[state.changes ? CHANGES.image[item()] : item()];
  const markedNow = () => (state.changes ? ["object", "a", "b"].map((key) => CHANGES[key][item()]).filter((r) => r >= 0) : null);

  function draw() {
    const image = imageAt(), marked = markedNow();
    SIDES.forEach((side, at) => {
      const counts = byId(`pair-${side}-counts`);
      if (!image.boxes) {
        stages[at].replaceChildren(element("p", { class: "empty" }, "This image is not drawn on this page: only those that changed most are."));
        counts.textContent = "";
        return;
      }
      const around = state.near && marked && partAround(image, marked);
      const across = stages[at].clientWidth || 500, shown = around ? around[2] : image.w;
      const size = 13 / Math.min(across / shown, (window.innerHeight * 0.55) / (around ? around[3] : image.h));
      const made = sidePicture(image, at, size, marked, around);
      stages[at].replaceChildren(made.drawing);
      const all = pointAt(at, 0);
      counts.replaceChildren(element("span", {}, `This image: ${countWords(made.counts)}`),
        ...(all ? [element("span", {}, `All images: ${countWords(all)}`)] : []));
    });
  }

  function show() {
    const image = imageAt();
    byId("pair-title").replaceChildren(named(image.name));
    byId("pair-words").replaceChildren(...(state.changes ? changeWords(item()) : [image.words || ""]),
      " ", element("span", { class: "place" }, `(${whole(state.at + 1)} of ${whole(state.items.length)})`));
    // Where the change fills the image, there is nothing to enlarge.
    byId("pair-near").hidden = !state.changes || !image.boxes || !partAround(image, markedNow());
    const ends = { "pair-before": state.at === 0, "pair-next": state.at === state.items.length - 1 };
    for (const [id, end] of Object.entries(ends)) {
      // A disabled button loses the focus, and then keys have no effect.
      if (end && document.activeElement === byId(id)) byId("pair-close").focus();
      byId(id).disabled = end;
    }
    if (!document.activeElement.offsetParent) byId("pair-close").focus();
    draw();
  }
  const move = (step) => {
    const next = state.at + step;
    if (next < 0 || next >= state.items.length) return;
    state.at = next;
    show();
  };
  function open(items, value, changes) {
    Object.assign(state, { items, at: items.indexOf(value), changes });
    dialog.showModal();
    show();
  }
  showChanges = (row, list) => open(list, row, true);
  showImage = (position, list = DATA.drawn) => open(list, position, false);
  listeners.push(() => { if (dialog.open) draw(); });
  byId("pair-before").addEventListener("click", () => move(-1));
  byId("pair-next").addEventListener("click", () => move(1));
  byId("pair-close").addEventListener("click", () => dialog.close());
  byId("pair-near").addEventListener("click", () => {
    state.near = !state.near;
    byId("pair-near").setAttribute("aria-pressed", String(state.near));
    draw();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.matches("input")) return;
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  new ResizeObserver(() => { if (dialog.open) draw(); }).observe(stages[0]);
}

// The images that changed most, each as a card with both sides.
function startPairs() {
  const gallery = byId("gallery");
  if (!gallery) return;
  overlaySwitches(byId("overlays"), gallery, false);
  const listed = DATA.drawn.slice(0, DATA.cards);
  gallery.classList.toggle("single", listed.length === 1);
  const cards = listed.map((position) => {
    const image = DATA.images[position], holder = element("span", { class: "two" });
    const button = element("button", { type: "button", onclick: () => showImage(position) }, holder);
    return { image, holder, button, counts: element("span", { class: "counts" }) };
  });
  gallery.append(...cards.map(({ image, button, counts }) => element("figure", { class: "card" }, button,
    element("figcaption", {}, element("span", { class: "title" }, named(image.name)),
      element("span", { class: "counts" }, image.words), counts))));
  function draw() {
    for (const { image, holder, button, counts } of cards) {
      const size = 10 / Math.min(250 / image.w, 220 / image.h);
      const made = SIDES.map((_, side) => sidePicture(image, side, size, null, null));
      holder.replaceChildren(...made.map(({ drawing }, side) => element("span", { class: "half" }, drawing, element("span", { class: "letter" }, LETTERS[side]))));
      counts.textContent = made.map((one, side) => `${LETTERS[side]}: ${countWords(one.counts)}`).join("; ");
      button.setAttribute("aria-label", `Show ${image.name} large: ${counts.textContent}`);
    }
  }
  listeners.push(draw);
  draw();
}
