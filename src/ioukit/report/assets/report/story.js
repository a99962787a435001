// The first screen: the images with the most errors, and the classes that are detected as another one most often.

const MOST_TOLD = 3;

function startStory() {
  const images = byId("story-images"), confusions = byId("story-confusions");
  if (!images) return;
  const drawn = drawnImages();
  const fill = (holder, cards) => {
    holder.replaceChildren(...cards);
    holder.parentElement.hidden = !cards.length;
  };
  const draw = () => {
    const list = worstFirst(drawn);
    fill(images, list.slice(0, MOST_TOLD).map((position) => imageCard(position, list)));
    fill(confusions, CONFUSION ? CONFUSION.pairs().slice(0, MOST_TOLD).map(confusionCard).filter(Boolean) : []);
  };
  byId("story-keys").append(...[["tp", "found"], ["fp", "false"], ["fn", "missed"]].map(([kind, text]) => element("li", {}, boxKey(kind), text)));
  slowly(null, draw);
  draw();
}

// The first of its regions, cut out, with how often this happens.
function confusionCard({ cell, number, share }) {
  const list = imagesOf(cell.images, false).map(([position]) => position), focus = cellFocus(cell.true, cell.predicted);
  const names = CONFUSION.sentence(number, cell.true, cell.predicted).slice(0, -1);
  focus.words = () => CONFUSION.sentence(number, cell.true, cell.predicted);
  const first = list.find((position) => DATA.images[position].boxes);
  const shown = first !== undefined && crop(first, list, focus);
  return shown && element("figure", { class: "card" }, shown, element("figcaption", {}, element("span", { class: "title" }, names),
    element("span", { class: "counts" }, `${plural(number, "time")}, ${percentText(share)} of the true class`)));
}
