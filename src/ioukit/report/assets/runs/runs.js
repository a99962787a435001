// The runs of a ledger: one group of them over time and as a table, and two of them side by side.

const RUNS = DATA.runs;
// group: the one that is shown. key: the chosen number. wanted: the filter. pair: positions of A and B, the older choice
// first. order: how the table is sorted, the column and its direction.
const state = { group: 0, key: "", wanted: "", pair: [], order: null };
const LETTERS = ["A", "B"];
let table = null;

const keys = () => DATA.groups[state.group].keys;
const members = () => RUNS.map((_, k) => k).filter((k) => RUNS[k].group === state.group);
const label = (k) => `${RUNS[k].name}@${RUNS[k].number}`;
const namesIn = (field, rows) => [...new Set(rows.flatMap((k) => Object.keys(RUNS[k][field])))];
const limits = (k, key) => RUNS[k].limits[key];
const level = (k, key) => `${Number((100 * limits(k, key)[2]).toPrecision(6))} % interval`;
const interval = (k, key) => { const [low, high] = limits(k, key); return `${fixed(low)} to ${fixed(high)}`; };

// A number of the protocol, or else a value of the user.
function number(k, key) {
  const at = keys().indexOf(key), found = at < 0 ? RUNS[k].values[key] : RUNS[k].numbers[at];
  return found === null || found === undefined ? NaN : found;
}
const written = (key, value) => (keys().includes(key) ? fixed(value) : score(value));

function choose(k) {
  state.pair = state.pair.includes(k) ? state.pair.filter((other) => other !== k) : [...state.pair, k].slice(-2);
  for (const button of byId("table").querySelectorAll("button[data-run]")) mark(button);
  drawChart();
  drawPair();
}

function mark(button) {
  const at = state.pair.indexOf(Number(button.dataset.run));
  button.setAttribute("aria-pressed", String(at >= 0));
  button.previousElementSibling.textContent = at < 0 ? "\u00a0" : LETTERS[at];
}

function runButton(k) {
  const button = element("button", { type: "button", "data-run": k, onclick: () => choose(k) }, named(label(k)));
  const cell = element("span", { class: "with-letter" }, element("span", { class: "letter", "aria-hidden": "true" }), button);
  mark(button);
  return cell;
}

// The runs of the group whose name or tags have the words of the filter.
function shown() {
  const text = (k) => [label(k), ...Object.entries(RUNS[k].tags).map((pair) => pair.join("="))].join(" ").toLowerCase();
  const words = state.wanted.split(/\s+/);
  return members().filter((k) => words.every((word) => text(k).includes(word)));
}

function drawLead(rows) {
  const { key } = state, defined = rows.filter((k) => Number.isFinite(number(k, key))).sort((a, b) => number(a, key) - number(b, key));
  const said = (k) => `${written(key, number(k, key))} (${label(k)})`;
  const newest = rows.at(-1), low = defined[0], high = defined.at(-1);
  let lead = rows.length ? `${key} of the newest run, ${label(newest)}, is ${Number.isFinite(number(newest, key)) ? written(key, number(newest, key)) : "undefined"}` : "No run fits the filter";
  if (rows.length && limits(newest, key)) lead += `, its ${level(newest, key)} is ${interval(newest, key)}`;
  if (defined.length > 1) lead += `. ${plural(defined.length, "run")} reach from ${said(low)} to ${said(high)}`;
  byId("lead").textContent = `${lead}.`;
  byId("said").textContent = `${state.wanted ? `${whole(rows.length)} of ` : ""}${plural(members().length, "run")}`;
  const known = rows.filter((k) => limits(k, key)).length;
  const words = `A dot is a run, and a line joins the runs of one name. ${known
    ? `An upright line is the interval of the number on endlessly many images. AP is lower on many images than on few, so a dot may lie high on its line, or above it. ${known < rows.length ? `${whole(known)} of ${plural(rows.length, "run")} have an interval: ` : "All runs have an interval: "}`
    : "No run has an interval of this number: "}`;
  byId("chart-words").replaceChildren(words, element("code", {}, "ioukit eval --log --intervals"), " keeps them.");
}

// The axis of the runs, with dates. What all runs have in common, the day or the year, stands in its title.
function dates(rows, wanted) {
  const [first, last] = [RUNS[rows[0]].added, RUNS[rows.at(-1)].added], step = Math.max(1, Math.ceil(rows.length / wanted));
  const same = [10, 4, 0].find((length) => first.slice(0, length) === last.slice(0, length));
  const part = { 10: [11, 16], 4: [5, 10], 0: [0, 7] }[same];
  return { title: `runs${same ? ` of ${first.slice(0, same)}` : ""}, by time`, low: -0.5, high: rows.length - 0.5,
    ticks: rows.map((k, at) => ({ value: at, text: RUNS[k].added.slice(...part) })).filter(({ value }) => value % step === 0) };
}

function drawChart() {
  const { key } = state, rows = shown(), holder = byId("chart");
  const seen = rows.flatMap((k) => [number(k, key), ...(limits(k, key) || []).slice(0, 2)]).filter(Number.isFinite);
  if (!seen.length) {
    holder.replaceChildren(element("p", { class: "soft small" }, rows.length ? "This number is undefined for all runs." : "No run fits the filter."));
    return;
  }
  const [least, most] = [Math.min(...seen), Math.max(...seen)], room = (most - least) * 0.08 || Math.abs(most) * 0.05 || 0.01;
  const names = new Map();
  rows.forEach((k, at) => {
    const of = names.get(RUNS[k].name) || names.set(RUNS[k].name, []).get(RUNS[k].name);
    if (Number.isFinite(number(k, key))) of.push([at, number(k, key)]);
  });
  const dot = (k, at) => {
    const chosen = state.pair.indexOf(k), [low, high] = limits(k, key) || [];
    return { style: chosen < 0 ? "" : "chosen", x: at, y: number(k, key), low, high, r: chosen >= 0 ? 6 : rows.length > 150 ? 3 : 5,
      text: LETTERS[chosen], pick: () => choose(k),
      words: `${label(k)}, ${RUNS[k].added}: ${key} ${written(key, number(k, key))}${limits(k, key) ? `, ${interval(k, key)}` : ""}` };
  };
  const dots = rows.map(dot);
  lineChart(holder, { label: `${key} over time. ${byId("lead").textContent}`,
    x: dates(rows, holder.clientWidth < 500 ? 4 : 8),
    y: { title: key, low: least < 0 ? least - room : Math.max(0, least - room), high: most + room },
    series: [...names.values()].map((points) => ({ style: "", points })),
    dots: [...dots.filter((one) => !one.style), ...dots.filter((one) => one.style)] });
}

// A tag may have no text, and a run may not have the tag.
const tagText = (k, tag) => named(RUNS[k].tags[tag] === "" ? "yes" : RUNS[k].tags[tag] ?? "–");

// Tags whose texts are all numbers are sorted as numbers. A run without the tag is last.
function tagColumn(tag) {
  const texts = RUNS.map(({ tags }) => tags[tag]), given = texts.filter(Boolean);
  const num = given.length > 0 && given.every((text) => Number.isFinite(Number(text)));
  const order = num ? texts.map(Number) : places(texts.map((text) => text || ""));
  return { title: tag, num, value: (k) => (texts[k] ? order[k] : NaN), cell: (k) => tagText(k, tag) };
}

function numberColumn(key) {
  return { title: key, num: true, value: (k) => number(k, key), cell: (k) => written(key, number(k, key)) };
}

function drawTable() {
  const rows = members(), { key } = state, order = places(RUNS.map((_, k) => label(k)));
  const columns = [{ title: "run", value: (k) => order[k], cell: runButton }, numberColumn(key)];
  if (rows.some((k) => Object.keys(RUNS[k].limits).length)) {
    const some = rows.find((k) => limits(k, key));
    columns.push({ title: some === undefined ? "interval" : level(some, key), num: true, value: (k) => (limits(k, key) || [NaN])[0], cell: (k) => (limits(k, key) ? interval(k, key) : "–") });
  }
  columns.push({ title: "added", num: true, value: (k) => k, cell: (k) => RUNS[k].added }, ...namesIn("tags", rows).map(tagColumn),
    ...[...namesIn("values", rows), ...keys()].filter((one) => one !== key).map(numberColumn));
  const start = state.order || [columns.findIndex(({ title }) => title === "added"), "descending"];
  table = pagedTable(byId("table"), { label: "Table of the runs", columns, rows: shown(), start });
  startHints(byId("table"));
}

function drawPair() {
  const { pair } = state, full = pair.length === 2;
  byId("pair-said").textContent = full ? `A is ${label(pair[0])}, added ${RUNS[pair[0]].added}. B is ${label(pair[1])}, added ${RUNS[pair[1]].added}.`
    : members().length < 2 ? "There is one run, and none to compare it with." : `Choose ${pair.length ? "another run" : "two runs"} above.`;
  byId("pair-area").hidden = byId("pair-command").hidden = !full;
  if (DATA.compare) byId("pair-link").hidden = !full;
  if (!full) return;
  if (DATA.compare) byId("open").href = `${DATA.compare}?a=${RUNS[pair[0]].id}&b=${RUNS[pair[1]].id}`;
  const cell = (words) => element("td", { class: "num" }, words);
  const row = (name, values, text, difference) => element("tr", {}, element("th", { scope: "row" }, named(name)), values.map((value, at) =>
    element("td", { class: "num" }, text(value), limits(pair[at], name) ? element("span", { class: "small soft" }, element("br"), interval(pair[at], name)) : null)),
    cell(difference(values[1] - values[0])));
  const sign = (value, text) => (value > 0 ? `+${text(value)}` : value < 0 ? `−${text(-value)}` : text(value));
  const differ = (field) => namesIn(field, pair).filter((name) => RUNS[pair[0]][field][name] !== RUNS[pair[1]][field][name]);
  const numbers = keys().map((key) => row(key, pair.map((k) => number(k, key)), fixed, signed));
  const values = namesIn("values", pair).map((key) => row(key, pair.map((k) => number(k, key)), score, (value) => sign(value, score)));
  const counts = differ("counts").map((key) => row(key, pair.map((k) => RUNS[k].counts[key]), whole, (value) => sign(value, whole)));
  const tags = differ("tags").map((tag) => element("tr", {}, element("th", { scope: "row" }, named(tag)), pair.map((k) => cell(tagText(k, tag))), cell("differs")));
  byId("pair-table").replaceChildren(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Number"),
    ["A", "B", "B − A"].map((title) => element("th", { scope: "col", class: "num" }, title)))), element("tbody", {}, numbers, values, counts, tags));
  byId("command").value = [...DATA.command, ...pair.map((k) => RUNS[k].chosen_by)].map(shellWord).join(" ");
  byId("copied").textContent = "";
}

function follow() {
  drawLead(shown());
  drawChart();
}

function showKey(key) {
  state.key = key;
  if (table) state.order = table.order();
  drawTable();
  follow();
}

function showGroup(group) {
  Object.assign(state, { group, order: null });
  table = null;
  state.pair = members().slice(-2);
  const every = [...keys(), ...namesIn("values", members())];
  byId("key").replaceChildren(...every.map((key) => element("option", {}, key)));
  showKey(every.includes(state.key) ? state.key : every[0] || "");
  byId("key").value = state.key;
  byId("group-words").textContent = DATA.groups[group].words;
  drawPair();
}

function start() {
  const select = byId("group"), newest = RUNS.at(-1).group;
  if (select) {
    select.append(...DATA.groups.map(({ words }, at) => element("option", { value: at },
      `${words}${DATA.groups.filter((other) => other.words === words).length > 1 ? ` (${at + 1})` : ""}`)));
    select.value = String(newest);
    select.addEventListener("change", () => showGroup(Number(select.value)));
  }
  byId("key").addEventListener("change", () => showKey(byId("key").value));
  byId("filter").addEventListener("input", () => {
    state.wanted = byId("filter").value.trim().toLowerCase();
    table.show(shown());
    follow();
  });
  byId("copy").addEventListener("click", () => copied(byId("command"), byId("copied"), byId("command").value));
  showGroup(newest);
  startHints(byId("pair"));
  drawnToFit(byId("chart"), drawChart);
}

if (RUNS.length) start();
document.documentElement.setAttribute("data-ready", "");
