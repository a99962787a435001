// What the pictures of the page show: the regions of each annotator in a colour, and what becomes of their objects.

const DRAWN = DATA.annotators.slice(0, 6); // there are so many colours
const BECAME = ["agreed", "classes", "lacking"]; // as the page's Python counts them
const USED = BECAME.filter((_, state) => DATA.images.some(({ boxes = [] }) => boxes.some((kind, k) => k % 7 === 0 && kind % 3 === state)));
const BECAME_WORDS = { agreed: "agreed (thin)", classes: "different classes (thick)",
  lacking: `${DATA.annotators.length === 2 ? "one lacks it" : "not all have it"} (thick)` };
const shortened = (name) => (name.length > 14 ? `${[...name].slice(0, 13).join("")}…` : name);

const LOOK = {
  kinds: DRAWN.flatMap((_, k) => BECAME.map((state) => `of${k}-${state}`)),
  order: BECAME.flatMap((state) => DRAWN.map((_, k) => `of${k}-${state}`)),
  scored: [],
  before: Object.fromEntries(DRAWN.flatMap((name, k) => BECAME.map((state) => [`of${k}-${state}`, `${shortened(name)}: `]))),
  quiet: null,
  switches: [...DRAWN.map((name, k) => [`of${k}`, name, true]), ...USED.map((state) => [state, BECAME_WORDS[state], true])],
  words: (image) => image.words,
  more: () => "",
};
