// The charts of the objects, for all classes together or for one; then everything starts.

// row 0: all classes together, row k + 1: the k-th class of the table.
let row = 0;

const rowName = () => (row === 0 ? "all classes together" : `class ${DATA.classes[row - 1]}`);
const sum = (counts) => counts.reduce((total, count) => total + count, 0);
const bounds = (edges, place) => `${edges[place]} to ${edges[place + 1]}`;

function histogram(id, { edges, ticks: places, marks = [], first, rows }, title) {
  const counts = rows[row];
  const inside = marks.map(([place, text]) => [place - first, text]).filter(([place]) => place > 0 && place < counts.length);
  barChart(byId(`${id}-chart`), {
    label: `Histogram of the ${id} of ${plural(sum(counts), "object")} of ${rowName()}. Most lie from `
      + `${bounds(edges, counts.indexOf(Math.max(...counts)))}.`,
    x: title, y: "objects", ticks: places, marks: inside,
    bars: counts.map((count, place) => ({ count, words: `${bounds(edges, place)}: ${plural(count, "object")}` })),
  });
  chartTable(byId(`${id}-table`), `The ${id} of ${rowName()}`, ["from", "to", "objects"],
    counts.map((count, place) => [String(edges[place]), String(edges[place + 1]), whole(count)]));
}

function perImage({ names, rows }) {
  const counts = rows[row];
  barChart(byId("per-image-chart"), {
    label: `Images by the number of objects of ${rowName()}: ${names.map((name, k) => `${name}: ${whole(counts[k])}`).join(", ")}.`,
    x: "objects on an image", y: "images", ticks: names.map((name, place) => [place + 0.5, name]),
    bars: counts.map((count, place) => ({ count, words: `${names[place]}: ${plural(count, "image")}` })),
  });
  chartTable(byId("per-image-table"), `Images by the number of objects of ${rowName()}`, ["objects", "images"],
    counts.map((count, place) => [names[place], whole(count)]));
}

function positions({ cells, rows }) {
  const counts = rows[row], holder = byId("positions-chart");
  if (!counts || !sum(counts)) {
    const why = counts ? "The sizes of the images are unknown, or all centres are outside." : "Only frequent classes have this map.";
    holder.replaceChildren(element("p", { class: "soft small" }, why));
    return;
  }
  const most = counts.indexOf(Math.max(...counts));
  const named = (place) => ["first", "second", "third", "last"][Math.floor((4 * place) / cells)];
  heatMap(holder, `Heat map of ${plural(sum(counts), "centre")} of ${rowName()}. Most lie in the ${named(Math.floor(most / cells))} `
    + `quarter from the top and the ${named(most % cells)} from the left.`, counts, cells);
}

function overlaps({ thresholds, any, same }) {
  const share = (counts) => counts.slice(1).map((count) => (counts[0] ? (100 * count) / counts[0] : NaN));
  const [one, other] = [share(any[row]), share(same[row])];
  const half = thresholds.indexOf(0.5);
  const high = Math.max(1, ...[...one, ...other].filter(Number.isFinite));
  lineChart(byId("overlaps-chart"), {
    label: `Share of the objects of ${rowName()} over the IoU with the nearest neighbour. At least 0.5: ${spoken(one[half], 1)} % `
      + `with a neighbour of any class, ${spoken(other[half], 1)} % with one of the same class.`,
    x: { title: "IoU with the nearest neighbour, at least", low: 0, high: 1 }, y: { title: "% of the objects", low: 0, high },
    series: [["", one], ["s-same", other]].map(([style, shares]) => ({ style, points: shares.map((value, k) => [thresholds[k], value]) })),
  });
  chartTable(byId("overlaps-table"), `Overlaps of ${rowName()}`, ["IoU ≥", "any class", "same class"],
    thresholds.map((threshold, k) => [fixed(threshold, 2), `${fixed(one[k], 2)} %`, `${fixed(other[k], 2)} %`]));
}

function startCharts() {
  const { charts } = DATA;
  if (!charts) return null;
  const select = byId("class");
  select.append(element("option", { value: 0 }, "All classes"),
    ...DATA.classes.map((name, k) => element("option", { value: k + 1 }, name)));
  legend(byId("overlaps-legend"), [["neighbour of any class", ""], ["of the same class", "s-same"]]);
  const draws = {
    "sizes-chart": () => histogram("sizes", charts.sizes, "square root of the area in pixels"),
    "shapes-chart": () => histogram("shapes", charts.shapes, "width / height"),
    "positions-chart": () => positions(charts.positions),
    "per-image-chart": () => perImage(charts.perImage),
    "overlaps-chart": () => overlaps(charts.overlaps),
  };
  const choose = (chosen) => {
    row = chosen;
    select.value = String(row);
    byId("chosen-said").textContent = plural(sum(charts.sizes.rows[row]), "object");
    for (const draw of Object.values(draws)) draw();
  };
  select.addEventListener("change", () => choose(Number(select.value)));
  choose(0);
  for (const [id, draw] of Object.entries(draws)) drawnToFit(byId(id), draw);
  return choose;
}

const chooseRow = startCharts();
if (byId("class-table")) {
  startClassTable(chooseRow && ((position) => {
    chooseRow(position + 1);
    byId("objects").scrollIntoView();
    byId("class").focus({ preventScroll: true });
  }));
}
startViewer();
startGallery(DATA.images.map((_, position) => position));
document.documentElement.setAttribute("data-ready", "");
