// The gallery: the worst images, the best or some by chance, of all classes or of one, with some outcome or any.

const f1Of = ({ f1 }) => (Number.isFinite(f1) ? f1 : -1);
const counted = (positions) => positions.map((position) => ({ position, at: DATA.images[position].at, ...countsOf(DATA.images[position]) }));

// Positions of images with errors at the score threshold, the most errors first. They are in the order of the data where
// all is equal.
function worstFirst(positions) {
  return counted(positions).filter(({ fp, fn }) => fp + fn)
    .sort((a, b) => b.fp + b.fn - a.fp - a.fn || f1Of(a) - f1Of(b) || a.at - b.at).map(({ position }) => position);
}

const drawnImages = () => DATA.images.map((_, position) => position).filter((position) => DATA.images[position].boxes);

// A picture that opens the viewer. list: the images that follow there; focus: see boxesAt().
function imageCard(position, list, focus = null) {
  const image = DATA.images[position], counts = countsOf(image), words = LOOK.words(counts);
  return element("figure", { class: "card" },
    element("button", { type: "button", "aria-label": `Show ${image.name} large: ${words}`, onclick: () => viewer(position, list) },
      picture({ ...image, ...counts }, 11 / Math.min(330 / image.w, 248 / image.h), boxesAt(image, focus, false))),
    element("figcaption", {}, element("span", { class: "title" }, named(image.name)), element("span", { class: "counts" }, words)));
}

function startImages() {
  const gallery = byId("gallery");
  if (!gallery) return;
  overlaySwitches(byId("overlays"), gallery, false);
  const state = { order: "worst", label: -1, outcome: "", pages: 1 };
  const narrow = window.matchMedia("(max-width: 40rem)");
  const drawn = drawnImages();
  byId("gallery-class").append(...DATA.names.map((name, k) => [name, k]).sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([name, k]) => element("option", { value: k }, name)));

  // Regions of the chosen class and outcome; "wrong" stands for false positives and missed objects.
  function passes(position) {
    if (state.label < 0 && !state.outcome) return true;
    let found = false;
    eachKind(DATA.images[position], (kind, label) => {
      found = found || ((state.label < 0 || label === state.label) && (!state.outcome || kind === state.outcome));
    });
    return found;
  }

  function ordered() {
    if (state.order === "random") return DATA.random.filter((position) => DATA.images[position].boxes && passes(position));
    const found = drawn.filter(passes);
    if (state.order === "worst") return worstFirst(found);
    return counted(found).filter(({ tp }) => tp).sort((a, b) => f1Of(b) - f1Of(a) || b.tp - a.tp || a.at - b.at).map(({ position }) => position);
  }

  function card(position, list) {
    const focus = state.label < 0 && !state.outcome ? null
      : { matrix: false, words: () => [], has: (region) => { const kind = kindAt(region); return Boolean(kind) && (state.label < 0 || region.label === state.label) && (!state.outcome || kind === state.outcome); } };
    return imageCard(position, list, focus);
  }

  function draw() {
    const list = ordered(), most = (narrow.matches ? Math.min(6, DATA.cards) : DATA.cards) * state.pages;
    const shown = list.slice(0, most);
    gallery.replaceChildren(...shown.map((position) => card(position, list)));
    gallery.classList.toggle("single", shown.length === 1);
    byId("gallery-more").hidden = list.length <= most;
    byId("gallery-said").textContent = list.length ? `${whole(shown.length)} of ${plural(list.length, "image")}`
      : `No image of this page has such a region${DATA.ranks ? " at this score threshold" : ""}.`;
  }
  const first = () => { state.pages = 1; draw(); };
  choice(byId("gallery-order"), (value) => { state.order = value; first(); });
  byId("gallery-class").addEventListener("change", (event) => { state.label = Number(event.target.value); first(); });
  byId("gallery-outcome").addEventListener("change", (event) => { state.outcome = event.target.value; first(); });
  byId("gallery-more").addEventListener("click", () => { state.pages += 1; draw(); });
  narrow.addEventListener("change", first);
  slowly(gallery, draw);
  draw();
  const button = commandButton(() => [...(state.label >= 0 ? [["class", classFilter(state.label)]] : []),
    ...(state.outcome ? [["outcome", { gt: "detected" }[state.outcome] || state.outcome]] : []), ...thresholdFilters(),
    ["sort", { worst: "errors", best: "f1", random: "position" }[state.order]]], "the gallery");
  if (button) byId("gallery-command").append(button);
}
