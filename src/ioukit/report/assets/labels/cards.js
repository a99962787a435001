// The list of labels: cards that follow the filters.

const STEP = 48; // cards that are added at a time
let listed = [], drawn = 0;

function card(position) {
  const image = DATA.images[position];
  const [title, act] = DATA.kinds[image.kind];
  const show = () => viewer(position, listed);
  const view = image.boxes
    ? element("button", { type: "button", "aria-label": `Show ${image.name} large: ${LOOK.words(image)}`, onclick: show }, detail(image, 11, 330, 248))
    : null;
  const where = image.id === null ? "" : ` · annotation ${image.id}`;
  return element("figure", { class: "card", "data-at": position }, view,
    element("figcaption", {},
      element("span", { class: "title" }, element("span", { class: "score" }, image.score.toFixed(2)), ` ${title}: `, named(change(image))),
      element("span", { class: "why" }, image.reason),
      element("span", { class: "counts" }, named(image.name), `${where} · ${act}`)),
    decisionButtons(position));
}

function more() {
  const gallery = byId("gallery"), next = listed.slice(drawn, drawn + STEP);
  gallery.append(...next.map(card));
  drawn += next.length;
  byId("more").hidden = drawn >= listed.length;
  byId("more").textContent = `Show ${whole(Math.min(STEP, listed.length - drawn))} more`;
}

// A label is listed if its kind is checked, its class or the suggested one is chosen, and all words are found in it.
function matches(image, kinds, label, words, least) {
  if (!kinds.has(image.kind) || image.score < least || (byId("undecided").checked && decisionOf(image))) return false;
  if (label >= 0 && image.label !== label && image.suggested !== label) return false;
  const text = `${image.name} ${image.id === null ? "" : image.id} ${change(image)} ${image.reason}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function startCards() {
  const filters = byId("filters");
  if (!filters) return;
  const counts = DATA.kinds.map((_, kind) => DATA.images.filter((image) => image.kind === kind).length);
  byId("kinds").append(...DATA.kinds.map(([title], kind) => counts[kind] === 0 ? null : element("label", { class: "check" },
    element("input", { type: "checkbox", value: kind, checked: true, onchange: follow }), `${title} (${whole(counts[kind])})`)).filter(Boolean));
  const used = new Set(DATA.images.flatMap((image) => [image.label, image.suggested]).filter((label) => label >= 0));
  const collator = new Intl.Collator("en", { numeric: true });
  byId("class").append(element("option", { value: -1 }, "All classes"),
    ...[...used].sort((a, b) => collator.compare(className(a), className(b))).map((label) => element("option", { value: label }, className(label))));
  byId("class").addEventListener("change", follow);
  byId("text").addEventListener("input", follow);
  byId("least").addEventListener("input", follow);
  byId("undecided").addEventListener("change", follow);
  byId("more").addEventListener("click", () => {
    const first = drawn;
    more();
    byId("gallery").children[first]?.querySelector("button")?.focus();
  });
  overlaySwitches(byId("overlays"), byId("gallery"), true);
  follow();

  function follow() {
    const kinds = new Set([...byId("kinds").querySelectorAll("input:checked")].map((box) => Number(box.value)));
    const words = byId("text").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const least = Number(byId("least").value) / 100;
    byId("least-said").textContent = least.toFixed(2);
    const label = Number(byId("class").value);
    listed = DATA.images.map((_, position) => position).filter((position) => matches(DATA.images[position], kinds, label, words, least));
    drawn = 0;
    byId("gallery").replaceChildren();
    more();
    const wrong = listed.reduce((total, position) => total + DATA.images[position].score, 0);
    byId("said").textContent = listed.length === 0 ? "No label fits the filters."
      : `${listed.length < DATA.images.length ? `${whole(listed.length)} of ` : ""}${plural(DATA.images.length, "label")}, about ${whole(Math.round(wrong))} expected to be wrong`;
  }
}

startViewer();
if (byId("viewer-overlays")) {
  byId("viewer-overlays").prepend(element("label", { class: "check" },
    element("input", { type: "checkbox", id: "zoom", onchange: (event) => { zoomed = event.target.checked; viewer.draw(); } }), "enlarge the label"));
}
startCards();
startDecisions();
document.documentElement.setAttribute("data-ready", "");
