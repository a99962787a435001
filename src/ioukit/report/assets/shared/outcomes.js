// What the images of an evaluation show: detected objects, true and false positives, missed objects, and ignored ones.
// A page makes its LOOK of it, see pictures.js.

const outcomesLook = (someIgnored) => ({
  kinds: ["gt", "tp", "fp", "fn", "ignored", "ignored"],
  order: ["ignored", "gt", "tp", "fn", "fp"], // errors are drawn on top
  scored: [1, 2, 5],
  before: { fn: "missed " },
  quiet: "gt", // its detection has a label
  switches: [["tp", "true positives (TP)", true], ["fp", "false positives (FP)", true], ["fn", "missed (FN)", true],
    ["gt", "detected objects", false], ...(someIgnored ? [["ignored", "ignored", true]] : [])],
  words: (image) => `${whole(image.fp)} false, ${whole(image.fn)} missed, ${whole(image.tp)} found`,
  more: (image) => (Number.isFinite(image.f1) ? `, F1 ${image.f1.toFixed(3)}` : ""),
});
