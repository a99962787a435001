// The picture of the two boxes, and how they are moved: by mouse, touch and keyboard.

const BOXES = ["object", "detection"];
// The coordinates that a grip moves: those of a corner, of a side, or of the whole box.
const CORNERS = { "top left": [0, 1], "top right": [2, 1], "bottom right": [2, 3], "bottom left": [0, 3] };
// The measures that use the centres.
const CENTRES = ["diou", "ciou", "eiou", "siou", "nwd", "centre_distance"];
const SIDES = [[0], [1], [2], [3]];
const ALL = [0, 1, 2, 3];
const CURSORS = { 0: "ew-resize", 1: "ns-resize", 2: "ew-resize", 3: "ns-resize",
  "0,1": "nwse-resize", "2,3": "nwse-resize", "2,1": "nesw-resize", "0,3": "nesw-resize", "0,1,2,3": "move" };

// The box with some of its coordinates moved by (dx, dy), inside the picture and never inverted.
function moved(box, coordinates, dx, dy, step) {
  const snapped = (x) => (step ? Math.round(x / step) * step : Math.round(x * 1000) / 1000);
  const limit = (x, low, high) => Math.min(Math.max(x, low), high);
  const result = [...box];
  for (const axis of [0, 1]) {
    const shift = axis === 0 ? dx : dy, low = box[axis], high = box[axis + 2], end = DATA.image_size[axis];
    const [lowMoves, highMoves] = [coordinates.includes(axis), coordinates.includes(axis + 2)];
    if (lowMoves && highMoves) {
      const start = limit(shift === 0 ? low : snapped(low + shift), 0, end - (high - low));
      result[axis] = start;
      result[axis + 2] = start + (high - low);
    } else if (lowMoves && shift !== 0) {
      result[axis] = limit(snapped(low + shift), 0, high);
    } else if (highMoves && shift !== 0) {
      result[axis + 2] = limit(snapped(high + shift), low, end);
    }
  }
  return result;
}

// The grip under a pointer, at most `reach` away from a line; undefined if there is none.
function gripAt(boxes, [x, y], reach) {
  const near = (a, b) => Math.abs(a - b) <= reach;
  const candidates = [];
  for (const name of [...BOXES].reverse()) {
    const box = boxes[name], [x1, y1, x2, y2] = box, area = (x2 - x1) * (y2 - y1);
    const within = x >= x1 && x <= x2 && y >= y1 && y <= y2;
    // The inside of a small box stays free: a grip takes at most a third of it.
    const inner = (side) => !within || Math.min(reach, side / 3);
    const hold = (coordinates, rank, distance) => candidates.push({ name, coordinates, rank, distance, area });
    for (const corner of Object.values(CORNERS)) {
      const [dx, dy] = [Math.abs(x - box[corner[0]]), Math.abs(y - box[corner[1]])];
      const fits = within ? dx <= inner(x2 - x1) && dy <= inner(y2 - y1) : near(x, box[corner[0]]) && near(y, box[corner[1]]);
      if (fits) hold(corner, 0, Math.hypot(dx, dy));
    }
    for (const [side] of SIDES) {
      const [along, across] = side % 2 === 0 ? [y, x] : [x, y];
      const [low, high] = side % 2 === 0 ? [y1, y2] : [x1, x2];
      const distance = Math.abs(across - box[side]), room = side % 2 === 0 ? x2 - x1 : y2 - y1;
      if (along >= low && along <= high && distance <= (within ? inner(room) : reach) * 0.6) hold([side], 1, distance);
    }
    if (within) hold(ALL, 2, 0);
  }
  // A corner comes before a side, a side before the inside. Of two insides, the smaller box comes first, then the detection.
  const better = (a, b) => a.rank - b.rank || (a.rank === 2 ? a.area - b.area : a.distance - b.distance);
  return candidates.sort(better)[0];
}

// Draws `state` into the picture and calls `change(name, box)` when the user moves a box.
function makeStage(svg, state, change) {
  const layers = {};
  const add = (name, tag, attributes) => {
    layers[name] = svg.appendChild(shape(tag, attributes));
  };
  add("grid", "path", { class: "grid" });
  for (const region of ["fn", "fp", "tp"]) add(region, "path", { class: `region ${region}`, "fill-rule": "evenodd" });
  add("lines", "path", { class: "lines", fill: "url(#hatch)" });
  add("aids", "g", { class: "aids", "aria-hidden": "true" });
  for (const name of BOXES) add(`${name}-outline`, "path", { class: `outline ${name}` });
  add("labels", "g", { class: "labels", "aria-hidden": "true" });
  add("arrows", "g", { class: "arrows", "aria-hidden": "true" });

  const grips = [];
  for (const name of BOXES) {
    for (const [corner, coordinates] of [[null, ALL], ...Object.entries(CORNERS)]) {
      // Paths, because a rectangle without width is not drawn.
      const area = shape(corner ? "circle" : "path", { class: "reach" });
      const knob = shape(corner ? "circle" : "path", { class: `knob ${name}` });
      const grip = shape("g", { class: corner ? "grip corner" : "grip", tabindex: 0, role: "application" }, area, knob);
      grip.id = corner ? `${name}-${corner.replace(" ", "-")}` : `${name}-box`;
      grip.setAttribute("aria-roledescription", corner ? "corner" : "box");
      grip.addEventListener("keydown", (event) => onKey(event, name, coordinates));
      grips.push({ name, corner, coordinates, grip, area, knob });
      svg.append(grip);
    }
  }

  function onKey(event, name, coordinates) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const length = state.snap ? 0.5 : 0.1;
    const which = event.shiftKey && coordinates === ALL ? CORNERS["bottom right"] : coordinates;
    change(name, moved(state[name], which, by[0] * length, by[1] * length, state.snap ? 0.5 : 0), true);
  }

  // In units of the picture, for any size on the screen.
  function place(event) {
    const { left, top, width } = svg.getBoundingClientRect(), unit = width / DATA.image_size[0];
    return [(event.clientX - left) / unit, (event.clientY - top) / unit, (event.pointerType === "touch" ? 16 : 10) / unit];
  }

  let held;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || held) return;
    const [x, y, reach] = place(event), grip = gripAt(state, [x, y], reach);
    if (!grip) return;
    event.preventDefault();
    held = { ...grip, from: [x, y], box: [...state[grip.name]], pointer: event.pointerId };
    svg.setPointerCapture(event.pointerId);
    byId(`${grip.name}-box`).focus({ preventScroll: true, focusVisible: false });
  });
  // A finger that holds a box must not scroll the page; elsewhere it must. Chromium ignores touch-action on the parts of
  // a picture.
  svg.addEventListener("touchstart", (event) => held && event.preventDefault(), { passive: false });
  svg.addEventListener("pointermove", (event) => {
    const [x, y, reach] = place(event);
    if (!held) {
      const grip = gripAt(state, [x, y], reach);
      svg.style.cursor = grip ? CURSORS[String(grip.coordinates)] : "";
    } else if (event.pointerId === held.pointer) {
      const step = state.snap ? 0.5 : 0;
      change(held.name, moved(held.box, held.coordinates, x - held.from[0], y - held.from[1], step));
    }
  });
  const release = (event) => {
    if (held && event.pointerId === held.pointer) held = undefined;
  };
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) svg.addEventListener(kind, release);

  let unit = 1;
  function draw() {
    const { object, detection } = state, inner = intersectionOf(object, detection);
    const hole = inner ? outline(inner, unit) : "";
    set(layers.grid, { d: gridLines(unit) });
    set(layers.fn, { d: outline(object, unit) + hole });
    set(layers.fp, { d: outline(detection, unit) + hole });
    set(layers.tp, { d: hole });
    set(layers.lines, { d: hole });
    layers.aids.replaceChildren(...aids(state, unit));
    for (const name of BOXES) set(layers[`${name}-outline`], { d: outline(state[name], unit) });
    layers.labels.replaceChildren(...labels(state, inner, unit));
    layers.arrows.replaceChildren(...arrows(state, unit));
    for (const { name, corner, coordinates, grip, area, knob } of grips) {
      const box = state[name], [x1, y1, x2, y2] = box.map((x) => plain(x, 2));
      if (corner) {
        const at = { cx: box[coordinates[0]] * unit, cy: box[coordinates[1]] * unit };
        set(area, { ...at, r: 20 });
        set(knob, { ...at, r: 5 });
        grip.setAttribute("aria-label", `${corner} corner of the ${name}, at ${at.cx / unit}, ${at.cy / unit}`);
      } else {
        set(area, { d: outline(box, unit) });
        set(knob, { d: outline(box, unit) });
        grip.setAttribute("aria-label", `${name}, from ${x1}, ${y1} to ${x2}, ${y2}`);
      }
    }
  }
  picture(svg, (pixels) => {
    unit = pixels;
    draw();
  });
  return draw;
}

function intersectionOf(a, b) {
  const inner = [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return inner[2] > inner[0] && inner[3] > inner[1] ? inner : undefined;
}

function areaOf([x1, y1, x2, y2]) { return (x2 - x1) * (y2 - y1); }

// The names of the boxes, and of the regions where there is room.
function labels({ object, detection, chosen }, inner, unit) {
  const made = [], [width, height] = DATA.image_size, small = unit < 22;
  const room = [(small ? 26 : 54) / unit, (small ? 16 : 20) / unit];
  const write = (text, x, y, attributes) => made.push(shape("text", { x: x * unit, y: y * unit, ...attributes }, text));
  // The largest of these rectangles, if a name fits into it.
  const roomiest = (rectangles) => {
    const fit = ([x1, y1, x2, y2]) => Math.min((x2 - x1) / room[0], (y2 - y1) / room[1]);
    const best = rectangles.reduce((one, other) => (fit(other) > fit(one) ? other : one));
    return fit(best) >= 1 ? best : undefined;
  };
  const region = (name, area, place, [across, down]) => {
    if (!place) return;
    const [x1, y1, x2, y2] = place, free = [(x2 - x1 - room[0]) / 2, (y2 - y1 - room[1]) / 2];
    const at = [(x1 + x2) / 2 + across * Math.max(0, free[0] - 3 / unit), (y1 + y2) / 2 + down * Math.max(0, free[1] - 3 / unit)];
    write(small ? name : `${name} ${plain(area, 2)}`, ...at, { class: "area", "dominant-baseline": "central", "text-anchor": "middle" });
  };
  const both = inner ? areaOf(inner) : 0;
  // Arrows start in the middle of sides, and some lines run through centres: names avoid both.
  if (inner) region("TP", both, roomiest([inner]), CENTRES.includes(chosen) ? [-1, 1] : [0, 0]);
  for (const [name, box, end] of [["FN", object, -1], ["FP", detection, 1]]) {
    const [x1, y1, x2, y2] = box, h = inner;
    const strips = h ? [[x1, y1, h[0], y2], [h[2], y1, x2, y2], [x1, y1, x2, h[1]], [x1, h[3], x2, y2]] : [box];
    const place = roomiest(strips), wide = place && place[2] - place[0] > place[3] - place[1];
    region(name, areaOf(box) - both, place, h ? (wide ? [end, 0] : [0, end]) : [end, 1]);
  }
  write(`TN ${plain(width * height - areaOf(object) - areaOf(detection) + both, 2)}`, width - 8 / unit, height - 9 / unit,
    { class: "rest", "text-anchor": "end" });
  for (const [name, box, other] of [["object", object, detection], ["detection", detection, object]]) {
    // Outside the box, at the corner away from the other box; inside where the picture ends.
    const right = name === "detection" ? box[2] >= other[2] : box[0] > other[0], room = 22 / unit;
    const below = box[1] + box[3] > other[1] + other[3], fits = below ? box[3] < height - room : box[1] > room;
    const x = right ? box[2] - (fits ? 0 : 9 / unit) : box[0] + (fits ? 0 : 9 / unit);
    const y = below ? box[3] + (fits ? 18 : -9) / unit : box[1] + (fits ? -9 : 17) / unit;
    write(name, x, y, { class: `tag ${name}`, "text-anchor": right ? "end" : "start" });
  }
  return made;
}

// What the chosen measure uses in addition to the regions.
function aids({ object: a, detection: b, chosen, options }, unit) {
  const made = [], middle = ([x1, y1, x2, y2]) => [(x1 + x2) / 2, (y1 + y2) / 2];
  const line = (from, to, kind = "distance") =>
    made.push(shape("line", { x1: from[0] * unit, y1: from[1] * unit, x2: to[0] * unit, y2: to[1] * unit, class: kind }));
  const hull = [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
  if (["giou", "diou", "ciou", "eiou", "siou"].includes(chosen)) {
    made.push(shape("rect", { ...rectangle(hull, unit), class: "hull" }));
  }
  if (["diou", "ciou", "eiou"].includes(chosen)) line(hull.slice(0, 2), hull.slice(2), "hull");
  if (CENTRES.includes(chosen)) {
    line(middle(a), middle(b));
    for (const [x, y] of [middle(a), middle(b)]) made.push(shape("circle", { cx: x * unit, cy: y * unit, r: 3 }));
  }
  if (chosen === "mpdiou") {
    line(a.slice(0, 2), b.slice(0, 2));
    line(a.slice(2), b.slice(2));
  }
  if (chosen === "inner_iou") {
    for (const box of [a, b]) {
      const [x, y] = middle(box), w = ((box[2] - box[0]) * options.ratio) / 2, h = ((box[3] - box[1]) * options.ratio) / 2;
      made.push(shape("rect", { ...rectangle([x - w, y - h, x + w, y + h], unit), class: "inner" }));
    }
  }
  return made;
}

// An arrow from each side of the detection shows how a step against the gradient moves it. Longer means steeper.
function arrows({ detection, gradient }, unit) {
  if (!gradient) return [];
  const [x1, y1, x2, y2] = detection, made = [];
  gradient.forEach((slope, side) => {
    const length = Math.min(64, 2.2 * unit) * (1 - Math.exp(-Math.abs(slope) / 0.08));
    if (length < 1.5) return;
    const [x, y] = side % 2 === 0 ? [detection[side], (y1 + y2) / 2] : [(x1 + x2) / 2, detection[side]];
    const end = -Math.sign(slope) * (length + 6), from = [x * unit, y * unit];
    const to = side % 2 === 0 ? [from[0] + end, from[1]] : [from[0], from[1] + end];
    const d = `M${from}L${to}`;
    made.push(shape("path", { d, class: "halo" }), shape("path", { d, class: "arrow", "marker-end": "url(#tip)" }));
  });
  return made;
}
