// The pictures of one large image: one, or one per model beside each other, which zoom together. What lies under the
// pointer is found here and not by the browser. A dashed line takes the browser ten times as long as a plain one, so where
// thousands of marks are in sight, all lines are plain.

const LABEL = 12.5; // height of letters in pixels of the screen
const MOST_LABELS = 300;
const MANY = 500; // marks in sight
const NEAR = 5; // pixels: an edge that is as near as this is meant, even if a smaller mark is around the pointer

// hovered(k, pane), picked(k, pane): k is the place of a mark in the image of a pane, or null.
function makeStage(holder, keys, { hovered, picked }) {
  let panes = [], labelsOn = true, waiting = 0, lastPick = null;
  const zoom = startZoom(holder, { keys, changed: () => {
    clearTimeout(waiting);
    if (panes.some(({ marks }) => marks.length > MANY)) waiting = setTimeout(labelAll, 90);
    else labelAll();
  } });

  // The marks of an image that are shown, with their lines. only: the side whose marks are, null for all.
  function marksShown(image, model, only) {
    const hidden = hiddenKinds(), others = VIEW.one("others") !== "off", layers = VIEW.one("layers") === "all";
    const found = [];
    for (const mark of marksOf(image)) {
      mark.other = mark.side > 0 && mark.side !== model + 1;
      if (hidden.includes(mark.kind) || (mark.other && !layers) || (!mark.chosen && !others)) continue;
      if (only !== null && mark.side !== only) continue;
      mark.lines = linesOf(mark);
      found.push(mark);
    }
    return found;
  }

  function makePane({ image, model, title, only = null }) {
    const { w, h } = image;
    const drawing = shape("svg", { class: "picture fine", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${image.name}${title ? `, ${title}` : ""}` });
    const figure = element("figure", { class: "pane" }, title ? element("figcaption", {}, named(title)) : null, drawing);
    const pane = { image, model, title, only, drawing, figure, marks: marksShown(image, model, only) };
    drawing.append(shape("rect", { class: "plate", width: w, height: h }));
    if (image.photo && VIEW.one("photos") !== "off") photograph(pane);
    const inside = shape("g", { transform: "scale(.1)" });
    pane.grid = image.grid ? shape("g", {}) : null;
    if (pane.grid) drawing.append(pane.grid);
    if (image.trails && !image.grid && VIEW.one("trails") !== "off") drawing.append(trailElements(image, model));
    inside.append(...markElements(pane.marks));
    pane.spots = shape("g", { transform: "scale(.1)" });
    pane.labels = shape("g", { class: "labels" });
    pane.names = shape("g", { class: "labels" });
    drawing.append(inside, pane.labels, pane.spots, pane.names);
    return pane;
  }

  // The small copy of the grid stands until the photograph is there.
  function photograph({ image, drawing, figure }) {
    const place = { width: image.w, height: image.h, preserveAspectRatio: "none" };
    const small = shape("image", { href: `thumb?at=${image.at}&side=320`, ...place });
    const full = shape("image", { href: `photo?at=${image.at}`, ...place });
    figure.classList.add("photo");
    let left = 2;
    const failed = (picture) => {
      picture.remove();
      left -= 1;
      if (!left) figure.classList.remove("photo");
    };
    small.addEventListener("error", () => failed(small));
    full.addEventListener("error", () => failed(full));
    full.addEventListener("load", () => small.remove());
    drawing.append(small, full);
  }

  function labelAll() {
    for (const pane of panes) label(pane);
  }

  // As many names as have room in the visible part. Selected marks and errors come first, then the best scores.
  function label(pane) {
    const { image, marks } = pane;
    if (pane.grid) pane.grid.replaceChildren(gridLines(image, 11 * zoom.unit()));
    const sight = sightOf(pane), left = sight.ox, top = sight.oy, right = left + sight.frame.w, bottom = top + sight.frame.h;
    const inSight = marks.filter(({ x, y, w, h }) => x / 10 < right && (x + w) / 10 > left && y / 10 < bottom && (y + h) / 10 > top);
    pane.figure.classList.toggle("many", inSight.length > MANY);
    pane.labels.replaceChildren();
    pane.names.replaceChildren();
    if (!labelsOn) return;
    const seen = inSight.filter(({ kind, chosen }) => chosen && (kind !== "gt" || DATA.annotators));
    const rank = ({ kind }) => (kind === "fp" || kind === "fn" ? 0 : kind === "tp" ? 1 : 2);
    seen.sort((a, b) => rank(a) - rank(b) || b.score - a.score);
    const taken = [];
    for (const mark of [...(pane.named || [])].reverse()) nameOn(pane.labels, mark, sight, taken);
    const looked = new Set((pane.named || []).map(({ k }) => k));
    for (const mark of seen.filter(({ k }) => !looked.has(k)).slice(0, 1500)) {
      if (taken.length === MOST_LABELS) break;
      nameOn(pane.labels, mark, sight, taken);
    }
  }
  // The visible part of an image, and the size of letters on it. It is measured once for all labels: that is slow.
  function sightOf({ image }) {
    const size = LABEL * zoom.unit(), [left, top, across, down] = zoom.part();
    const ox = Math.max(0, left), oy = Math.max(0, top);
    return { size, ox, oy, frame: { w: Math.min(image.w, left + across) - ox, h: Math.min(image.h, top + down) - oy } };
  }
  // Writes the name of a mark where there is room.
  function nameOn(target, mark, { size, ox, oy, frame }, taken) {
    const text = nameOf(mark), x = Math.max(mark.x / 10 - ox, 0), y = Math.max(mark.y / 10 - oy, 0);
    const spot = roomFor({ x, y, h: (mark.y + mark.h) / 10 - oy - y }, widthOf(text) * size, size, frame, taken);
    if (!spot) return;
    taken.push(spot);
    target.append(labelOf(mark, text, { ...spot, x: spot.x + ox, y: spot.y + oy }, size, null));
  }
  const nameOf = (mark) => labelText({ ...mark, label: `${mark.track ? `#${mark.track} ` : ""}${DATA.names[mark.label]}` }, 28);

  // The marks that are looked at, on top of all others and with a wider line. spots: [[place of the mark, class], ...].
  function placeSpots(pane) {
    const made = [], names = [];
    for (const [k, look] of pane.chosen || []) {
      const mark = pane.all.get(k);
      if (!mark) continue;
      const { edge, area, points } = mark.lines || linesOf(mark);
      const kind = mark.kind === "gt" ? "gt" : mark.kind;
      made.push(inClassColour(shape("g", { class: `spot ${look} k-${kind}` }, area && DATA.drawing.filled ? shape("path", { class: "area", d: area }) : null,
        edge ? shape("path", { class: "around", d: edge }) : null, edge ? shape("path", { class: "box", d: edge }) : null,
        points ? shape("path", { class: "dots", d: points }) : null), placeOf(mark)));
      names.push(mark);
    }
    pane.spots.replaceChildren(...made);
    pane.named = names;
    pane.names.replaceChildren();
    // Few labels are placed again around those of the marks that are looked at; of many, some may lie below them.
    if (labelsOn && pane.marks.length <= MANY) label(pane);
    else if (names.length) {
      const sight = sightOf(pane);
      for (const mark of names) nameOn(pane.names, mark, sight, []);
    }
  }

  // The marks at a point of the image, the most likely one first: an edge nearby, then the smallest around the point.
  function marksAt(pane, x, y) {
    const near = NEAR * zoom.unit(), found = [];
    for (const mark of pane.marks) {
      const left = mark.x / 10, top = mark.y / 10, right = left + mark.w / 10, bottom = top + mark.h / 10;
      if (x < left - near || x > right + near || y < top - near || y > bottom + near) continue;
      const inside = mark.outline && mark.outline.rings ? insideRings(mark.outline.rings, x * 10, y * 10)
        : x >= left && x <= right && y >= top && y <= bottom;
      const apart = mark.outline ? Infinity : Math.min(Math.abs(x - left), Math.abs(x - right), Math.abs(y - top), Math.abs(y - bottom));
      if (!inside && apart > near && !(mark.outline && !mark.outline.rings)) continue;
      found.push({ k: mark.k, edge: apart <= near, apart, size: mark.w * mark.h, chosen: mark.chosen });
    }
    found.sort((a, b) => b.chosen - a.chosen || b.edge - a.edge || (a.edge ? a.apart - b.apart : 0) || a.size - b.size);
    return found.map(({ k }) => k);
  }

  const paneOf = (event) => panes.find(({ drawing }) => drawing.contains(event.target));
  function pointOf(pane, event) {
    const inverse = pane.drawing.getScreenCTM().inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
    return [point.x, point.y];
  }

  let hot = null, moving = null;
  function hover(event) {
    moving = null;
    const pane = paneOf(event), k = pane ? marksAt(pane, ...pointOf(pane, event))[0] ?? null : null;
    const now = k === null ? null : `${panes.indexOf(pane)} ${k}`;
    if (now === hot) return;
    hot = now;
    holder.classList.toggle("over-mark", k !== null);
    hovered(k, pane || null);
  }
  holder.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || event.buttons) return;
    if (moving === null) requestAnimationFrame(() => { if (moving) hover(moving); });
    moving = event;
  });
  holder.addEventListener("pointerleave", () => {
    moving = null;
    if (hot === null) return;
    hot = null;
    holder.classList.remove("over-mark");
    hovered(null, null);
  });
  // A second click on the same place picks what lies below.
  holder.addEventListener("click", (event) => {
    const pane = paneOf(event);
    if (!pane) return;
    const under = marksAt(pane, ...pointOf(pane, event));
    const again = lastPick && Math.hypot(event.clientX - lastPick.x, event.clientY - lastPick.y) < 4 && lastPick.key === under.join();
    const turn = again && event.detail < 2 ? (lastPick.turn + 1) % Math.max(1, under.length) : again ? lastPick.turn : 0;
    lastPick = { x: event.clientX, y: event.clientY, key: under.join(), turn };
    picked(under.length ? under[turn] : null, pane);
  });

  return {
    zoom,
    panes: () => panes,
    // sources: [{image, model, title}, ...]. keep: the zoomed part stays.
    show(sources, keep) {
      panes = sources.map(makePane);
      hot = null;
      for (const pane of panes) pane.all = new Map([...marksOf(pane.image)].map((mark) => [mark.k, mark]));
      holder.replaceChildren(...panes.map(({ figure }) => figure));
      holder.style.setProperty("--panes", String(panes.length));
      const { w, h } = panes[0].image;
      holder.style.setProperty("--ratio", String(w / h));
      zoom.show(panes.map(({ drawing }) => drawing), w, h, keep);
    },
    spots(pane, chosen) {
      pane.chosen = chosen;
      placeSpots(pane);
    },
    labels(on) {
      labelsOn = on;
      labelAll();
    },
    // Shows a mark larger, or moves to it if it is out of sight.
    lookAt(pane, k, closer) {
      const mark = pane.all.get(k);
      if (!mark) return;
      const [x, y, w, h] = [mark.x, mark.y, mark.w, mark.h].map((number) => number / 10);
      const [left, top, across, down] = zoom.part();
      if (closer) zoom.to([x, y, w, h]);
      else if (zoom.times > 1 && (x < left || y < top || x + w > left + across || y + h > top + down)) zoom.to([x, y, w, h], Math.max(1.2, across / Math.max(w, 1e-6), down / Math.max(h, 1e-6)));
    },
  };
}

// Marks as elements, those of one look in a group: their edges, and on a photograph dark lines around these.
function markElements(marks) {
  const groups = new Map(), halos = marks.length <= MANY;
  for (const mark of marks) {
    const key = [mark.kind, mark.label, mark.chosen, mark.other ? mark.side : 0, placeOf(mark)].join();
    if (!groups.has(key)) groups.set(key, { ...mark, parts: [] });
    const { parts } = groups.get(key), { edge, area, points, hollow } = mark.lines;
    const line = (name) => (mark.outline ? shape("path", { class: name, d: edge }) : shape("rect", { class: name, x: mark.x, y: mark.y, width: mark.w, height: mark.h }));
    if (area && DATA.drawing.filled && mark.kind !== "gt") parts.push(shape("path", { class: "area", d: area }));
    if (edge && halos) parts.push(line("halo"));
    if (edge) parts.push(line("box"));
    if (points) parts.push(shape("path", { class: "dots", d: points }));
    if (hollow) parts.push(shape("path", { class: "dots hollow", d: hollow }));
  }
  const order = (group) => LOOK.order.indexOf(group.kind) + (group.chosen ? 10 : 0);
  return [...groups.values()].sort((a, b) => order(a) - order(b)).map((group) => {
    const names = [`k-${group.kind}`, group.chosen ? null : "other-mark", group.other && `layer layer-${group.side}`];
    const made = shape("g", { class: names.filter(Boolean).join(" ") }, group.parts);
    return group.other ? made : inClassColour(made, placeOf(group));
  });
}

// The width of a label, in heights of its letters.
const measure = document.createElement("canvas").getContext("2d");
const widths = new Map();
function widthOf(text) {
  if (widths.size > 5000) widths.clear();
  if (!widths.has(text)) {
    measure.font = `100px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(text, measure.measureText(text).width / 100 + 0.8);
  }
  return widths.get(text);
}

// Above a box, in its corner or below it, within the frame and not over other labels; null if all places are taken.
function roomFor(box, w, size, frame, taken) {
  const h = size * 1.3;
  if (w > frame.w) return null;
  const x = Math.max(0, Math.min(box.x, frame.w - w));
  for (const y of [box.y - h, box.y, box.y + box.h - h, box.y + box.h]) {
    if (y < 0 || y + h > frame.h) continue;
    if (!taken.some((other) => x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h)) return { x, y, w, h };
  }
  return null;
}

// Whether a point lies within closed paths: an odd number of edges is to the right of it.
function insideRings(rings, x, y) {
  let inside = false;
  for (const ring of rings) {
    for (let k = 0, last = ring.length - 2; k < ring.length; last = k, k += 2) {
      const [ax, ay, bx, by] = [ring[k], ring[k + 1], ring[last], ring[last + 1]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
  }
  return inside;
}
