// Images with their regions: a gallery, and a viewer for a single large image. The page defines what is drawn:
// LOOK: {kinds: names of the kinds of boxes by their numbers, order: the kinds from below to the top, scored: numbers of
// the kinds whose score is shown, before: texts before the labels by kind, quiet: a kind that is drawn thin and without
// an area, switches: [[kind, text, shown], ...], words(image), more(image): further words beside a large image,
// large(image, across, down): a large image of another kind than the whole one, if there is one, labels: another word for
// the names on the images, if there is one}.

// In the data, each box is a row of numbers: kind, class, score in thousandths, x, y, width, height in
// tenths of a pixel. Regions that are not boxes have an outline, too.
function boxesOf(image) {
  const boxes = [];
  for (let k = 0; k < image.boxes.length; k += 7) {
    const [kind, label, points, x, y, w, h] = image.boxes.slice(k, k + 7);
    boxes.push({ kind: LOOK.kinds[kind], label: DATA.names[label], score: LOOK.scored.includes(kind) ? points / 1000 : null,
      x: x / 10, y: y / 10, w: w / 10, h: h / 10, outline: image.shapes && image.shapes[k / 7] });
  }
  return boxes;
}

// An outline in the data: closed rings x, y, x, y, ...; lines x1, y1, x2, y2, ...; points x, y, 1 if hollow, ...
function ringsPath(rings) {
  const ring = (numbers) => numbers.map((number, k) => `${k === 0 ? "M" : k % 2 ? " " : "L"}${number / 10}`).join("");
  return rings.map((numbers) => `${ring(numbers)}Z`).join("");
}

function linesPath(numbers) {
  return numbers.map((number, k) => `${k % 4 === 0 ? "M" : k % 2 ? " " : "L"}${number / 10}`).join("");
}

// The elements of a region: its dark edge on a photograph, its area, its lines, its points.
function regionParts(box, size, onPhoto) {
  const { rings, lines = [], points = [] } = box.outline || {};
  if (!box.outline) {
    const place = { x: box.x, y: box.y, width: box.w, height: box.h };
    return [onPhoto && shape("rect", { class: "halo", ...place }), shape("rect", { class: "box", ...place })].filter(Boolean);
  }
  const parts = [], path = (rings ? ringsPath(rings) : "") + linesPath(lines);
  if (rings && DATA.drawing.filled && box.kind !== LOOK.quiet) parts.push(shape("path", { class: "area", d: ringsPath(rings) }));
  if (path && onPhoto) parts.push(shape("path", { class: "halo", d: path }));
  if (path) parts.push(shape("path", { class: "box", d: path }));
  for (let k = 0; k < points.length; k += 3) {
    parts.push(shape("circle", { class: points[k + 2] ? "point hollow" : "point", cx: points[k] / 10, cy: points[k + 1] / 10,
      r: (size * (box.kind === LOOK.quiet ? 0.14 : 0.22)).toFixed(2) }));
  }
  return parts;
}

// The grid of a view from above.
function gridLines({ w, h, grid }, size) {
  const group = shape("g", { class: "ground-grid", "aria-hidden": "true" }), small = size * 0.8;
  for (const [x, text] of grid.x) {
    group.append(shape("line", { x1: x, x2: x, y1: 0, y2: h }),
      shape("text", { x: x + small * 0.2, y: h - small * 0.3, "font-size": small }, text));
  }
  for (const [y, text] of grid.y) {
    group.append(shape("line", { x1: 0, x2: w, y1: y, y2: y }),
      shape("text", { x: small * 0.2, y: y - small * 0.2, "font-size": small }, text));
  }
  return group;
}

// size: that of letters in units of the image. boxes: what is drawn; `look` of a box is a class of its own: "marked" or "dim",
// and `note` is written behind its score.
function picture(image, size, boxes = boxesOf(image)) {
  const { w, h } = image;
  const looks = ["picture", image.thumb && "photo", (DATA.drawing.filled || DATA.drawing.ground) && "fine"];
  const drawing = shape("svg", { class: looks.filter(Boolean).join(" "), viewBox: `0 0 ${w} ${h}`, role: "img",
    preserveAspectRatio: "xMidYMid meet", "aria-label": `${image.name}: ${LOOK.words(image)}` });
  if (image.thumb) drawing.append(shape("image", { href: image.thumb, width: w, height: h, preserveAspectRatio: "none" }));
  else drawing.append(shape("rect", { class: "frame", width: w, height: h }));
  if (image.grid) drawing.append(gridLines(image, size));
  for (const kind of LOOK.order) {
    const group = shape("g", { class: `k-${kind}` });
    for (const box of boxes) {
      if (box.kind !== kind) continue;
      const parts = regionParts(box, size, Boolean(image.thumb));
      group.append(...(box.look ? [shape("g", { class: box.look }, parts)] : parts));
    }
    drawing.append(group);
  }
  // What is on top has the first choice of a place for its label.
  const labels = shape("g", { class: "labels" }), taken = [];
  for (const kind of [...LOOK.order].reverse()) {
    const words = shape("g", { class: `k-${kind}` });
    for (const box of boxes) {
      if (box.kind !== kind || box.look === "dim" || (box.outline && kind === LOOK.quiet)) continue; // the detection of an object has a label
      const text = labelText(box, Math.min(44, Math.floor((image.w / size - 0.7) / 0.54)));
      const spot = labelSpot(box, text, size, image, taken);
      if (spot) {
        taken.push(spot);
        words.append(shape("rect", { class: "label-back", x: spot.x, y: spot.y, width: spot.w, height: spot.h }),
          shape("rect", { class: "label-mark", x: spot.x, y: spot.y, width: size * 0.22, height: spot.h }),
          shape("text", { class: "label", x: spot.x + size * 0.45, y: spot.y + size * 0.95, "font-size": size,
            textLength: text.length > 3 ? (spot.w - size * 0.7).toFixed(1) : null, lengthAdjust: "spacingAndGlyphs" }, text));
      }
    }
    labels.append(words);
  }
  drawing.append(labels);
  return drawing;
}

// If the text is longer than this number of letters, the note is left out, then the name is cut; the text is empty if only a
// few letters would fit.
function labelText(box, most) {
  const before = LOOK.before[box.kind] || "", score = box.score === null ? "" : ` ${box.score.toFixed(2)}`, letters = [...box.label];
  const noted = score + (box.note || ""), after = before.length + letters.length + noted.length <= most ? noted : score;
  const room = Math.min(32, most - before.length - after.length);
  if (room < Math.min(3, letters.length)) return "";
  return before + (letters.length > room ? `${letters.slice(0, room - 1).join("")}…` : box.label) + after;
}

// Above the box, in its corner or below it, within the image and not over other labels; no place if all are taken.
function labelSpot(box, text, size, image, taken) {
  if (!text) return null;
  const w = Math.min(image.w, size * (0.54 * text.length + 0.7));
  const h = size * 1.3;
  const x = Math.max(0, Math.min(box.x, image.w - w));
  for (const y of [box.y - h, box.y, box.y + box.h - h, box.y + box.h]) {
    if (y < 0 || y + h > image.h) continue;
    if (!taken.some((other) => x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h)) {
      return { x, y, w, h };
    }
  }
  return null;
}

// Checkboxes that hide a kind of box in everything within `scope`.
const boxKey = (kind) => shape("svg", { class: `key k-${kind}`, viewBox: "0 0 26 14", "aria-hidden": "true" },
  shape("rect", { class: "box", x: 1.5, y: 1.5, width: 23, height: 11, "stroke-width": 2 }));

function overlaySwitches(holder, scope, labelsShown) {
  for (const [kind, text, shown] of LOOK.switches) {
    holder.append(element("label", { class: "check" },
      element("input", { type: "checkbox", value: kind, checked: shown,
        onchange: (event) => scope.classList.toggle(`hide-${kind}`, !event.target.checked) }),
      boxKey(kind), text));
  }
  for (const [kind, , shown] of LOOK.switches) scope.classList.toggle(`hide-${kind}`, !shown);
  scope.classList.toggle("hide-labels", !labelsShown);
  holder.append(element("label", { class: "check" },
    element("input", { type: "checkbox", value: "labels", checked: labelsShown,
      onchange: (event) => scope.classList.toggle("hide-labels", !event.target.checked) }), LOOK.labels || "labels"));
}

let viewer = null;

function imageButton(position, list, times) {
  const image = DATA.images[position];
  const words = [named(image.name), times ? element("span", { class: "times" }, times) : null];
  if (!image.boxes) return element("span", {}, words);
  return element("button", { type: "button", onclick: () => viewer(position, list) }, words);
}

function startViewer() {
  const dialog = byId("viewer");
  if (!dialog) return;
  const stage = byId("viewer-stage");
  overlaySwitches(byId("viewer-overlays"), stage, true);
  const state = { list: [], at: 0 };
  function show() {
    const image = DATA.images[state.list[state.at]];
    byId("viewer-title").replaceChildren(named(image.name));
    byId("viewer-words").textContent = `${LOOK.words(image)}${LOOK.more(image)} (${state.at + 1} of ${state.list.length})`;
    // The number of units that are 13 pixels on the screen, at the later size of the image.
    const across = stage.clientWidth || 800, down = window.innerHeight * 0.7;
    stage.replaceChildren(LOOK.large ? LOOK.large(image, across, down) : picture(image, 13 / Math.min(across / image.w, down / image.h)));
    const ends = { "viewer-before": state.at === 0, "viewer-next": state.at === state.list.length - 1 };
    for (const [id, end] of Object.entries(ends)) {
      // A disabled button loses the focus, and then keys have no effect.
      if (end && document.activeElement === byId(id)) byId("viewer-close").focus();
      byId(id).disabled = end;
    }
  }
  const move = (step) => {
    const next = state.at + step;
    if (next < 0 || next >= state.list.length) return;
    state.at = next;
    show();
  };
  viewer = (position, list) => {
    state.list = list.filter((other) => DATA.images[other].boxes);
    state.at = state.list.indexOf(position);
    dialog.showModal();
    show();
  };
  viewer.draw = show;
  byId("viewer-before").addEventListener("click", () => move(-1));
  byId("viewer-next").addEventListener("click", () => move(1));
  byId("viewer-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.target.matches("input")) return;
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

// positions: those of the images in DATA.images.
function startGallery(positions) {
  const gallery = byId("gallery");
  if (!gallery) return;
  overlaySwitches(byId("overlays"), gallery, false);
  gallery.classList.toggle("single", positions.length === 1);
  gallery.append(...positions.map((position) => {
    const image = DATA.images[position];
    return element("figure", { class: "card" },
      element("button", { type: "button", "aria-label": `Show ${image.name} large: ${LOOK.words(image)}`,
        onclick: () => viewer(position, positions) }, picture(image, 11 / Math.min(330 / image.w, 248 / image.h))),
      element("figcaption", {}, element("span", { class: "title" }, named(image.name)),
        element("span", { class: "counts" }, LOOK.words(image))));
  }));
}
