// The regions of an image at the score threshold: what each is there, and the words about it.

const outcomeWords = (kind) => WORDS.outcomes[kind === "gt" ? "object" : kind];
const OF_OBJECTS = [0, 3, 4]; // kinds in the data

// One for each box of the image, see report/_images.py. Read once for each image.
function regionsOf(image) {
  if (image.regions) return image.regions;
  const { boxes, marks } = image;
  let at = 0;
  image.regions = Array.from({ length: boxes.length / 7 }, (_, k) => {
    const [kind, label, points] = boxes.slice(k * 7, k * 7 + 3);
    if (OF_OBJECTS.includes(kind)) {
      const [found, paired, missed] = marks.slice(at, at += 3);
      return { object: true, kind, label, found, paired, missed };
    }
    const [reach, truth, pair, error, partner, iou, pairIou] = marks.slice(at, at += 7);
    return { object: false, kind, label, score: DATA.ranks ? points / 1000 : null, reach, truth, pair, error, partner, iou: iou / 100, pairIou: pairIou / 100 };
  });
  return image.regions;
}

// "tp", "fp", "fn", "gt" or "ignored"; null for a detection with a lower score.
function kindAt(region, position = chosen.position) {
  if (region.object) return region.kind === 4 ? "ignored" : region.found <= position ? "gt" : "fn";
  return region.reach > position ? null : LOOK.kinds[region.kind];
}

// The same without reading all regions, for many images. each(kind, label): called for all that count at the threshold.
function eachKind(image, each) {
  const { boxes, marks } = image, { position } = chosen;
  for (let k = 0, at = 0; k < boxes.length; k += 7) {
    const kind = boxes[k], first = marks[at];
    if (OF_OBJECTS.includes(kind)) {
      at += 3;
      each(kind === 4 ? "ignored" : first <= position ? "gt" : "fn", boxes[k + 1]);
    } else {
      at += 7;
      if (first <= position) each(LOOK.kinds[kind], boxes[k + 1]);
    }
  }
}

function countsOf(image) {
  const counts = { tp: 0, fp: 0, fn: 0, gt: 0, ignored: 0 };
  eachKind(image, (kind) => { counts[kind] += 1; });
  const { tp, fp, fn } = counts, all = 2 * tp + fp + fn;
  return { tp, fp, fn, f1: all ? (2 * tp) / all : NaN };
}

const iouText = (iou, name = DATA.overlap) => `${name} ${iou ? iou.toFixed(2) : "below 0.1"}`;
const errorName = (region) => (region.error >= 0 ? WORDS.errors[DATA.errors.kinds[region.error]].plain : "");

// Behind the name and score of a detection in a large picture.
function noteOf(region, ofMatrix) {
  if (region.object) return "";
  if (ofMatrix) return region.pair >= 0 ? `, ${iouText(region.pairIou)}` : "";
  const kind = LOOK.kinds[region.kind];
  return kind === "tp" ? `, ${iouText(region.iou)}` : kind === "fp" ? `: ${errorName(region)}${region.iou ? `, ${iouText(region.iou)}` : ""}` : "";
}

const scoreWords = (before, { score }) => (score === null ? "" : `${before} ${score.toFixed(3)}`);

// The whole story of a region, for a reader who points at it.
function storyOf(image, region) {
  const regions = regionsOf(image), kind = kindAt(region);
  const name = (other) => DATA.names[other.label];
  if (region.object) {
    const match = regions.find((other) => !other.object && other.kind === 1 && other.partner >= 0 && regions[other.partner] === region);
    const end = kind === "gt" && match ? `, found by a detection${scoreWords(" of score", match)}, ${iouText(match.iou)}`
      : kind === "fn" && match ? `: its detection has a score of ${match.score.toFixed(3)} only` : "";
    return `Object ${name(region)}: ${outcomeWords(kind)}${end}.`;
  }
  const partner = region.partner >= 0 ? regions[region.partner] : null;
  const about = kind === "fp" ? `, ${errorName(region)}` : "";
  // An ignored partner may be a crowd: a share of the detection lies in it.
  const measured = iouText(region.iou, kind === "ignored" ? "overlap" : undefined);
  const where = partner ? `; ${measured} with an object ${name(partner)}` : kind === "fp" ? `; highest ${iouText(region.iou)}` : "";
  return `Detection ${name(region)}${scoreWords(", score", region)}: ${outcomeWords(kind)}${about}${where}.`;
}

// What picture() draws. focus: {has(region, regions), matrix}, the regions to emphasise, or null.
function boxesAt(image, focus, notes) {
  const regions = regionsOf(image), boxes = [];
  const about = focus ? new Set(regions.filter((region) => focus.has(region, regions))) : null;
  regions.forEach((region, k) => {
    const kind = kindAt(region) || (about && about.has(region) ? "ignored" : null);
    if (!kind) return;
    const [x, y, w, h] = image.boxes.slice(k * 7 + 3, k * 7 + 7).map((number) => number / 10);
    boxes.push({ kind, label: DATA.names[region.label], score: region.object ? null : region.score, x, y, w, h, region,
      outline: image.shapes && image.shapes[k], look: about && (about.has(region) ? "marked" : "dim"),
      note: notes && kind !== "ignored" ? noteOf(region, focus && focus.matrix) : "" });
  });
  return boxes;
}

// The regions that a cell of the matrix counts: [true, predicted], the number of classes for the background.
function cellFocus(truth, predicted) {
  const background = DATA.matrix.classes.length;
  return { matrix: true, has(region, regions) {
    if (predicted === background) return region.object && region.label === truth && region.paired > chosen.position;
    const counts = (other) => !other.object && other.reach <= chosen.position && other.label === predicted
      && (truth === background ? other.truth === -1 : other.truth === truth);
    return region.object ? regions.some((other) => counts(other) && other.pair >= 0 && regions[other.pair] === region) : counts(region);
  } };
}

// The regions of a kind of error, by its number.
function errorFocus(number) {
  const missed = DATA.errors.kinds.length - 1;
  return { matrix: false, has(region, regions) {
    if (number === missed) return region.object && region.missed > chosen.position;
    const counts = (other) => !other.object && other.reach <= chosen.position && other.error === number;
    return region.object ? regions.some((other) => counts(other) && other.partner >= 0 && regions[other.partner] === region) : counts(region);
  } };
}

// The part of an image around the regions of a focus, with a margin; null if there are none. one: only around the one with
// the highest score, and its object.
function partAround(image, focus, one = false) {
  let low = [Infinity, Infinity], high = [-Infinity, -Infinity], marked = boxesAt(image, focus, false).filter(({ look }) => look === "marked");
  if (one && marked.length) {
    const regions = regionsOf(image), best = marked.reduce((a, b) => ((b.score || 0) > (a.score || 0) ? b : a)).region;
    const partner = regions[focus.matrix ? best.pair : best.partner];
    marked = marked.filter(({ region }) => region === best || region === partner);
  }
  for (const { x, y, w, h } of marked) {
    low = [Math.min(low[0], x), Math.min(low[1], y)];
    high = [Math.max(high[0], x + w), Math.max(high[1], y + h)];
  }
  return Number.isFinite(low[0]) ? [low[0], low[1], high[0] - low[0], high[1] - low[1]] : null;
}
