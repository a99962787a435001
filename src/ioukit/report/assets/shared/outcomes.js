// What the images of an evaluation show: detected objects, true and false positives, missed objects, and ignored ones.
// A page makes its LOOK of it, see pictures.js. DATA.ranks: whether the protocol reads scores; where it does not, none is shown.

const outcomesLook = (someIgnored) => ({
  kinds: ["gt", "tp", "fp", "fn", "ignored", "ignored"],
  order: ["ignored", "gt", "tp", "fn", "fp"], // errors are drawn on top
  scored: DATA.ranks === false ? [] : [1, 2, 5],
  before: { fn: "missed " },
  quiet: "gt", // its detection has a label
  switches: [...["tp", "fp", "fn"].map((kind) => [kind, `${WORDS.outcomes[kind]}s (${kind.toUpperCase()})`, true]),
    ["gt", `${WORDS.outcomes.object}s`, false], ...(someIgnored ? [["ignored", WORDS.outcomes.ignored, true]] : [])],
  words: (image) => `${whole(image.fp)} false, ${whole(image.fn)} missed, ${whole(image.tp)} found`,
  more: (image) => (Number.isFinite(image.f1) ? `, F1 ${image.f1.toFixed(3)}` : ""),
});
