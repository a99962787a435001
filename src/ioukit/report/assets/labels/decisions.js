// What the reader decides about the labels. It is kept in this browser, by the hash of the data set and by what a label
// and its proposed change are, so that a page of the same data with other limits knows it. It is saved as a table.

const DECISIONS = [["yes", "Yes", "change it as proposed"], ["no", "No", "the label is right"], ["unsure", "Unsure", "somebody else decides"]];
const STORE = `ioukit decisions ${DATA.table.key}`;
let decided = {}, isKept = true, deciding = () => {};
const undone = []; // what can be undone: [position, the decision before]

const labelKey = (image) => image.row.slice(0, DATA.table.which).join("|");
const decisionOf = (image) => decided[labelKey(image)] || "";

// Pages of files have no storage in some browsers, or a full one.
function remembered(act) {
  try {
    return act();
  } catch {
    isKept = false;
    return null;
  }
}

function load() {
  const stored = remembered(() => JSON.parse(localStorage.getItem(STORE)));
  if (stored) decided = { ...stored };
}

function keep(position, decision) {
  if (isKept) load(); // another tab may have written
  if (decision) decided[labelKey(DATA.images[position])] = decision;
  else delete decided[labelKey(DATA.images[position])];
  remembered(() => localStorage.setItem(STORE, JSON.stringify(decided)));
  showDecisions();
}

function decide(position, decision) {
  undone.push([position, decisionOf(DATA.images[position])]);
  keep(position, decision);
}

// Pressing a pressed button takes the decision back.
function decisionButtons(position) {
  const image = () => DATA.images[group.dataset.of];
  const press = (word) => decide(Number(group.dataset.of), decisionOf(image()) === word ? "" : word);
  const group = element("div", { class: "choice deciding screen-only", role: "group", "aria-label": "Decision", "data-of": position },
    DECISIONS.map(([word, text, means]) => element("button", { type: "button", value: word, title: means, "aria-keyshortcuts": word[0],
      "aria-pressed": "false", onclick: () => press(word) }, text)));
  showDecision(group);
  return group;
}

function showDecision(group) {
  const decision = decisionOf(DATA.images[group.dataset.of]);
  for (const button of group.children) button.setAttribute("aria-pressed", String(button.value === decision));
}

function showDecisions() {
  for (const group of document.querySelectorAll(".deciding")) showDecision(group);
  const count = (word) => DATA.images.filter((image) => decisionOf(image) === word).length;
  const counts = DECISIONS.map(([word]) => [count(word), word]), total = counts.reduce((sum, [number]) => sum + number, 0);
  const words = `${whole(total)} of ${whole(DATA.images.length)} decided${total === 0 ? "" : `: ${counts.map(([number, word]) => `${whole(number)} ${word}`).join(", ")}`}`;
  for (const said of document.querySelectorAll(".decided")) said.textContent = words;
  byId("undo").disabled = undone.length === 0;
  byId("lost").hidden = isKept;
}

const cardAt = (position) => byId("gallery").querySelector(`[data-at="${position}"]`);

function undo() {
  if (!undone.length) return;
  const [position, before] = undone.pop(), dialog = byId("viewer");
  keep(position, before);
  if (dialog.open) {
    dialog.close();
    viewer(position, listed.includes(position) ? listed : [position]);
  } else {
    cardAt(position)?.querySelector("button").focus();
  }
}

// A key decides about the large image, or about the card that has the focus, and goes on to the next one.
function decideByKey(word) {
  if (byId("viewer").open) {
    decide(Number(byId("viewer").querySelector(".deciding").dataset.of), word);
    byId("viewer-next").click(); // disabled at the end
    return;
  }
  const card = document.activeElement.closest(".card");
  if (!card) { // nothing is decided about what may be out of sight
    cardAt(listed.find((position) => !decisionOf(DATA.images[position])))?.querySelector("button").focus();
    return;
  }
  decide(Number(card.dataset.at), word);
  if (!card.nextElementSibling && !byId("more").hidden) more();
  card.nextElementSibling?.querySelector("button").focus();
}

function startDecisions() {
  if (!byId("decided")) return;
  load();
  const group = decisionButtons(0);
  byId("viewer-overlays").before(element("div", { class: "controls" }, group, element("span", { class: "decided small soft" })));
  deciding = (position) => {
    group.dataset.of = position;
    showDecision(group);
  };
  byId("undo").addEventListener("click", undo);
  byId("save").addEventListener("click", () => {
    const rows = DATA.images.map((image) => [...image.row, image.reason, decisionOf(image)]);
    save(new Blob([csvText([[...DATA.table.columns, "decision"], ...rows])], { type: "text/csv;charset=utf-8" }), "decisions.csv");
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=search], select")) return;
    const found = DECISIONS.find(([word]) => word[0] === event.key.toLowerCase());
    if (found) decideByKey(found[0]);
    else if (event.key.toLowerCase() === "z") undo();
  });
  showDecisions();
}
