// The difference split into parts that add up to it: by class, size, kind of error, or image.

function startParts() {
  if (!DATA.parts.length) return;
  const state = { list: DATA.parts[0], wanted: "" };
  const most = (list) => Math.max(1e-300, ...list.values.map(Math.abs));
  const texts = new Map(DATA.parts.map((list) => [list, list.names.map((name) => name.toLowerCase())]));
  const orders = new Map(DATA.parts.map((list) => [list, places(list.names)]));
  let largest = most(state.list), order = orders.get(state.list);
  const open = (k) => {
    const image = state.list.images ? state.list.images[k] : -1;
    return image >= 0 && DATA.images[image].boxes
      ? element("button", { type: "button", onclick: () => showImage(image) }, named(state.list.names[k])) : named(state.list.names[k]);
  };
  const columns = [
    { title: "part", value: (k) => order[k], cell: open },
    { title: "A", num: true, style: "model", value: (k) => number(state.list.a, k), cell: (k) => fixed(number(state.list.a, k)) },
    { title: LETTERS[1], num: true, style: "model", value: (k) => number(state.list.b, k), cell: (k) => fixed(number(state.list.b, k)) },
    { title: "p-value", num: true, style: "model tested", value: (k) => number(state.list.p, k), cell: (k) => fixed(number(state.list.p, k)) },
    { title: "points", words: "of the difference", num: true, value: (k) => state.list.values[k], cell: (k) => inPoints(state.list.values[k]) },
    { title: "amount", words: "without the sign", num: true, style: "bar-column", value: (k) => Math.abs(state.list.values[k]), cell: (k) => signedBar(state.list.values[k] / largest) },
  ];
  // The filters of the viewer for a part of each list.
  const filtersOf = (k) => {
    const { one, names } = state.list, name = names[k];
    const of = { class: () => [["class", classFilter(DATA.names.indexOf(name))]], image: () => [["text", name]],
      size: () => [["area", name.replace(/ \(.*/, "")]], kind: () => [["error", name.replace(/ \(.*/, "").toLowerCase()]] }[one];
    return of();
  };
  const known = (k) => ({ class: DATA.names.includes(state.list.names[k]), image: true, size: state.list.names[k] !== "other sizes",
    kind: state.list.names[k] !== "Order of scores" }[state.list.one]);
  if (DATA.view) {
    columns.push({ title: "viewer", style: "command-column", value: (k) => order[k],
      cell: (k) => (known(k) ? commandButton(() => filtersOf(k), state.list.names[k]) : "") });
  }
  const number = (values, k) => (values && values[k] !== null ? values[k] : NaN);
  const table = pagedTable(byId("parts-table"), { label: "Parts of the difference", columns, rows: state.list.values.map((_, k) => k),
    start: [5, "descending"] });

  function show() {
    const { list, wanted } = state;
    largest = most(list);
    order = orders.get(list);
    const rows = list.values.map((_, k) => k).filter((k) => texts.get(list)[k].includes(wanted));
    byId("parts-table").classList.toggle("no-models", !list.a);
    byId("parts-table").classList.toggle("no-tests", !list.p);
    table.show(rows);
    const sum = (chosenRows) => chosenRows.reduce((total, k) => total + list.values[k], 0);
    const all = `${plural(list.values.length + list.left, list.one, list.many)} add up to ${inPoints(sum(list.values.map((_, k) => k)) + list.rest)} points`;
    const left = list.left ? ` The ${whole(list.left)} smallest are left out; they add ${inPoints(list.rest)}.` : "";
    byId("parts-said").textContent = `${all}.${wanted ? ` The ${whole(rows.length)} shown add ${inPoints(sum(rows))}.` : ""}${left}`;
    byId("parts-words").textContent = list.words;
  }
  choice(byId("parts-by"), (value) => {
    state.list = DATA.parts[Number(value)];
    show();
  });
  byId("parts-filter").addEventListener("input", (event) => {
    state.wanted = event.target.value.trim().toLowerCase();
    show();
  });
  show();
}
