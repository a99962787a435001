// Parts of the panel in which one chooses among values: checkboxes for few of them, a list with a search for classes.

// A part of the panel that opens and closes. follow(answer) keeps it in step; keys: those of the address that it shows.
function fold(title, keys, { open = false, id = null } = {}, ...content) {
  const said = element("span", { class: "fold-said" });
  const holder = element("details", { class: "fold", id, open },
    element("summary", {}, element("h3", {}, title), said), element("div", { class: "fold-inside" }, content));
  function follow() {
    const active = keys.filter((key) => STATE.has(key)).length;
    said.textContent = active ? "on" : "";
    holder.classList.toggle("active", active > 0);
    if (active && !holder.dataset.touched) holder.open = true;
  }
  holder.querySelector("summary").addEventListener("click", () => { holder.dataset.touched = "1"; });
  return { holder, follow };
}

// How many marks there are, beside a name.
function sayCount(holder, count) {
  holder.textContent = count === undefined || count === null ? "" : whole(count);
  holder.classList.toggle("zero", count === 0);
}

// Facets are numbers by name; those of classes are a list.
const facetOf = (answer, key, value) => {
  const facet = answer?.facets?.[key];
  return facet ? facet[value] ?? (typeof facet === "object" ? 0 : null) : null;
};

// items: [{value, text, sample: element before the text, title}, ...]; each of them is chosen on its own.
function checks(key, items, label) {
  const lines = items.map(({ value, text, sample, title }) => {
    const box = element("input", { type: "checkbox", value, onchange: () => STATE.set({ [key]: toggled(STATE.all(key), value) }) });
    const count = element("span", { class: "facet" });
    return { value, box, count, line: element("label", { class: "check line", title }, box, sample, element("span", { class: "line-text" }, text), count) };
  });
  const holder = element("div", { class: "checks", role: "group", "aria-label": label }, lines.map(({ line }) => line));
  return {
    holder,
    follow(answer) {
      const chosen = STATE.all(key);
      for (const { value, box, count } of lines) {
        box.checked = chosen.includes(value);
        if (answer) sayCount(count, facetOf(answer, key, value));
      }
    },
  };
}

// The classes: one list for keys, whose arrows walk through it, and a search above it.
function classList(classes) {
  const state = { active: 0, shown: [], by: "name", typed: "" };
  const search = element("input", { type: "search", placeholder: "Search classes", "aria-label": "Search classes",
    "aria-controls": "class-options", autocomplete: "off", spellcheck: "false" });
  const list = element("div", { class: "options", id: "class-options", role: "listbox", tabindex: 0, "aria-label": "Classes",
    "aria-multiselectable": "true" });
  const none = element("p", { class: "small soft", hidden: true, role: "status" }, "No class has this name.");
  const options = classes.map(({ name, value = name }, position) => {
    const count = element("span", { class: "facet" });
    const line = element("div", { class: "option", role: "option", id: `class-option-${position}`, "aria-selected": "false" },
      element("span", { class: "tick", "aria-hidden": "true" }), classKey(position), element("span", { class: "line-text" }, named(name)), count);
    line.dataset.position = position;
    return { position, name, value, low: name.toLowerCase(), line, count, number: 0 };
  });
  const collator = new Intl.Collator("en", { numeric: true });
  const orders = {
    name: (a, b) => collator.compare(a.name, b.name) || a.position - b.position,
    count: (a, b) => b.number - a.number || a.position - b.position,
  };
  const by = element("div", { class: "choice small-choice", role: "group", "aria-label": "Order of the classes" },
    element("button", { type: "button", value: "name", "aria-pressed": "true" }, "A–Z"),
    element("button", { type: "button", value: "count", "aria-pressed": "false" }, "Most"));
  choice(by, (value) => { state.by = value; arrange(); });

  const busy = () => list.matches(":focus-visible, :hover");
  const choose = ({ value }) => STATE.set({ class: toggled(STATE.all("class"), value) });

  // Chosen classes stand first.
  function arrange() {
    const chosen = new Set(STATE.all("class")), active = state.shown[state.active];
    const isChosen = ({ value }) => chosen.has(value);
    const found = options.filter(({ low }) => low.includes(state.typed));
    state.shown = found.sort((a, b) => isChosen(b) - isChosen(a) || orders[state.by](a, b));
    list.replaceChildren(...state.shown.map(({ line }) => line));
    none.hidden = state.shown.length > 0;
    list.hidden = !state.shown.length;
    activate(Math.max(0, state.shown.indexOf(active)), false);
  }

  function activate(place, scroll = true) {
    list.querySelector(".current")?.classList.remove("current");
    state.active = Math.max(0, Math.min(state.shown.length - 1, place));
    const option = state.shown[state.active];
    if (!option) return list.removeAttribute("aria-activedescendant");
    option.line.classList.add("current");
    list.setAttribute("aria-activedescendant", option.line.id);
    if (scroll) option.line.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  search.addEventListener("input", () => {
    state.typed = search.value.trim().toLowerCase();
    arrange();
    activate(0, false);
    list.scrollTop = 0;
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && state.shown.length) {
      event.preventDefault();
      list.focus();
    }
    if (event.key === "Enter" && state.shown.length && state.typed) {
      event.preventDefault();
      choose(state.shown[0]);
    }
  });
  list.addEventListener("keydown", (event) => {
    const page = 8, last = state.shown.length - 1;
    const next = { ArrowDown: state.active + 1, ArrowUp: state.active - 1, PageDown: state.active + page, PageUp: state.active - page, Home: 0, End: last }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (next !== undefined) {
      event.preventDefault();
      activate(next);
    } else if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      if (state.shown[state.active]) choose(state.shown[state.active]);
    } else if (event.key.length === 1) search.focus(); // the letter is written into the search
  });
  list.addEventListener("click", (event) => {
    const line = event.target.closest(".option");
    if (!line) return;
    activate(state.shown.findIndex((option) => option.line === line), false);
    choose(state.shown[state.active]);
  });
  list.addEventListener("pointerleave", () => { if (state.late) { state.late = false; arrange(); } });

  return {
    holder: element("div", { class: "classes" }, element("div", { class: "search-row" }, search, classes.length > 7 ? by : null), list, none),
    follow(answer) {
      const chosen = new Set(STATE.all("class")), counts = answer?.facets?.class;
      for (const option of options) {
        option.line.setAttribute("aria-selected", String(chosen.has(option.value)));
        if (!counts) continue;
        option.number = counts[option.position] ?? 0;
        sayCount(option.count, option.number);
        option.line.classList.toggle("nothing", option.number === 0 && !chosen.has(option.value));
      }
      // The list does not move under the pointer or the keys of the reader.
      if (!state.shown.length && !state.typed) arrange();
      else if (busy()) state.late = true;
      else arrange();
    },
  };
}
