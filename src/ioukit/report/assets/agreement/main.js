// The lists of classes that are named differently and of regions without a partner; then everything starts.

const pairs = DATA.annotators.flatMap((first, a) => DATA.annotators.slice(a + 1).map((second) => [first, second]));
const gallery = Array.from({ length: DATA.drawn }, (_, position) => position);

function confusionTable(holder) {
  if (!holder) return;
  const ranks = places(DATA.names), two = pairs.length === 1;
  const whose = places(pairs.map((names) => names.join(" ")));
  const kind = (place, title) => ({ title, value: (row) => ranks[row[place]], cell: (row) => named(DATA.names[row[place]]) });
  pagedTable(holder, { label: "List of classes that are named differently", rows: DATA.confusion, start: [two ? 2 : 3, "descending"], columns: [
    ...(two ? [] : [{ title: "annotators", value: (row) => whose[row[0]], cell: (row) => named(pairs[row[0]].join(", ")) }]),
    kind(1, two ? `class of ${pairs[0][0]}` : "class of the first"),
    kind(2, two ? `class of ${pairs[0][1]}` : "of the second"),
    { title: "pairs", num: true, value: (row) => row[3], cell: (row) => whole(row[3]) },
  ] });
}

function aloneTable(holder) {
  if (!holder) return;
  const ranks = places(DATA.names), images = places(DATA.images.map(({ name }) => name)), whose = places(DATA.annotators);
  pagedTable(holder, { label: "List of regions without a partner", rows: DATA.alone, start: [0, "ascending"], columns: [
    { title: "image", value: (row) => (row[0] < DATA.drawn ? row[0] : DATA.drawn + images[row[0]]), cell: (row) => imageButton(row[0], gallery) },
    { title: "annotator", value: (row) => whose[row[1]], cell: (row) => named(DATA.annotators[row[1]]) },
    { title: "class", value: (row) => ranks[row[2]], cell: (row) => named(DATA.names[row[2]]) },
    { title: "x, y, width, height", num: true, value: (row) => row[5] * row[6], cell: (row) => row.slice(3).map((number) => number.toFixed(1)).join(", ") },
  ] });
}

confusionTable(byId("confusion-table"));
aloneTable(byId("alone-table"));
if (byId("class-table")) startClassTable(null);
startViewer();
startGallery(gallery);
startHints();
document.documentElement.setAttribute("data-ready", "");
