// Colours: of a class by its position, of a model by its number, of an outcome by shared/outcomes.css.

// The golden angle: neighbours in the list are far apart on the circle of hues, for any number of classes.
const hueOf = (position) => Math.round((29 + position * 137.508) % 360);
// Three turns of lightness tell classes apart whose hues come near each other.
const toneOf = (position) => Math.floor(position / 12) % 3;

// Gives an element the colour of a class: `--class` in its style sheet, see viewer.css.
function inClassColour(target, position) {
  target.classList.add("hued", `tone-${toneOf(position)}`);
  target.style.setProperty("--hue", String(hueOf(position)));
  return target;
}

// The place of a track in the row of colours: that of its id, whatever else is shown.
function trackPlace(id) {
  if (/^[0-9]{1,15}$/.test(id)) return Number(id) % 99991;
  let place = 0;
  for (const sign of id) place = (place * 31 + sign.codePointAt(0)) % 99991;
  return place;
}
// The place of a mark in it, by its class or its track.
const placeOf = ({ label, track }) => (track && colourNow() === "track" ? trackPlace(track) : label);

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);
const OUTCOMES = [
  ...["tp", "fp", "fn"].map((kind) => ({ value: kind, kind, text: `${capitalized(WORDS.outcomes[kind])}s`, short: kind.toUpperCase() })),
  { value: "detected", kind: "gt", text: `${capitalized(WORDS.outcomes.object)}s`, short: "detected" },
  { value: "ignored", kind: "ignored", text: capitalized(WORDS.outcomes.ignored), short: WORDS.outcomes.ignored },
];
// Without a model there are objects, and nothing finds or misses them.
const outcomesHere = () => (DATA.models.length ? OUTCOMES : [{ ...OUTCOMES[3], text: "Objects" }, OUTCOMES[4]]);
// The measure of overlap at the beginning of a title: keypoints have OKS.
const OVERLAP = () => capitalized(DATA.overlap);
// What colours say: the outcome, the class, or the track of a large image.
const usualColour = () => (DATA.models.length ? "outcome" : "class");
const colourNow = () => VIEW.one("colour", usualColour());
const chooseColour = (colour) => VIEW.set({ colour: colour === usualColour() ? null : colour });
// The names of the kinds of marks by their numbers, as in the report.
const KINDS = ["gt", "tp", "fp", "fn", "ignored", "ignored"];

const LOOK = outcomesLook(true);

// A sample of the line of an outcome.
const outcomeKey = (kind) => shape("svg", { class: `key k-${kind}`, viewBox: "0 0 26 14", "aria-hidden": "true" },
  shape("rect", { class: "box", x: 1.5, y: 1.5, width: 23, height: 11, "stroke-width": 2 }));

const classKey = (position) => inClassColour(element("span", { class: "swatch", "aria-hidden": "true" }), position);
