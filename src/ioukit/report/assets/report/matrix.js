// The confusion matrix: a grid for arrow keys. A chosen cell lists its images.

const MOST_DRAWN = 30; // classes; with more, the matrix is drawn when it is asked for
const MOST_CONFUSED = 20;
const MOST_SHOWN = 150; // 23,000 cells, which a browser lays out without a delay

// Short numbers, because there are many cells; the label of a cell has the exact number.
const short = (count) => (count < 1e4 ? String(count) : count < 1e6 ? `${Math.round(count / 1e3)}k` : `${(count / 1e6).toFixed(1)}M`);

function startMatrix() {
  const source = DATA.matrix;
  if (!source) return;
  const holder = byId("matrix");
  const panel = byId("cell-images");
  const { count, at, trueSums, predictedSums, confused, recount, truthName, predictedName, sentence } = CONFUSION;
  const cells = new Map(source.cells.map((cell) => [cell.true * (count + 1) + cell.predicted, cell]));
  recount();
  const ranked = Array.from({ length: count }, (_, k) => k)
    .sort((a, b) => confused[b] - confused[a] || trueSums[b] - trueSums[a] || a - b);
  const everything = ranked.slice(0, MOST_SHOWN).sort((a, b) => a - b);
  const worst = ranked.slice(0, MOST_CONFUSED).sort((a, b) => a - b);
  const state = { values: "counts", scope: count > MOST_DRAWN ? null : "all", cell: null };
  if (count > MOST_SHOWN) byId("matrix-scope").lastElementChild.textContent = `${MOST_SHOWN} classes`;
  byId("matrix-scope").hidden = count <= MOST_DRAWN;

  function shade(value, most, right) {
    if (!value) return "h0";
    // Steps of the square root: a few errors among many correct detections stay visible.
    const step = Math.min(6, Math.max(1, Math.ceil(6 * Math.sqrt(value / most))));
    return `${right ? "h" : "w"}${step}`;
  }

  function value(truth, predicted) {
    const number = at(truth, predicted);
    if (!number || state.values === "counts") return number;
    return number / (state.values === "truth" ? trueSums[truth] : predictedSums[predicted]);
  }

  let shown = [];

  // The numbers and colours of the cells that are there.
  function refill() {
    let mostRight = 0, mostWrong = 0;
    for (const a of shown) {
      for (const b of shown) {
        if (a === b) mostRight = Math.max(mostRight, value(a, b));
        else mostWrong = Math.max(mostWrong, value(a, b));
      }
    }
    for (const td of holder.querySelectorAll("td")) {
      const a = Number(td.dataset.true), b = Number(td.dataset.predicted), number = value(a, b);
      if (td.number === number && !number) continue;
      td.number = number;
      const text = !number ? "" : state.values === "counts" ? short(number) : number.toFixed(2);
      if (td.textContent !== text) td.textContent = text;
      td.className = `${shade(number, a === b ? mostRight : mostWrong, a === b)}${b === count ? " edge" : ""}`;
      td.setAttribute("aria-label", `${truthName(a)}, predicted ${predictedName(b)}: ${state.values === "counts" ? whole(number) : text || "0"}`);
    }
  }

  function draw() {
    if (!state.scope) {
      byId("matrix-said").textContent = `Choose which of the ${whole(count)} classes to draw.`;
      return;
    }
    shown = [...(state.scope === "confused" ? worst : everything), count];
    const table = element("table", { role: "grid", "aria-label": "Confusion matrix: rows are true classes, columns predicted ones",
      "aria-describedby": "matrix-help" });
    const head = element("tr", { role: "row" }, element("th", { role: "columnheader", scope: "col", class: "corner" }, "predicted →", element("br"), "true ↓"));
    for (const b of shown) {
      head.append(element("th", { role: "columnheader", scope: "col", class: b === count && "edge", title: predictedName(b) },
        element("span", {}, predictedName(b))));
    }
    table.append(element("thead", { role: "rowgroup" }, head));
    const body = element("tbody", { role: "rowgroup" });
    for (const a of shown) {
      const row = element("tr", { role: "row", class: a === count && "edge-row" },
        element("th", { role: "rowheader", scope: "row", title: truthName(a) }, named(a === count ? "background" : truthName(a))));
      for (const b of shown) {
        const td = element("td", { role: "gridcell", tabindex: -1, "aria-selected": "false" });
        td.dataset.true = a;
        td.dataset.predicted = b;
        row.append(td);
      }
      body.append(row);
    }
    table.append(body);
    holder.replaceChildren(table);
    refill();
    holder.classList.toggle("few", shown.length <= 9);
    holder.classList.toggle("some", shown.length > 9 && shown.length <= 15);
    const chosenCell = state.cell && holder.querySelector(`td[data-true="${state.cell[0]}"][data-predicted="${state.cell[1]}"]`);
    if (chosenCell) chosenCell.setAttribute("aria-selected", "true");
    (chosenCell || holder.querySelector("td")).tabIndex = 0;
    byId("matrix-said").textContent = shown.length - 1 < count
      ? `${whole(shown.length - 1)} of ${whole(count)} classes: those most often confused with another, then those with the most objects. Shares count the others too.` : "";
  }

  function open(truth, predicted) {
    state.cell = [truth, predicted];
    for (const other of holder.querySelectorAll('td[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
    const td = holder.querySelector(`td[data-true="${truth}"][data-predicted="${predicted}"]`);
    if (td) td.setAttribute("aria-selected", "true");
    list();
  }
  startConfusions((truth, predicted) => {
    open(truth, predicted);
    panel.scrollIntoView({ block: "nearest" });
  });

  function list() {
    const [truth, predicted] = state.cell, cell = cells.get(truth * (count + 1) + predicted), number = at(truth, predicted);
    showList(panel, { heading: sentence(number, truth, predicted), count: number, entries: cell ? cell.images : [],
      missed: predicted === count, focus: cellFocus(truth, predicted),
      filters: () => [["true", truth === count ? "background" : classFilter(truth)],
        ["predicted", predicted === count ? "background" : classFilter(predicted)], ...thresholdFilters()] });
  }

  const walk = (td, event) => {
    const row = td.parentElement;
    const rows = [...row.parentElement.rows];
    const r = rows.indexOf(row), c = td.cellIndex, last = row.cells.length - 1;
    switch (event.key) {
      case "ArrowRight": return row.cells[Math.min(last, c + 1)];
      case "ArrowLeft": return row.cells[Math.max(1, c - 1)];
      case "ArrowDown": return rows[Math.min(rows.length - 1, r + 1)].cells[c];
      case "ArrowUp": return rows[Math.max(0, r - 1)].cells[c];
      case "Home": return (event.ctrlKey ? rows[0] : row).cells[1];
      case "End": return (event.ctrlKey ? rows[rows.length - 1] : row).cells[last];
      default: return null;
    }
  };
  function focusCell(td) {
    for (const other of holder.querySelectorAll('td[tabindex="0"]')) other.tabIndex = -1;
    td.tabIndex = 0;
    td.focus();
  }
  holder.addEventListener("keydown", (event) => {
    const td = event.target.closest("td");
    if (!td) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(Number(td.dataset.true), Number(td.dataset.predicted));
      return;
    }
    const next = walk(td, event);
    if (next) {
      event.preventDefault();
      focusCell(next);
    }
  });
  holder.addEventListener("click", (event) => {
    const td = event.target.closest("td");
    if (!td) return;
    focusCell(td);
    open(Number(td.dataset.true), Number(td.dataset.predicted));
  });
  choice(byId("matrix-values"), (value) => { state.values = value; draw(); });
  choice(byId("matrix-scope"), (value) => { state.scope = value; draw(); });
  draw();
  slowly(holder, () => {
    recount();
    refill();
  });
  slowly(null, () => { if (state.cell) list(); });
  // Every class and exact numbers, whatever the table shows.
  const rows = () => {
    const all = Array.from({ length: count + 1 }, (_, k) => k);
    return [["true class", ...all.map(predictedName)], ...all.map((a) => [truthName(a), ...all.map((b) => value(a, b))])];
  };
  downloads(byId("matrix-downloads"), "confusion_matrix", "confusion matrix", { rows, drawing: () => {
    if (!state.scope) byId("matrix-scope").firstElementChild.click();
    return tablePicture(holder.querySelector("table"));
  } });
}
