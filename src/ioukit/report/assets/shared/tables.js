// The table of the classes: sorted by any column, filtered by name. data-v of a cell holds its number, or is empty.
// The column with data-first is sorted at first. Rows with data-bare, of classes without objects, are hidden until they are asked for, unless there are no others.
// chooseClass: called with the position of a class whose name is chosen; null if names cannot be chosen.
// words: for one row and for several.

function startClassTable(chooseClass, ...words) {
  if (!words.length) words = ["class", "classes"];
  const table = byId("class-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, order) => ({
    row, order, name: row.cells[0].textContent.trim(), bare: row.dataset.bare !== undefined,
    values: [...row.cells].map((cell) => (cell.dataset.v ? Number(cell.dataset.v) : NaN)),
  }));
  const heads = [...table.tHead.rows[0].cells];
  const said = byId("class-said");
  const collator = new Intl.Collator("en", { numeric: true });

  function sortBy(column, way) {
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === column ? way : "none"));
    const sign = way === "ascending" ? 1 : -1;
    const sorted = [...rows].sort((a, b) => {
      if (column === 0) return sign * collator.compare(a.name, b.name) || a.order - b.order;
      const one = a.values[column], two = b.values[column];
      // Undefined numbers are last in both directions.
      if (Number.isNaN(one) || Number.isNaN(two)) return Number.isNaN(one) - Number.isNaN(two) || a.order - b.order;
      return sign * (one - two) || a.order - b.order;
    });
    body.append(...sorted.map((entry) => entry.row));
  }
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      // Names are first sorted from A to Z, numbers from the highest down.
      const next = { none: column === 0 ? "ascending" : "descending", ascending: "descending", descending: "ascending" };
      sortBy(column, next[head.getAttribute("aria-sort")]);
      say();
    });
    if (head.dataset.first !== undefined) sortBy(column, "descending");
  });

  const filter = byId("class-filter"), count = rows.filter(({ bare }) => bare).length;
  const every = element("input", { type: "checkbox", id: "class-bare", checked: count === rows.length, onchange: say });
  if (count && !every.checked) said.before(element("label", { class: "check" }, every, `also ${whole(count)} without objects`));
  else every.checked = true;
  filter.addEventListener("input", say);
  function say() {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const entry of rows) {
      const hit = entry.name.toLowerCase().includes(wanted) && (wanted !== "" || every.checked || !entry.bare);
      entry.row.hidden = !hit;
      shown += hit;
    }
    const head = heads.find((other) => other.getAttribute("aria-sort") !== "none");
    said.textContent = `${shown < rows.length ? `${whole(shown)} of ` : ""}${plural(rows.length, ...words)}`
      + (head ? `, by ${head.textContent.trim()}` : "");
  }
  say();
  for (const entry of rows) {
    const button = entry.row.cells[0].querySelector("button");
    if (!button) continue;
    if (chooseClass) button.addEventListener("click", () => chooseClass(entry.order));
    else button.replaceWith(named(button.textContent));
  }
}
