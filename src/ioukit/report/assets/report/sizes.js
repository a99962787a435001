// The table of sizes: missed objects and false positives at the score threshold.

function startSizes() {
  const table = byId("size-table");
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const draw = () => DATA.sizes.forEach((size, k) => {
    rows[k].querySelector(".fn").textContent = whole(size.n - upTo(size.tp));
    rows[k].querySelector(".fp").textContent = whole(upTo(size.fp));
  });
  slowListeners.push(draw);
  draw();
  downloads(byId("size-downloads"), "sizes", "by size", { rows: () => tableRows(table) });
}
