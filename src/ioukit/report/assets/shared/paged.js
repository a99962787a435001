// Tables of many rows: sorted by any column, shown a page at a time. A row is any value that the columns understand.
// columns: [{title, num, value(row), cell(row), style, words}, ...]: `value` is a number to sort by, NaN if undefined, and
// `cell` what the table shows. start: the column that is sorted first, with its direction.

const ROWS_OF_A_PAGE = 25;

function pagedTable(holder, { label, columns, rows, start, described }) {
  const state = { all: rows, sorted: rows, page: 0, column: start[0], way: start[1] };
  const heads = columns.map((column, at) => element("th", { scope: "col", class: [column.num && "num", column.style].filter(Boolean).join(" ") || null,
    "aria-sort": "none" }, element("button", { type: "button", onclick: () => sortBy(at) }, column.title,
    column.words ? element("span", { class: "unseen" }, ` ${column.words}`) : null)));
  const body = element("tbody");
  const area = element("div", { class: "sheet scroll class-table paged", tabindex: 0, role: "region", "aria-label": label },
    element("table", { "aria-describedby": described }, element("thead", {}, element("tr", {}, heads)), body));
  const steps = [["First", () => 0], ["Previous", () => state.page - 1], ["Next", () => state.page + 1], ["Last", () => pages() - 1]];
  const buttons = steps.map(([text, to]) => element("button", { type: "button", class: "button", "aria-label": `${text} rows: ${label}`,
    onclick: () => { state.page = to(); draw(); } }, text));
  const place = element("span", { class: "small soft", role: "status" });
  const pager = element("div", { class: "controls pager screen-only" }, buttons, place);
  holder.replaceChildren(area, pager);

  const pages = () => Math.max(1, Math.ceil(state.sorted.length / ROWS_OF_A_PAGE));

  function sortBy(at) {
    // Names are first sorted from A to Z, numbers from the highest down.
    const first = columns[at].num ? "descending" : "ascending";
    state.way = state.column !== at ? first : state.way === "ascending" ? "descending" : "ascending";
    state.column = at;
    sort();
    draw();
  }

  function sort() {
    const { value } = columns[state.column], sign = state.way === "ascending" ? 1 : -1;
    const keyed = state.all.map((row, order) => [value(row), order, row]);
    // Undefined numbers are last in both directions; equal rows keep their order.
    keyed.sort(([a, i], [b, j]) => (Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : sign * (a - b)) || i - j);
    state.sorted = keyed.map(([, , row]) => row);
    state.page = 0;
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === state.column ? state.way : "none"));
  }

  function draw() {
    const first = state.page * ROWS_OF_A_PAGE, shown = state.sorted.slice(first, first + ROWS_OF_A_PAGE);
    body.replaceChildren(...shown.map((row) => element("tr", {}, columns.map((column, at) =>
      element(at ? "td" : "th", { scope: at ? null : "row", class: [column.num && "num", column.style].filter(Boolean).join(" ") || null }, column.cell(row))))));
    const count = state.sorted.length, last = pages() - 1;
    place.textContent = count ? `rows ${whole(first + 1)} to ${whole(first + shown.length)} of ${whole(count)}` : "no rows";
    buttons.forEach((button, at) => {
      const end = at < 2 ? state.page === 0 : state.page === last;
      // A disabled button loses the focus, and then keys have no effect.
      if (end && document.activeElement === button) buttons[at < 2 ? 2 : 1].focus();
      button.disabled = end;
    });
    pager.hidden = !last;
  }

  // The arrow keys go from row to row, where rows have buttons.
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const button = step && event.target.closest("button");
    if (!button) return;
    const every = [...body.querySelectorAll("button")];
    const next = every[every.indexOf(button) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });

  sort();
  draw();
  return {
    show(newRows) { state.all = newRows; sort(); draw(); },
    sorted: () => state.sorted,
    order: () => [state.column, state.way],
  };
}

// Numbers that sort texts as a reader expects: the place of each among all.
function places(texts) {
  const collator = new Intl.Collator("en", { numeric: true });
  const order = texts.map((_, k) => k).sort((a, b) => collator.compare(texts[a], texts[b]) || a - b);
  const found = new Array(texts.length);
  order.forEach((k, place) => { found[k] = place; });
  return found;
}
