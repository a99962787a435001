// Which classes are detected as which others: a ranked list with pictures. open(true class, predicted class).

const CROPS_OF_A_PAIR = 3;

function startConfusions(open) {
  const holder = byId("confusions"), more = byId("confusions-more");
  const page = window.matchMedia("(max-width: 40rem)").matches ? 4 : 8;
  let most = page;

  function line({ cell, number, share }) {
    const { true: truth, predicted } = cell, words = CONFUSION.sentence(number, truth, predicted), focus = cellFocus(truth, predicted);
    focus.words = () => words;
    const list = imagesOf(cell.images, false).map(([position]) => position);
    const drawn = list.filter((position) => DATA.images[position].boxes).slice(0, CROPS_OF_A_PAIR);
    return element("li", {},
      element("div", {}, element("button", { type: "button", class: "link", onclick: () => open(truth, predicted) }, words.slice(0, -1)),
        element("p", { class: "small soft" }, `${plural(number, "time")}, ${percentText(share)} of ${plural(DATA.matrix.objects[truth], "object")}`)),
      element("div", { class: "crops" }, drawn.map((position) => crop(position, list, focus))));
  }

  function draw() {
    const pairs = CONFUSION.pairs();
    holder.replaceChildren(...pairs.slice(0, most).map(line));
    more.hidden = pairs.length <= most;
    byId("confusions-none").hidden = pairs.length > 0;
  }
  more.addEventListener("click", () => {
    const first = most;
    most += page;
    draw();
    holder.children[first].querySelector("button").focus();
  });
  slowly(null, draw);
  draw();
  downloads(byId("confusions-downloads"), "confusions", "confusions of two classes", { rows: () => [["true class", "detected as", "times", "share of objects"],
    ...CONFUSION.pairs().map(({ cell, number, share }) => [CONFUSION.truthName(cell.true), CONFUSION.predictedName(cell.predicted), number, share])] });
}
