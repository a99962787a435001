// The panel "Numbers": AP, the curve, the kinds of errors and the confusions of what is filtered. The server computes them
// when the panel is open, and a slider has rested: it asks more often than a panel can be read.

const RESTED = 200; // milliseconds without a change
const FOLLOWED = ["class", "text", "tag", "noted", "model", "at_score", "at_iou"];
const NOT_FOLLOWED = { outcome: "Outcome", error: "Kind of error", true: "Confusion", predicted: "Confusion", score: "Score", size: "Size", area: "Area",
  flag: "Flags", issue: "Label issues", change: "Change" };

// AP is a number of whole images: it follows what chooses images and classes, and nothing that chooses regions.
const isFollowed = (key) => FOLLOWED.includes(key) || DATA.columns.some(({ name, of }) => key === `column.${name}` && of === "image");

// What a click in the panel filters takes the place of what the click before it filtered, and a second click takes it away.
const isPicked = (values) => Object.entries(values).every(([key, value]) => STATE.all(key).join() === value);
function pickPart(values) {
  STATE.set({ error: null, true: null, predicted: null, ...(isPicked(values) ? {} : values) });
  if (matchMedia("(max-width: 60rem)").matches) VIEW.set({ numbers: null }); // the images lie below it
}

function startNumbers() {
  const button = byId("open-numbers"), panel = byId("figures"), isOpen = () => VIEW.one("numbers") === "on";
  if (!DATA.models.length || DATA.annotators) { // its words are of a detector and the truth
    button.hidden = true;
    return;
  }
  if (!DATA.ranks) button.title = "Main numbers and errors of what is filtered (p)";
  const close = element("button", { type: "button", class: "button", onclick: () => VIEW.set({ numbers: null }) }, "Close");
  const words = element("p", { class: "small soft", role: "status" }), problem = element("p", { class: "problem", role: "alert", hidden: true });
  const drawings = [drawMeasures, ...(DATA.ranks ? [drawCurve] : []), drawErrors, drawConfusions].map((make) => {
    const holder = element("div", { class: "figure-part" });
    return { holder, ...make(holder) };
  });
  panel.append(element("div", { class: "figures-head" }, element("h2", { id: "figures-title", tabindex: -1 }, "Numbers"), close), words, problem,
    ...drawings.map(({ holder }) => holder));
  let asked = null, waiting = null;

  const question = () => new URLSearchParams(STATE.pairs().filter(([key]) => isFollowed(key))).toString();
  async function follow() {
    const query = question();
    if (!isOpen() || query === asked) return;
    asked = query;
    panel.classList.add("old");
    try {
      const numbers = await ask("numbers", { query });
      if (query !== asked) return;
      for (const { draw } of drawings) draw(numbers, Math.max(0, DATA.models.indexOf(STATE.one("model"))));
      say(numbers);
      problem.hidden = true;
    } catch (error) {
      asked = null;
      problem.textContent = error instanceof Refusal ? error.message : `Something failed: ${error.message}`;
      problem.hidden = false;
    }
    panel.classList.remove("old");
    mark();
    panel.dataset.shown = query;
  }
  let images = null;
  function say(numbers) {
    if (numbers) images = numbers.images;
    const classes = STATE.all("class"), left = [...new Set(filterPairs().filter(([key]) => !isFollowed(key))
      .map(([key]) => NOT_FOLLOWED[key] || (key === "iou" ? OVERLAP() : columnTitle(key.replace("column.", "")))))];
    words.textContent = images === null ? "" : [`${images === DATA.images ? (images === 1 ? "The" : "All") : `${whole(images)} of`} ${plural(DATA.images, "image")}`,
      classes.length ? `, ${classes.length === 1 ? `class ${classes[0]}` : plural(classes.length, "class", "classes")}` : "", ".",
      left.length ? ` These numbers are of whole images, so they do not follow the filter ${left.map((title) => `“${title}”`).join(" and ")}.` : ""].join("");
  }
  // What is filtered now, as the cells and bars have it: there may be a thousand cells.
  function mark() {
    const now = [["error"], ["true", "predicted"]].map((keys) => JSON.stringify(Object.fromEntries(keys.map((key) => [key, STATE.all(key).join()]))));
    for (const part of panel.querySelectorAll("[data-picks]")) {
      const name = part.matches("td") ? "aria-selected" : "aria-pressed", is = String(now.includes(part.dataset.picks));
      if (part.getAttribute(name) !== is) part.setAttribute(name, is);
    }
  }
  parts.push((answer) => {
    if (!isOpen()) return;
    say();
    mark();
    clearTimeout(waiting);
    if (answer) waiting = setTimeout(follow, RESTED);
  });
  document.addEventListener("notes-changed", () => { asked = null; });

  function show() {
    const opens = isOpen();
    if (opens === !panel.hidden) return;
    const hadFocus = panel.contains(document.activeElement);
    panel.hidden = !opens;
    byId("layout").classList.toggle("with-numbers", opens);
    button.setAttribute("aria-expanded", String(opens));
    if (opens) follow();
    else if (hadFocus) button.focus();
  }
  const turn = () => {
    VIEW.set({ numbers: isOpen() ? null : "on" });
    if (isOpen()) byId("figures-title").focus();
  };
  button.addEventListener("click", turn);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input:not([type=checkbox], [type=range]), textarea, select, #class-options")) return; // letters are written
    if (event.key === "p") turn();
    else if (event.key === "Escape" && isOpen()) turn();
    else return;
    event.preventDefault();
  });
  VIEW.listen(show);
  show();
}

// A row of numbers for each model.
function drawMeasures(holder) {
  const table = element("table", { class: "measures" });
  holder.append(table);
  return { draw({ models }) {
    const keys = Object.keys(models[0].measures), many = models.length > 1;
    table.replaceChildren(element("caption", { class: "unseen" }, `Main numbers; precision, recall and F1 ${DATA.ranks ? "at the score threshold" : "of all detections"}`),
      element("thead", {}, element("tr", {}, keys.map((key) => element("th", { scope: "col", class: "num" }, key)),
        COUNT_TITLES.slice(3).map(([, title, meaning]) => element("th", { scope: "col", class: "num", title: meaning }, title)))),
      ...models.map(({ measures, counts }, at) => element("tbody", {},
        many ? element("tr", {}, element("th", { scope: "rowgroup", colspan: keys.length + 3 }, named(DATA.models[at]))) : null,
        element("tr", {}, keys.map((key) => element("td", { class: "num main" }, fixed(measures[key] ?? NaN))),
          COUNT_TITLES.slice(3).map(([key]) => element("td", { class: "num" }, fixed(counts[key] ?? NaN)))))));
  } };
}

// The curve of each model, with the point of its score threshold. A click on it is a score threshold.
function drawCurve(holder) {
  const chart = element("div", { class: "chart" }), names = element("ul", { class: "legend", hidden: DATA.models.length < 2 });
  holder.append(element("h3", {}, "Precision over recall"), chart, names);
  let numbers = null, model = 0;
  const styleOf = (at) => (at === model ? "" : `layer layer-${at + 1}`), known = (values) => values.map((value) => value ?? NaN);
  function redraw() {
    if (!numbers) return;
    const curves = numbers.models.map(({ curve }) => ({ score: curve.score, recall: known(curve.recall), precision: known(curve.precision) }));
    const here = curves[model], { recall, precision } = numbers.models[model].counts;
    lineChart(chart, {
      label: `Precision over recall of ${DATA.models[model]}. At the score threshold: recall ${spoken(recall ?? NaN)}, precision ${spoken(precision ?? NaN)}.`,
      x: { title: "recall", low: 0, high: 1 }, y: { title: "precision", low: 0, high: 1 },
      series: curves.map((curve, at) => ({ style: styleOf(at), points: curve.recall.map((value, k) => [value, curve.precision[k]]) })),
      dots: numbers.models.map(({ counts }, at) => ({ style: styleOf(at), x: counts.recall ?? NaN, y: counts.precision ?? NaN })),
      pick(x, y) {
        let best = -1, least = Infinity;
        here.recall.forEach((value, k) => {
          const far = (value - x) ** 2 + (here.precision[k] - y) ** 2;
          if (far < least) [best, least] = [k, far];
        });
        if (best >= 0) STATE.set({ at_score: String(here.score[best]) }, { soft: true });
      },
    });
    legend(names, DATA.models.map((name, at) => [named(name), styleOf(at)]));
  }
  drawnToFit(chart, redraw);
  return { draw(found, at) {
    [numbers, model] = [found, at];
    redraw();
  } };
}

const ofModel = (at) => (DATA.models.length > 1 ? [" of ", named(DATA.models[at])] : []);

function drawErrors(holder) {
  const list = element("ul", { class: "error-bars", role: "list" });
  const title = element("h3", {});
  holder.append(title, list);
  const rows = DATA.errors.map((kind) => {
    const { plain, meaning } = WORDS.errors[kind], fill = element("span", { class: `fill${kind === "missed" ? " of-objects" : ""}` }), count = element("b", {});
    const row = element("button", { type: "button", class: "error-bar", title: meaning, "data-picks": JSON.stringify({ error: kind }), onclick: () => pickPart({ error: kind }) },
      element("span", {}, capitalized(plain)), element("span", { class: "track", "aria-hidden": "true" }, fill), count);
    list.append(element("li", {}, row));
    return { kind, fill, count };
  });
  return { draw({ errors }, model) {
    title.replaceChildren("Kinds of errors", ...ofModel(model));
    const most = Math.max(1, ...Object.values(errors));
    for (const { kind, fill, count } of rows) {
      fill.style.width = `${(100 * errors[kind]) / most}%`;
      count.textContent = whole(errors[kind]);
    }
  } };
}

const shortCount = (count) => (count < 1e4 ? String(count) : `${Math.round(count / 1e3)}k`);

function drawConfusions(holder) {
  const title = element("h3", {}), shown = element("div", {}), background = DATA.names.length;
  holder.append(title, shown);
  const truth = (k) => DATA.names[k] ?? "background", predicted = (k) => DATA.names[k] ?? "missed", key = (k) => DATA.names[k] ?? "background";
  const picks = (a, b) => ({ true: key(a), predicted: key(b) });

  function list(cells) {
    shown.replaceChildren(cells.length ? element("ul", { class: "error-bars confusions", role: "list" }, cells.map(([a, b, count]) => element("li", {},
      element("button", { type: "button", class: "error-bar", "data-picks": JSON.stringify(picks(a, b)), onclick: () => pickPart(picks(a, b)) },
        element("span", {}, named(truth(a)), " detected as ", named(predicted(b))), element("b", {}, whole(count))))))
      : element("p", { class: "small soft" }, "No class is detected as another."));
  }
  // Cells with something right are blue, others red; the more, the darker. The square root keeps a few errors visible.
  function matrix(classes, cells) {
    const places = [...classes, background], counts = new Map(cells.map(([a, b, count]) => [`${a} ${b}`, count]));
    const most = [true, false].map((right) => Math.max(1, ...cells.filter(([a, b]) => (a === b) === right).map(([, , count]) => count)));
    const cell = (a, b) => {
      const count = counts.get(`${a} ${b}`) || 0;
      const td = element("td", { role: "gridcell", tabindex: -1, class: !count ? "none" : a === b ? "right" : "wrong", "data-picks": JSON.stringify(picks(a, b)),
        "aria-label": `${truth(a)}, predicted ${predicted(b)}: ${whole(count)}` }, count ? shortCount(count) : "");
      td.style.setProperty("--share", String(Math.sqrt(count / most[a === b ? 0 : 1])));
      return td;
    };
    const before = shown.querySelector('td[tabindex="0"]'), hadFocus = shown.contains(document.activeElement), was = before?.dataset.picks;
    const table = element("table", { role: "grid", "aria-label": "Confusion matrix: rows are true classes, columns predicted ones" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, element("th", { role: "columnheader", class: "corner" }, "predicted →", element("br"), "true ↓"),
        places.map((b) => element("th", { role: "columnheader", title: predicted(b) }, element("span", {}, predicted(b)))))),
      element("tbody", { role: "rowgroup" }, places.map((a) => element("tr", { role: "row" }, element("th", { role: "rowheader", title: truth(a) }, named(truth(a))), places.map((b) => cell(a, b))))));
    shown.replaceChildren(element("div", { class: "confusion-matrix" }, table));
    const first = [...table.querySelectorAll("td")].find((td) => td.dataset.picks === was) || table.querySelector("td");
    first.tabIndex = 0;
    if (hadFocus) first.focus();
  }

  function pick(td) {
    if (!td.classList.contains("none")) pickPart(JSON.parse(td.dataset.picks));
  }
  function focus(td) {
    for (const other of shown.querySelectorAll('td[tabindex="0"]')) other.tabIndex = -1;
    td.tabIndex = 0;
    td.focus();
  }
  shown.addEventListener("click", (event) => {
    const td = event.target.closest("td");
    if (!td) return;
    focus(td);
    pick(td);
  });
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity] };
  shown.addEventListener("keydown", (event) => {
    const td = event.target.closest("td"), step = STEPS[event.key];
    if (!td || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    if (!step) {
      pick(td);
      return;
    }
    const rows = [...td.closest("tbody").rows], within = (at, count) => Math.max(0, Math.min(count - 1, at));
    focus(rows[within(rows.indexOf(td.parentElement) + step[0], rows.length)].cells[1 + within(td.cellIndex - 1 + step[1], rows.length)]);
  });
  return { draw({ classes, cells }, model) {
    title.replaceChildren(classes ? "Confusion matrix" : "Most frequent confusions", ...ofModel(model));
    if (classes) matrix(classes, cells);
    else list(cells);
  } };
}
