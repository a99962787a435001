// The pair of models that the page shows, and what its images show. The address names the model beside A, as ?with=C; the
// parts of a pair stand in the page, those of the others in templates, and their data beside those of the page.
const PAIR = Math.max(0, DATA.pairs.findIndex(({ letter }) => letter === new URLSearchParams(location.search).get("with")));
if (PAIR > 0) byId("of-pair").replaceChildren(document.querySelectorAll("template.of-pair")[PAIR - 1].content);
Object.assign(DATA, DATA.pairs[PAIR]);

const LOOK = outcomesLook(DATA.images.some(({ regions = [] }) => regions.some((side, k) => k % 3 === 0 ? side === 1 : k % 3 === 1 && side === -2)));
const MODELS = DATA.models; // the names of both
const SIDES = ["a", "b"];
const LETTERS = ["A", DATA.letter];

// A difference, in points. It always has its sign; the minus is the sign of mathematics, as wide as a plus.
function inPoints(value) {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(100 * value).toFixed(2);
  return Number(text) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
}

// A bar from the middle: to the right for a gain, to the left for a loss. share: within [-1, 1].
function signedBar(share) {
  const width = Math.min(50, Math.abs(share) * 50);
  return shape("svg", { class: "bar signed", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("rect", { class: "track", width: 100, height: 10 }),
    shape("rect", { class: share < 0 ? "loss" : "gain", x: share < 0 ? 50 - width : 50, width, height: 10 }),
    shape("rect", { class: "zero", x: 49.75, width: 0.5, height: 10 }));
}
