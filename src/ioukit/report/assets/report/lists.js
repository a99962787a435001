// The pictures that a cell of the matrix, a confusion or a kind of error leads to: its regions, cut out of their images.

const CROPS_OF_A_PAGE = 24;

// entries: a flat list of positions of images and of thresholds; those that count at the threshold, by image. The highest
// scores come first, of missed objects the lowest.
function imagesOf(entries, missed) {
  const times = new Map();
  for (let k = 0; k < entries.length; k += 2) {
    if (missed ? entries[k + 1] > chosen.position : entries[k + 1] <= chosen.position) times.set(entries[k], (times.get(entries[k]) || 0) + 1);
  }
  return [...times];
}

// heading, words: the title and what else to say. count: how many regions there are at the threshold.
function showList(panel, { heading, count, entries, missed, focus, filters }) {
  panel.classList.remove("screen-only"); // the panel now has content to print
  const images = imagesOf(entries, missed), list = images.map(([position]) => position);
  const listed = images.reduce((total, [, times]) => total + times, 0);
  const on = plural(list.length, "image");
  const words = !count ? "No image to show." : listed < count
    ? `${DATA.ranks ? `The ${whole(listed)} ${missed ? "with the lowest" : "with the highest"} scores` : `${whole(listed)} of them`}, on ${on}:` : `On ${on}:`;
  focus.words = () => heading;
  // The list itself is not announced to screen readers, because it may be long.
  panel.querySelector('[role="status"]').replaceChildren(element("h3", {}, heading), element("p", { class: "soft small" }, words));
  panel.querySelector(".command-place").replaceChildren(...(count ? [commandButton(filters)].filter(Boolean) : []));
  const holder = panel.querySelector(".crops"), more = panel.querySelector(".more");
  const show = (from, to) => {
    const cards = images.slice(from, to).map(([position, times]) => imageLine(position, list, times, focus));
    if (from) holder.append(...cards);
    else holder.replaceChildren(...cards);
    more.hidden = to >= images.length;
    more.onclick = () => {
      show(to, to + CROPS_OF_A_PAGE);
      (cards.length && holder.children[to].querySelector("button") || more).focus();
    };
  };
  show(0, CROPS_OF_A_PAGE);
}

function imageLine(position, list, times, focus) {
  const image = DATA.images[position];
  const words = [named(image.name), times > 1 ? element("span", { class: "times" }, ` ${whole(times)} ×`) : null];
  const shown = image.boxes && crop(position, list, focus);
  return element("li", { class: shown ? null : "undrawn" }, shown, element("span", { class: "small", title: shown ? null : "not drawn on this page" }, words));
}

// The first region of a focus, cut out of its image, with the others that are near.
function crop(position, list, focus) {
  const image = DATA.images[position], part = partAround(image, focus, true);
  if (!part) return null;
  const [x, y, w, h] = part, side = Math.max(w * 1.6, h * 1.6, 24);
  const drawing = picture({ ...image, ...countsOf(image) }, side / 12, boxesAt(image, focus, false));
  drawing.setAttribute("viewBox", `${x + w / 2 - side / 2} ${y + h / 2 - side / 2} ${side} ${side}`);
  drawing.setAttribute("aria-hidden", "true");
  drawing.classList.add("hide-labels");
  return element("button", { type: "button", class: "crop", "aria-label": `Show ${image.name} large`, title: image.name,
    onclick: () => viewer(position, list, focus) }, drawing);
}
