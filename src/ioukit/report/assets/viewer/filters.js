// The panel with all filters, and the chips of those that are on.

const CHANGE_WORDS = {
  won: (a, b) => `Won: only ${b} finds it`,
  lost: (a, b) => `Lost: only ${a} finds it`,
  both: () => "Both find it",
  neither: () => "Both miss it",
};

// "models=A,B": commas in names have a backslash before them.
const pairText = (a, b) => [a, b].map((name) => name.replace(/[\\,]/g, "\\$&")).join(",");
function pairNow() {
  const names = (STATE.one("models") || "").match(/(?:\\.|[^,\\])+/g)?.map((name) => name.replace(/\\(.)/g, "$1"));
  return names?.length === 2 ? names : DATA.models.slice(0, 2);
}

// Titles of filters, and what stands before a class of an object, before one of a detection, and before a kind of error.
const FILTER_TITLES = { outcome: "Outcome", error: "Kind of error", confusion: "Confusion", change: "Change", flag: "Flags" };
const CLASS_WORDS = { cell: "A cell of the confusion matrix.", object: "Object", detection: "Detected as", noObject: "background (no object)",
  noDetection: "background (not detected)", error: "Error" };

const parts = []; // what follows the answers: (answer or null) => void

// A part of the panel. content: [{holder, follow}, ...].
function addFold(panel, title, keys, content, options = {}) {
  const made = fold(title, keys, options, ...content.map((part) => part.holder));
  panel.append(made.holder);
  parts.push((answer) => {
    made.follow();
    for (const part of content) part.follow?.(answer);
  });
  return made;
}

function textField(key, label, placeholder) {
  let waiting = null;
  const input = element("input", { type: "search", "aria-label": label, placeholder, autocomplete: "off", spellcheck: "false" });
  const write = () => {
    clearTimeout(waiting);
    STATE.set({ [key]: input.value.trim() || null }, { soft: true });
  };
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(write, 180);
  });
  input.addEventListener("change", write); // Enter, or the reader goes on to another control
  return { holder: input, follow: () => { if (document.activeElement !== input) input.value = STATE.all(key).join(" "); } };
}

// Two lists: an object's class and the class of what was detected.
function confusionFields() {
  const names = [...DATA.names, "background"];
  const selects = [["true", CLASS_WORDS.object, CLASS_WORDS.noObject], ["predicted", CLASS_WORDS.detection, CLASS_WORDS.noDetection]].map(([key, label, nothing]) => {
    const select = element("select", { "aria-label": label, onchange: () => STATE.set({ [key]: select.value || null }) }, element("option", { value: "" }, "any"),
      element("option", { value: "background" }, nothing));
    // The names of many classes are made when they are needed.
    const fill = () => {
      if (select.options.length > 2) return;
      select.append(...names.slice(0, -1).map((name) => element("option", { value: name }, name)));
    };
    return { key, select, fill, line: element("label", { class: "field-row" }, element("span", {}, label), select) };
  });
  const holder = element("div", { class: "fields" }, element("p", { class: "small soft" }, CLASS_WORDS.cell), selects.map(({ line }) => line));
  for (const { select, fill } of selects) for (const name of ["pointerdown", "focus"]) select.addEventListener(name, fill);
  return {
    holder,
    follow() {
      for (const { key, select, fill } of selects) {
        if (STATE.has(key)) fill();
        select.value = STATE.one(key, "");
      }
    },
  };
}

function changeFields() {
  const names = DATA.models;
  const pick = names.length > 2 ? ["from", "to"].map((word, which) => {
    const select = element("select", { "aria-label": `Change ${word}`, onchange: () => {
      const pair = pairNow();
      pair[which] = select.value;
      if (pair[0] !== pair[1]) STATE.set({ models: pairText(...pair) });
      else draw();
    } }, names.map((name) => element("option", { value: name }, name)));
    return select;
  }) : [];
  const lines = Object.keys(CHANGE_WORDS).map((value) => {
    const box = element("input", { type: "checkbox", value, onchange: () => STATE.set({ change: toggled(STATE.all("change"), value) }) });
    const text = element("span", { class: "line-text" }), count = element("span", { class: "facet" });
    return { value, box, text, count, line: element("label", { class: "check line" }, box, text, count) };
  });
  function draw(answer) {
    const [a, b] = pairNow(), chosen = STATE.all("change");
    pick.forEach((select, which) => { select.value = [a, b][which]; });
    for (const { value, box, text, count } of lines) {
      text.textContent = CHANGE_WORDS[value](a, b);
      box.checked = chosen.includes(value);
      if (answer) sayCount(count, facetOf(answer, "change", value));
    }
  }
  return {
    holder: element("div", { class: "checks", role: "group", "aria-label": "What became of objects" },
      pick.length ? element("div", { class: "range-row" }, pick[0], element("span", { "aria-hidden": "true" }, "→"), pick[1]) : null, lines.map(({ line }) => line)),
    follow: draw,
  };
}

// Tags come and go, so their list follows the answers.
function tagChecks() {
  const holder = element("div", {});
  let made = null, shown = null;
  return {
    holder,
    follow(answer) {
      const names = [...new Set([...Object.keys(answer?.facets?.tag || {}), ...STATE.all("tag")])].sort();
      if (answer && names.join("\n") !== shown) {
        shown = names.join("\n");
        made = names.length ? checks("tag", names.map((value) => ({ value, text: named(value) })), "Tags") : null;
        holder.replaceChildren(made ? made.holder : element("p", { class: "small soft" }, "No image has a tag so far. Open an image to add one."));
      }
      made?.follow(answer);
    },
  };
}

const columnTitle = (name) => (/^[a-z]/.test(name) ? name[0].toUpperCase() + name.slice(1).replaceAll("_", " ") : name);

function startFilters(panel) {
  const hasModels = DATA.models.length > 0;
  if (hasModels) {
    addFold(panel, FILTER_TITLES.outcome, ["outcome"], [checks("outcome", OUTCOMES.map(({ value, kind, text }) => ({ value, text, sample: outcomeKey(kind) })), FILTER_TITLES.outcome)], { open: true });
  }
  if (DATA.models.length > 1) addFold(panel, "Change", ["change", "models"], [changeFields()], { open: true });
  addFold(panel, "Class", ["class"], [classList(DATA.classes)], { open: true });
  if (hasModels) {
    if (DATA.ranks) addFold(panel, "Score", ["score"], [histogram("score", "Score")], { open: true });
    addFold(panel, FILTER_TITLES.error, ["error"], [checks("error", DATA.errors.map((value) => {
      const { plain, meaning } = WORDS.errors[value];
      return { value, text: capitalized(plain), title: meaning };
    }), FILTER_TITLES.error)], { open: false });
    addFold(panel, OVERLAP(), ["iou"], [histogram("iou", OVERLAP())], { open: false });
    addFold(panel, FILTER_TITLES.confusion, ["true", "predicted"], [confusionFields()]);
  }
  const areas = DATA.areas.filter(({ name }) => name !== "all");
  addFold(panel, "Size", ["size", "area"], [histogram("size", "Size", { unit: "px" }),
    ...(areas.length > 1 ? [checks("area", areas.map(({ name }) => ({ value: name, text: columnTitle(name) })), "Area")] : [])]);
  addFold(panel, "File name", ["text"], [textField("text", "File name contains", "Part of the file name")]);
  if (DATA.flags.length) addFold(panel, "Flags", ["flag"], [checks("flag", DATA.flags.map((value) => ({ value, text: columnTitle(value) })), "Flags")]);
  if (DATA.issues?.length) {
    addFold(panel, "Label issues", ["issue"], [checks("issue", DATA.issues.map(({ name, words }) => ({ value: name, text: words })), "Label issues")]);
  }
  if (hasModels && !DATA.issues && DATA.ranks) {
    addFold(panel, "Label issues", [], [{ holder: element("p", { class: "small soft" }, "Start with ", element("code", {}, "--issues"),
      " (in Python: ", element("code", {}, "issues=True"), ") to look for labels that are likely wrong. It takes seconds to minutes.") }]);
  }
  addFold(panel, "Tags and notes", ["tag", "noted"], [tagChecks(), checks("noted", [{ value: "yes", text: "With a note" }, { value: "no", text: "Without a note" }], "Notes")]);
  addScatter(panel);
  for (const column of DATA.columns) {
    const key = `column.${column.name}`;
    // A column in which all values are the same chooses nothing.
    if ((column.numeric ? column.low === column.high : (column.values || []).length < 2) && !STATE.has(key)) continue;
    const part = column.numeric ? histogram(key, columnTitle(column.name), { integers: false })
      : checks(key, (column.values || []).map((value) => ({ value: String(value), text: named(String(value)) })), columnTitle(column.name));
    addFold(panel, columnTitle(column.name), [key], [part]);
  }
  parts.push(drawChips);
}

// How a range reads.
function rangeWords(text, unit = "") {
  const [low, high] = rangeOf(text);
  if (!text.includes("..")) return `= ${text}`;
  const end = unit && ` ${unit}`;
  if (low !== null && high !== null) return `${readableExact(low)} to ${readableExact(high)}${end}`;
  return low !== null ? `≥ ${readableExact(low)}${end}` : `≤ ${readableExact(high)}${end}`;
}
const readableExact = (value) => (Math.abs(value) < 1e6 ? String(Number(value.toPrecision(6))) : value.toExponential(2));

function chipWords(key, value) {
  const outcome = OUTCOMES.find((one) => one.value === value);
  switch (key) {
    case "class": return value;
    case "outcome": return outcome ? outcome.text : value;
    case "error": return `${CLASS_WORDS.error}: ${WORDS.errors[value]?.plain ?? value}`;
    case "true": return `${CLASS_WORDS.object}: ${value}`;
    case "predicted": return `${CLASS_WORDS.detection}: ${value}`;
    case "score": return `Score ${rangeWords(value)}`;
    case "iou": return `${OVERLAP()} ${rangeWords(value)}`;
    case "size": return `Size ${rangeWords(value, "px")}`;
    case "area": return `Area: ${value}`;
    case "text": return `Name contains “${value}”`;
    case "flag": return `Flag: ${value}`;
    case "issue": return `Issue: ${DATA.issues?.find(({ name }) => name === value)?.words ?? value}`;
    case "tag": return `Tag: ${value}`;
    case "noted": return value === "yes" ? "With a note" : "Without a note";
    case "change": return CHANGE_WORDS[value] ? CHANGE_WORDS[value](...pairNow()) : value;
    default: return key.startsWith("column.") ? `${columnTitle(key.slice(7))} ${/^-?[\d.]*(e-?\d+)?\.\./.test(value) ? rangeWords(value) : `= ${value}`}` : `${key}: ${value}`;
  }
}

const filterPairs = () => STATE.pairs().filter(([key]) => !SETTINGS.includes(key));
const THRESHOLDS = ["at_score", "at_iou"];

function drawChips() {
  const holder = byId("chips"), pairs = filterPairs(), some = pairs.length || THRESHOLDS.some(STATE.has);
  const focused = [...holder.querySelectorAll("button")].indexOf(document.activeElement);
  holder.replaceChildren(...pairs.map(([key, value]) => {
    const words = chipWords(key, value);
    const chip = element("button", { type: "button", class: "chip", "aria-label": `Remove filter: ${words}`,
      onclick: () => STATE.set({ [key]: STATE.all(key).filter((other) => other !== value) }) }, named(words), element("span", { class: "cross", "aria-hidden": "true" }, "×"));
    const position = key === "class" ? DATA.names.indexOf(value) : -1;
    if (position >= 0) chip.prepend(classKey(position));
    return element("li", {}, chip);
  }), ...(some ? [element("li", {}, element("button", { type: "button", class: "plain", id: "reset", onclick: resetFilters }, "Reset all"))] : []));
  holder.hidden = !some;
  byId("open-panel-count").textContent = pairs.length ? String(pairs.length) : "";
  if (focused >= 0) (holder.querySelectorAll("button")[Math.min(focused, pairs.length - 1)] || byId("sort")).focus();
}

// The one way back: no filter, and the thresholds of the start.
function resetFilters() {
  STATE.set(Object.fromEntries([...filterPairs().map(([key]) => key), ...THRESHOLDS].map((key) => [key, null])));
  byId("said").focus?.();
}
