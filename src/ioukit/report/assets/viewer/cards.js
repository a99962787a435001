// The drawing of an image on its card. Regions of the same look are one path, so that a card has few elements.

// The nine numbers of each mark, with its place among the marks of the image.
function* marksOf(image) {
  for (let k = 0; k * 9 < image.boxes.length; k += 1) {
    const [kind, label, score, x, y, w, h, side, row] = image.boxes.slice(k * 9, k * 9 + 9);
    yield { k, kind: KINDS[kind], label, score: LOOK.scored.includes(kind) ? score / 1000 : null, x, y, w, h, side, row,
      outline: image.shapes ? image.shapes[k] : null, track: image.marks?.[k].track, chosen: !image.chosen || image.chosen[k] === 1 };
  }
}

const flatPath = (numbers) => {
  let path = "";
  for (let k = 0; k < numbers.length; k += 2) path += `${k ? "L" : "M"}${numbers[k]} ${numbers[k + 1]}`;
  return path;
};

// The lines of a mark in tenths of a pixel: its edge, its area, its points and its hollow points.
function linesOf({ x, y, w, h, outline }) {
  if (!outline) {
    const path = `M${x} ${y}h${w}v${h}h${-w}z`;
    return { edge: path, area: "", points: "", hollow: "" };
  }
  const { rings = [], lines = [], points = [] } = outline;
  const area = rings.map((ring) => `${flatPath(ring)}Z`).join("");
  let edge = area, full = "", hollow = "";
  for (let k = 0; k < lines.length; k += 4) edge += `M${lines[k]} ${lines[k + 1]}L${lines[k + 2]} ${lines[k + 3]}`;
  for (let k = 0; k < points.length; k += 3) {
    const dot = `M${points[k]} ${points[k + 1]}h0`;
    full += dot;
    if (points[k + 2]) hollow += dot;
  }
  return { edge, area, points: full, hollow };
}

// Marks as elements: those of one look are one path. Each mark has its `lines`, and says whether it is of an `other` model.
function markGroups(marks) {
  const groups = new Map();
  for (const mark of marks) {
    const key = [mark.kind, mark.label, mark.chosen, mark.other ? mark.side : 0].join();
    if (!groups.has(key)) groups.set(key, { ...mark, edges: [], areas: [], points: [], hollow: [] });
    const group = groups.get(key), { edge, area, points, hollow } = mark.lines;
    group.edges.push(edge);
    group.points.push(points);
    group.hollow.push(hollow);
    if (DATA.drawing.filled && mark.kind !== "gt") group.areas.push(area);
  }
  const order = (group) => LOOK.order.indexOf(group.kind) + (group.chosen ? 10 : 0);
  const path = (name, texts) => {
    const d = texts.join("");
    return d ? shape("path", { class: name, d }) : null;
  };
  return [...groups.values()].sort((a, b) => order(a) - order(b)).map((group) => {
    const names = [`k-${group.kind}`, group.chosen ? null : "other-mark", group.other && `layer layer-${group.side}`];
    const parts = shape("g", { class: names.filter(Boolean).join(" ") }, path("area", group.areas), path("halo", group.edges),
      path("box", group.edges), path("dots", group.points), path("dots hollow", group.hollow));
    return group.other ? parts : inClassColour(parts, group.label);
  });
}

// model: the number of the chosen one. layers: whether the detections of the other models are drawn, too.
function overlay(image, { model, layers, labels, across }) {
  const drawing = shape("svg", { class: "picture fine", viewBox: `0 0 ${image.w * 10} ${image.h * 10}`,
    preserveAspectRatio: "none", "aria-hidden": "true" });
  if (image.grid) {
    const grid = gridLines(image, (9 * image.w) / across);
    grid.setAttribute("transform", "scale(10)");
    drawing.append(grid);
  }
  const marks = [], texts = [];
  for (const mark of marksOf(image)) {
    mark.other = mark.side > 0 && mark.side !== model + 1;
    if (mark.other && !layers) continue;
    mark.lines = linesOf(mark);
    marks.push(mark);
    if (labels && mark.chosen && !mark.other && mark.kind !== "gt") texts.push(mark);
  }
  drawing.append(...markGroups(marks));
  if (texts.length) drawing.append(cardLabels(image, texts, across));
  return drawing;
}

// A label at a place, in the colour of its mark. stretched: its text gets this width if its own is not known.
const labelOf = (mark, text, spot, size, stretched = text.length > 3 ? (spot.w - size * 0.7).toFixed(1) : null) => inClassColour(shape("g", { class: `k-${mark.kind}` },
  shape("rect", { class: "label-back", x: spot.x, y: spot.y, width: spot.w, height: spot.h }),
  shape("rect", { class: "label-mark", x: spot.x, y: spot.y, width: size * 0.22, height: spot.h }),
  shape("text", { class: "label", x: spot.x + size * 0.45, y: spot.y + size * 0.95, "font-size": size,
    textLength: stretched, lengthAdjust: stretched && "spacingAndGlyphs" }, text)), placeOf(mark));

// The classes and scores of the marks, as many as have room.
function cardLabels(image, marks, across) {
  const size = (9.5 * image.w) / across, holder = shape("g", { class: "labels", transform: "scale(10)" }), taken = [];
  for (const mark of marks) {
    const text = labelText({ ...mark, label: DATA.names[mark.label] }, 24);
    const spot = labelSpot({ x: mark.x / 10, y: mark.y / 10, w: mark.w / 10, h: mark.h / 10 }, text, size, image, taken);
    if (!spot) continue;
    taken.push(spot);
    holder.append(labelOf(mark, text, spot, size));
  }
  return holder;
}

// The counts of an image in words.
const countsSaid = (counts) => (DATA.annotators ? OUTCOMES.filter(({ kind }) => counts[kind]).map(({ kind, short }) => `${whole(counts[kind])} ${short}`).join(", ") || "no regions"
  : `${plural(counts.fp, "false positive")}, ${whole(counts.fn)} missed, ${plural(counts.tp, "true positive")}`);

// How many marks of the chosen model an image has, by outcome; of those that the filter chooses, if it says something
// about marks.
function countsOn(image, model) {
  const counts = { tp: 0, fp: 0, fn: 0, gt: 0, ignored: 0 };
  for (let k = 0; k * 9 < image.boxes.length; k += 1) {
    const side = image.boxes[k * 9 + 7];
    if ((side > 0 && side !== model + 1) || (image.chosen && !image.chosen[k])) continue;
    counts[KINDS[image.boxes[k * 9]]] += 1;
  }
  return counts;
}
