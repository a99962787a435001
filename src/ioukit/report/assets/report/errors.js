// The table of the kinds of errors: how many there are at the score threshold, and the images behind each kind.

function startErrors() {
  const table = byId("error-table");
  if (!table || !DATA.errors) return;
  const { kinds, images, objects, gone } = DATA.errors, missed = kinds.length - 1;
  const panel = byId("error-images");
  const count = (number) => (number === missed ? objects - upTo(gone) : upTo(DATA.errors.new[number]));
  let open = null;
  function list() {
    const heading = [`${WORDS.errors[kinds[open]].plain.replace(/^./, (letter) => letter.toUpperCase())}: ${plural(count(open), "time")}`];
    const filters = () => [["error", kinds[open] === "localisation" ? "localization" : kinds[open]], ...thresholdFilters()];
    showList(panel, { heading, count: count(open), entries: images[open], missed: open === missed, focus: errorFocus(open), filters });
  }
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => ({ row, number: kinds.indexOf(row.dataset.kind) }));
  for (const { row, number } of rows) {
    row.querySelector("button").addEventListener("click", () => {
      open = number;
      for (const other of rows) other.row.querySelector("button").setAttribute("aria-pressed", String(other.number === number));
      panel.hidden = false;
      list();
    });
  }
  const draw = () => {
    for (const { row, number } of rows) row.querySelector(".now").textContent = whole(count(number));
  };
  slowly(table, draw);
  slowly(null, () => { if (open !== null) list(); });
  draw();
  downloads(byId("error-downloads"), "errors", "errors by kind", { rows: () => tableRows(table) });
}
