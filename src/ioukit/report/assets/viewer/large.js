// One image large: its regions, what each of them is and why, the images before and after it. The address has
// image=POSITION behind "#" while it is open.

let large = null; // what startLarge made
let wantedLarge = null; // asked for before that

function openLarge(at) {
  if (!large) wantedLarge = at;
  else if (VIEW.one("image") === String(at)) large.follow();
  else VIEW.set({ image: at }, { soft: true });
}

function closeLarge() {
  if (large) VIEW.set({ image: null });
}

// How pictures are arranged: two annotators stand beside each other, models in one picture.
const layersNow = () => VIEW.one("layers", DATA.annotators ? "sides" : "one");

// Answers about images, the last ones kept; those beside the one that is shown are asked for early.
function makeImages() {
  const kept = new Map();
  document.addEventListener("notes-changed", () => kept.clear());
  return (at, query) => {
    const key = `${at} ${query}`;
    if (!kept.has(key)) {
      const asked = performance.now(), answer = ask("image", { more: { at }, query }).then((image) => Object.assign(image, { asked }));
      kept.set(key, answer);
      answer.catch(() => kept.delete(key));
      if (kept.size > 24) kept.delete(kept.keys().next().value);
    }
    return kept.get(key);
  };
}

function largeDialog() {
  const button = (id, words, sign) => element("button", { type: "button", class: "button", id, "aria-label": words, title: words }, sign);
  return element("dialog", { id: "large", "aria-labelledby": "large-title" },
    element("div", { class: DATA.tracks ? "large tracked" : "large" },
      element("div", { class: "large-head" },
        element("div", { class: "large-name" }, element("h2", { id: "large-title", tabindex: -1 }), element("p", { class: "small soft", id: "large-words", role: "status" })),
        element("div", { class: "controls" }, button("large-before", "Image before (key ←)", "←"), button("large-next", "Next image (key →)", "→"),
          button("large-close", "Back to the images (key Escape)", "Close"))),
      element("div", { class: "large-tools controls", id: "large-tools" }),
      DATA.tracks ? element("div", { class: "large-frames", id: "large-frames", role: "group", "aria-label": "Frames and events" }) : null,
      element("p", { class: "problem", id: "large-problem", role: "alert", hidden: true }),
      element("div", { class: "large-picture", id: "large-picture" }, element("div", { class: "large-stage", id: "large-stage" })),
      element("div", { class: "large-side", id: "large-side" },
        element("div", { class: "large-details", id: "large-details", role: "region", "aria-label": "Details", tabindex: 0 }),
        element("div", { class: "large-list", id: "large-list" }),
        element("details", { class: "large-keys" }, element("summary", {}, "Keys"),
          element("dl", { class: "known" }, keysOfImage().flatMap(([key, words]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, words)]))))));
}

function startLarge(grid) {
  const dialog = document.body.appendChild(largeDialog()), images = makeImages();
  const holder = byId("large-stage"), details = byId("large-details"), wipe = makeWipe(byId("large-picture"));
  const colours = [["outcome", FILTER_TITLES.outcome], ["class", "Class"], ...(DATA.tracks ? [["track", "Track"]] : [])];
  const state = { at: null, image: null, marks: [], model: 0, chosen: null, hot: null, pane: 0, turn: 0 };
  const stage = makeStage(holder, dialog, {
    hovered: (k, pane) => point(k, pane),
    picked: (k, pane) => pick(k, pane, true),
  });
  const frames = DATA.tracks ? makeFrames(byId("large-frames"), stage, { go: (at) => VIEW.set({ image: at }, { soft: true }), pick: (pane, k) => pick(k, pane) }) : null;
  const list = makeMarkList(byId("large-list"), { picked: (k) => pick(k, stage.panes()[state.pane]), pointed: (k) => { state.hot = k; spotlight(false); }, opened: () => closer() });

  const order = () => grid.order();
  const place = () => order().indexOf(state.at);
  const closer = () => { if (state.chosen !== null) stage.lookAt(stage.panes()[state.pane], state.chosen, true); };

  // The mark that is pointed at, or else the one that was chosen, with its partner.
  function spotlight(withDetails = true) {
    const k = state.hot ?? state.chosen;
    stage.panes().forEach((pane, at) => {
      const marks = pane.details, here = at === state.pane || stage.panes().length === 1 || pane.only !== null, spots = [];
      if (here && k !== null && marks[k]) {
        const other = marks[k].partner ?? marks[k].about;
        if (other !== null) spots.push([other, "partner"]);
        if (state.chosen !== null && state.chosen !== k) spots.push([state.chosen, "picked"]);
        spots.push([k, "picked"]);
      } else if (k !== null && stage.panes()[state.pane].details[k]) {
        // The same object, beside: its row in the data is the same.
        const { side, row } = stage.panes()[state.pane].details[k];
        const same = side === 0 ? marks.find((mark) => mark.side === 0 && mark.row === row) : null;
        if (same) spots.push(...(same.partner === null ? [] : [[same.partner, "partner"]]), [same.k, "picked"]);
      }
      stage.spots(pane, spots.filter(([other]) => pane.only === null || marks[other].side === pane.only));
    });
    const pane = stage.panes()[state.pane];
    if (pane && withDetails) showDetails(details, pane.answer, pane.details, k, { go: (other) => pick(other, pane), closer });
  }
  function point(k, pane) {
    const panes = stage.panes();
    if (k !== null && pane && panes.indexOf(pane) !== state.pane) {
      state.chosen = null;
      turnTo(panes.indexOf(pane));
    }
    state.hot = k;
    spotlight();
  }
  function turnTo(at) {
    state.pane = Math.max(0, at);
    listMarks();
  }
  function pick(k, pane, byPointer = false) {
    if (pane && stage.panes().indexOf(pane) !== state.pane) turnTo(stage.panes().indexOf(pane));
    state.chosen = k;
    state.hot = null;
    list.mark(k);
    spotlight();
    if (k !== null && !byPointer) stage.lookAt(stage.panes()[state.pane], k, false);
    byId("large-side").scrollTop = 0; // on a narrow screen, the list stands below the details
  }
  function listMarks() {
    const pane = stage.panes()[state.pane];
    if (!pane) return;
    const shown = new Set(pane.marks.map(({ k }) => k));
    const here = pane.details.filter(({ side }) => pane.only !== null ? side === pane.only : side === 0 || side === pane.model + 1 || VIEW.one("layers") === "all");
    list.show(pane.details.filter(({ k }) => shown.has(k)), here, pane.model);
  }

  // Which pictures stand beside each other: [model, filter with that model, the side whose marks are drawn if not all].
  function sources() {
    const query = STATE.text(), own = Math.max(0, DATA.models.indexOf(STATE.one("model")));
    if (DATA.annotators) return layersNow() === "sides" ? [[0, query, 0], [0, query, 1]] : [[0, query]];
    const names = { sides: DATA.models, wipe: pairNow() }[VIEW.one("layers")] || [];
    if (names.length < 2) return [[own, query]];
    return names.map((name) => {
      const pairs = new URLSearchParams(query);
      pairs.set("model", name);
      return [DATA.models.indexOf(name), pairs.toString()];
    });
  }

  async function show() {
    const at = state.at, turn = ++state.turn, wanted = sources(), wiped = VIEW.one("layers") === "wipe" && wanted.length > 1;
    const early = setTimeout(() => dialog.classList.add("waiting"), 200);
    try {
      const answers = await Promise.all(wanted.map(([, query]) => images(at, query)));
      if (turn !== state.turn) return;
      const same = state.image && state.image.at === at && stage.panes().length === answers.length;
      // Within a sequence, the zoomed part and the chosen track stay.
      const near = same || Boolean(state.image && frames?.together(state.image.at, at) && stage.panes().length === answers.length
        && state.image.w === answers[0].w && state.image.h === answers[0].h);
      const before = near && state.chosen !== null ? stage.panes()[state.pane]?.details[state.chosen] : null;
      Object.assign(DATA.drawing, answers[0].style);
      state.image = answers[0];
      state.pane = wiped ? wipe.seen() : Math.min(near ? state.pane : 0, answers.length - 1);
      wipe.show(wiped ? pairNow() : null);
      stage.show(answers.map((image, k) => ({ image, model: wanted[k][0], only: wanted[k][2],
        title: answers.length < 2 ? null : DATA.annotators ? DATA.annotators[wanted[k][2]] : DATA.models[wanted[k][0]] })), near);
      stage.panes().forEach((pane, k) => Object.assign(pane, { answer: answers[k], details: detailedMarks(answers[k]) }));
      byId("large-problem").hidden = true;
      head();
      const again = before && stage.panes()[state.pane].details.find(({ side, row, label, track }) => side === before.side
        && (same ? row === before.row : track && track === before.track && label === before.label));
      state.chosen = again ? again.k : null;
      state.hot = null;
      listMarks();
      list.mark(state.chosen);
      spotlight();
      frames?.show(at, wanted.map(([model]) => model));
      // The next images are ready when they are asked for.
      for (const next of [order()[place() + 1], order()[place() - 1], frames?.after(at)]) {
        if (next === undefined) continue;
        for (const [, query] of wanted) images(next, query).then((image) => { if (image.photo) new Image().src = `photo?at=${next}`; }, () => {});
      }
    } catch (error) {
      if (turn !== state.turn) return;
      byId("large-problem").textContent = error instanceof Refusal ? error.message : `Something failed: ${error.message}`;
      byId("large-problem").hidden = false;
    } finally {
      clearTimeout(early);
      if (turn === state.turn) dialog.classList.remove("waiting");
    }
  }
  function head() {
    const { image } = state, here = place(), total = order().length;
    byId("large-title").replaceChildren(named(image.name));
    const counts = DATA.models.length ? countsOn(image, sources()[0][0]) : null;
    const words = [here < 0 ? "not among the filtered images" : `${whole(here + 1)} of ${plural(total, "image")}`,
      counts ? countsSaid(counts) : plural(state.image.marks.length, "object"),
      ...(image.tags || []).length ? [`tagged ${image.tags.join(", ")}`] : []];
    byId("large-words").textContent = words.join(" · ");
    const ends = { "large-before": here <= 0, "large-next": here < 0 || here === total - 1 };
    for (const [id, end] of Object.entries(ends)) {
      // A disabled button loses the focus, and then keys have no effect.
      if (end && document.activeElement === byId(id)) byId("large-close").focus();
      byId(id).disabled = end;
    }
  }

  function move(step) {
    const next = order()[place() + step];
    if (place() >= 0 && next !== undefined) VIEW.set({ image: next }, { soft: true });
  }
  byId("large-before").addEventListener("click", () => move(-1));
  byId("large-next").addEventListener("click", () => move(1));
  byId("large-close").addEventListener("click", closeLarge);
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    closeLarge();
  });
  const acts = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), k: () => move(-1), j: () => move(1), ArrowDown: () => list.step(1), ArrowUp: () => list.step(-1),
    f: flip, l: () => switchLabels(), c: () => chooseColour(nextColour()), ...frames?.acts };
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    const inList = event.target === list.list;
    if (event.key === "Enter" && inList) closer();
    else if (inList && event.key === "Home") list.first();
    else if (inList && event.key === "End") list.last();
    else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  });

  const nextColour = () => colours[(colours.findIndex(([value]) => value === colourNow()) + 1) % colours.length][0];
  // Another model in the place of the one that is seen.
  function flip() {
    if (DATA.models.length < 2) return;
    if (VIEW.one("layers") === "wipe") {
      wipe.flip();
      state.chosen = state.hot = null;
      turnTo(wipe.seen());
      spotlight();
    } else {
      wipe.set(STATE.one("model", DATA.models[0]) === pairNow()[0] ? 0 : 100);
      VIEW.set({ layers: "wipe" });
    }
  }
  const switchLabels = () => VIEW.set({ names: VIEW.one("names") === "off" ? null : "off" });
  const followTools = startLargeTools(byId("large-tools"), stage, { switchLabels, colours });
  function look(changed) {
    followTools();
    holder.classList.toggle("by-class", colourNow() !== "outcome");
    dialog.classList.toggle("class-colours", colourNow() === "track");
    if (!state.image || !dialog.open) return;
    if (!changed || changed.some((key) => ["hide", "others", "layers", "photos", "trails", ...(DATA.tracks ? ["colour"] : [])].includes(key))) show();
    if (!changed || changed.includes("names")) stage.labels(VIEW.one("names") !== "off");
  }

  // The address says which image is open.
  function follow() {
    const text = VIEW.one("image"), at = Number(text);
    if (text === null || text === "" || !Number.isInteger(at) || at < 0 || at >= DATA.images) {
      if (dialog.open) {
        frames?.stop();
        dialog.close();
        if (state.at !== null) grid.focusImage(state.at);
      }
      state.at = null;
      return;
    }
    if (!dialog.open) {
      dialog.showModal();
      byId("large-title").focus();
      state.image = null;
    }
    if (at === state.at && state.image) return;
    state.at = at;
    show();
  }
  VIEW.listen((changed) => {
    look(changed);
    if (!changed || changed.includes("image")) follow();
  });
  STATE.listen(() => { if (dialog.open) show(); });
  stage.labels(VIEW.one("names") !== "off");
  look([]);
  large = { follow };
  if (wantedLarge !== null) openLarge(wantedLarge);
  wantedLarge = null;
}

// The switches above a large image. They are those of the grid, in the same address.
function startLargeTools(holder, stage, { switchLabels, colours }) {
  const box = (text, change, ...keys) => {
    const input = element("input", { type: "checkbox", onchange: change });
    holder.append(element("label", { class: "check" }, input, ...keys, text));
    return input;
  };
  const group = (words, options, change) => {
    const made = element("div", { class: "choice", role: "group", "aria-label": words }, options.map(([value, text]) => element("button", { type: "button", value }, text)));
    choice(made, change);
    holder.append(made);
    return (value) => { for (const button of made.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === value)); };
  };
  const kinds = DATA.models.length ? OUTCOMES : OUTCOMES.filter(({ value }) => ["detected", "ignored"].includes(value));
  const boxes = kinds.map(({ kind, text, short }) => [kind, box(DATA.annotators ? text : DATA.models.length ? short : text.replace("Detected o", "O"), () => {
    hideKinds(toggled(hiddenKinds(), kind));
  }, outcomeKey(kind))]);
  boxes.forEach(([, input], at) => { input.setAttribute("aria-label", kinds[at].text); });
  const others = box("not selected", () => VIEW.set({ others: others.checked ? null : "off" }));
  others.setAttribute("aria-label", "Regions that the filters leave out");
  const labels = box("labels", switchLabels);
  const colour = group("Colour", colours, chooseColour);
  let models = () => {}, layers = () => {};
  if (DATA.models.length > 1) {
    models = group("Model", DATA.models.map((name) => [name, name]), (value) => STATE.set({ model: value === DATA.models[0] ? null : value }));
    layers = group("Models", [["one", "One"], ["all", "Layers"], ["sides", "Side by side"], ["wipe", "Wipe"]], (value) => VIEW.set({ layers: value === "one" ? null : value }));
  }
  if (DATA.annotators) layers = group("Pictures", [["one", "One"], ["sides", "Side by side"]], (value) => VIEW.set({ layers: value === "sides" ? null : value }));
  byId("large-picture").append(zoomButtons(stage.zoom));
  return () => {
    const gone = hiddenKinds();
    for (const [kind, input] of boxes) input.checked = !gone.includes(kind);
    others.checked = VIEW.one("others") !== "off";
    others.parentNode.hidden = !filterPairs().length;
    labels.checked = VIEW.one("names") !== "off";
    colour(colourNow());
    models(STATE.one("model", DATA.models[0]));
    layers(layersNow());
  };
}
