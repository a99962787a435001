// The order of the images and their look.

const SORTS = [["errors", "Most errors"], ["fp", "False positives"], ["fn", "Missed objects"], ["tp", "True positives"], ["f1", "F1"],
  ["precision", "Precision"], ["recall", "Recall"], ["objects", "Objects"], ["detections", "Detections"], ["score", "Highest score"],
  ["name", "File name"], ["position", "Position in the file"], ["frame", "Sequence and frame"]];
const UPWARDS = ["name", "position", "frame"];
const WITHOUT_MODELS = ["objects", "name", "position"];

function startSort() {
  const select = byId("sort"), way = byId("order"), usual = DATA.models.length ? "errors" : "position";
  const asked = (value) => (value === "frame" ? DATA.tracks : value === "score" ? DATA.ranks : true);
  const known = SORTS.filter(([value]) => asked(value) && (DATA.models.length || WITHOUT_MODELS.includes(value)));
  const columns = DATA.columns.filter(({ numeric, name }) => numeric && name !== "objects").map(({ name }) => [`column.${name}`, columnTitle(name)]);
  select.append(...[...known, ...columns].map(([value, text]) => element("option", { value }, text)));
  const key = () => STATE.one("sort", usual);
  const natural = () => (UPWARDS.includes(key()) ? "asc" : "desc");
  select.addEventListener("change", () => STATE.set({ sort: select.value === usual ? null : select.value, order: null }));
  way.addEventListener("click", () => {
    const next = STATE.one("order", natural()) === "asc" ? "desc" : "asc";
    STATE.set({ order: next === natural() ? null : next });
  });
  parts.push(() => {
    const up = STATE.one("order", natural()) === "asc";
    const most = select.querySelector("[value=errors]");
    if (most) most.textContent = ["outcome", "error", "true", "predicted"].some(STATE.has) ? "Most selected regions" : SORTS[0][1];
    select.value = key() === "column.objects" ? "objects" : key();
    way.textContent = up ? "↑" : "↓";
    way.setAttribute("aria-label", up ? "Lowest first. Turn the order round" : "Highest first. Turn the order round");
    way.title = up ? "Lowest first" : "Highest first";
  });
}

// A small sheet that a button opens; Escape and a click elsewhere close it.
function menu(holder) {
  const summary = holder.querySelector("summary");
  holder.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !holder.open) return;
    event.stopPropagation();
    holder.open = false;
    summary.focus();
  });
  document.addEventListener("pointerdown", (event) => { if (!holder.contains(event.target)) holder.open = false; });
  holder.addEventListener("focusout", (event) => { if (event.relatedTarget && !holder.contains(event.relatedTarget)) holder.open = false; });
}

// The kinds of regions that are switched off. Detected objects are, if there are detections: those say where they are. A
// filter that chooses objects shows them.
const aboutObjects = () => ["change", "flag", "issue"].some(STATE.has) || STATE.all("outcome").includes("detected");
const usuallyHidden = () => (DATA.models.length && !DATA.annotators && !aboutObjects() ? "gt" : "");
const hiddenKinds = () => VIEW.one("hide", usuallyHidden()).split(",").filter(Boolean);
const hideKinds = (kinds) => VIEW.set({ hide: kinds.join() === usuallyHidden() ? null : kinds.join() });

// What the look changes in the style of the grid; what the cards draw themselves follows by `redraw`.
function startLook(grid) {
  const holder = byId("grid"), shown = byId("look-kinds");
  const boxes = outcomesHere().map(({ kind, text }) => {
    const box = element("input", { type: "checkbox", value: kind, onchange: () => hideKinds(toggled(hiddenKinds(), kind)) });
    shown.append(element("label", { class: "check line" }, box, outcomeKey(kind), element("span", { class: "line-text" }, text)));
    return box;
  });
  const choices = { colour: usualColour(), cards: "medium" };
  for (const [key, usual] of Object.entries(choices)) choice(byId(`look-${key}`), (value) => VIEW.set({ [key]: value === usual ? null : value }));
  // id of the checkbox: [key of the address, its value when the box is not as usual, whether the box is usually checked]
  const switches = { "look-labels": ["labels", "on", false], "look-photos": ["photos", "off", true], "look-others": ["others", "off", true], "look-layers": ["layers", "all", false] };
  for (const [id, [key, value, usual]] of Object.entries(switches)) byId(id).addEventListener("change", (event) => VIEW.set({ [key]: event.target.checked === usual ? null : value }));
  if (!DATA.ranks) byId("look-labels").nextElementSibling.textContent = "Class on the image";
  byId("look-photos-line").hidden = !DATA.photographs;
  byId("look-layers-line").hidden = DATA.models.length < 2;
  // The cards have no track ids: their colours are then those of outcomes.
  const chosen = (key, usual) => (VIEW.one(key) === "track" ? usual : VIEW.one(key, usual));
  function follow() {
    const gone = hiddenKinds();
    for (const box of boxes) {
      box.checked = !gone.includes(box.value);
      holder.classList.toggle(`hide-${box.value}`, !box.checked);
    }
    for (const [key, usual] of Object.entries(choices)) {
      for (const button of byId(`look-${key}`).querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === chosen(key, usual)));
    }
    for (const [id, [key, value, usual]] of Object.entries(switches)) byId(id).checked = (VIEW.one(key) === value) !== usual;
    holder.classList.toggle("by-class", colourNow() === "class");
    document.documentElement.classList.toggle("class-colours", colourNow() === "class");
    holder.classList.toggle("without-photos", VIEW.one("photos") === "off");
    holder.classList.toggle("without-others", VIEW.one("others") === "off");
  }
  VIEW.listen((changed) => {
    follow();
    if (!changed || changed.includes("cards")) grid.layout();
    if (!changed || changed.some((key) => ["labels", "layers", "photos"].includes(key))) grid.redraw();
  });
  parts.push(follow);
  follow();
  menu(byId("look"));
}
