// What the pictures of the page show: the suspicious annotation, the proposed change, the other one of a double, others.

for (const image of DATA.images) if (image.photo !== undefined) image.thumb = DATA.photos[image.photo];

const HAS_SECOND = DATA.images.some(({ boxes = [] }) => boxes.some((kind, k) => k % 7 === 0 && kind === 3));
const className = (label) => DATA.names[label];

// The class, or the old and the new class.
function change({ label, suggested }) {
  if (label < 0) return className(suggested);
  return suggested >= 0 && suggested !== label ? `${className(label)} → ${className(suggested)}` : className(label);
}

const LOOK = {
  kinds: ["object", "accused", "proposed", "second"],
  order: ["object", "second", "accused", "proposed"],
  scored: [2],
  before: { accused: "label: ", proposed: "model: ", second: "label: " },
  quiet: "object",
  switches: [["accused", "the suspicious annotation", true], ["proposed", "what the model sees", true],
    ...(HAS_SECOND ? [["second", "the other one of a double", true]] : []), ["object", "other annotations", true]],
  words: (image) => `${DATA.kinds[image.kind][0]}: ${change(image)}, score ${image.score.toFixed(2)}`,
  more: (image) => `. ${image.reason} Proposed: ${DATA.kinds[image.kind][1]}.`,
  labels: "names",
  large: (image, across, down) => large(image, across, down),
};

// The part of an image around the label, with the shape of the space that it is shown in: x, y, width, height.
function around(image, ratio) {
  const boxes = boxesOf(image).filter((box) => box.kind !== "object");
  if (!boxes.length) return [0, 0, image.w, image.h];
  const left = Math.max(0, Math.min(...boxes.map((box) => box.x))), top = Math.max(0, Math.min(...boxes.map((box) => box.y)));
  const right = Math.min(image.w, Math.max(...boxes.map((box) => box.x + box.w)));
  const bottom = Math.min(image.h, Math.max(...boxes.map((box) => box.y + box.h)));
  // Room for the surroundings and for the labels above the boxes; a tiny object is not enlarged beyond recognition.
  const wide = Math.max((right - left) * 1.7, image.w / 12), high = Math.max((bottom - top) * 1.9, image.h / 12);
  const w = Math.min(image.w, Math.max(wide, high * ratio)), h = Math.min(image.h, Math.max(high, w / ratio));
  const x = Math.max(0, Math.min((left + right - w) / 2, image.w - w)), y = Math.max(0, Math.min((top + bottom - h) / 2, image.h - h));
  return [x, y, w, h];
}

// A picture of the part; letters are `pixels` high where the part is shown `across` pixels wide and `down` high.
function detail(image, pixels, across, down) {
  const [x, y, w, h] = around(image, across / down);
  const drawing = picture(image, pixels / Math.min(across / w, down / h));
  drawing.setAttribute("viewBox", [x, y, w, h].map((number) => number.toFixed(1)).join(" "));
  return drawing;
}

// The large image: the whole of it, or the part around the label.
let zoomed = false;

function large(image, across, down) {
  deciding(DATA.images.indexOf(image));
  return zoomed ? detail(image, 13, across, down) : picture(image, 13 / Math.min(across / image.w, down / image.h));
}
