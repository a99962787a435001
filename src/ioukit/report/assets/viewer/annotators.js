// The words of two annotators in the place of those of a detector and the truth: no annotator is the truth. The regions of
// the first one are the objects of the data, those of the second one are the detections, so a pair is a true positive. What
// has no meaning then is taken out of the tables of the page. Called before any part of the page starts.

function speakOfAnnotators(first, second) {
  Object.assign(WORDS.outcomes, DATA.words.outcomes);
  Object.assign(WORDS.errors, DATA.words.errors);
  const { tp, fp, fn, object } = WORDS.outcomes;
  const shown = { tp: [`${second} paired`, tp], fp: [fp, capitalized(fp)], fn: [fn, capitalized(fn)], detected: [`${first} paired`, object] };
  OUTCOMES.splice(4); // nothing is ignored
  for (const outcome of OUTCOMES) [outcome.short, outcome.text] = shown[outcome.value];
  KIND_NAMES.splice(0, 4, object, tp, capitalized(fp), capitalized(fn));
  LOOK.before = {};
  COUNT_TITLES.splice(0, 6, ["tp", "Pairs", "pairs of one class"], ["fp", capitalized(fp), `regions of ${second} without a pair`],
    ["fn", capitalized(fn), `regions of ${first} without a pair`], ["f1", "F1", "harmonic mean of the shares of their regions that are paired"]);
  SORTS.splice(0, SORTS.length, ["errors", "Most without a pair"], ["f1", "F1"], ["fp", capitalized(fp)], ["fn", capitalized(fn)], ["tp", "Pairs"],
    ["objects", `Regions of ${first}`], ["detections", `Regions of ${second}`], ...SORTS.slice(-2));
  Object.assign(FILTER_TITLES, { outcome: "Agreement", error: "Kind of difference", confusion: "Classes" });
  Object.assign(CLASS_WORDS, { cell: "The classes that a region has.", object: first, detection: second, noObject: `not drawn by ${first}`,
    noDetection: `not drawn by ${second}`, error: "Difference" });
  EXPORTS.splice(0, EXPORTS.length, ...EXPORTS.filter(([form]) => form !== "coco")); // its file would hold those of one alone
  DATA.flags = [];
  KEYS_OF_IMAGE.splice(0, KEYS_OF_IMAGE.length, ...KEYS_OF_IMAGE.filter(([, words]) => !words.includes("models"))
    .map(([key, words]) => [key, words.replace("outcomes", "agreement")]));
  KEYS_OF_ALL.splice(2); // the numbers of a detector
  DATA.tracks = false; // events are those of a tracker
  byId("look-colour").querySelector("[value=outcome]").textContent = FILTER_TITLES.outcome;
}
