// The table of sizes: missed objects and false positives at the score threshold.

function startSizes() {
  const table = byId("size-table");
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const draw = () => DATA.sizes.forEach((size, k) => {
    rows[k].querySelector(".fn").textContent = whole(size.n - upTo(size.tp));
    rows[k].querySelector(".fp").textContent = whole(upTo(size.fp));
  });
  rows.forEach((row, k) => {
    const name = row.cells[0].firstChild.textContent.trim();
    // The first range is the one that all numbers of the page are about.
    const filters = () => [...(k ? [["area", name]] : []), ["outcome", "fp"], ["outcome", "fn"], ...thresholdFilters()];
    const button = commandButton(filters, `errors of the size ${name}`);
    if (button) row.cells[0].append(" ", button);
  });
  slowly(table, draw);
  draw();
  downloads(byId("size-downloads"), "sizes", "by size", { rows: () => tableRows(table) });
}
