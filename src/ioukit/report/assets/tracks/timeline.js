// The timeline of a sequence: a line per object over its frames, followed or missed, and marks where the id switches.

const FEW_OBJECTS = 30, ROW = 18;

const triples = (flat) => Array.from({ length: flat.length / 3 }, (_, k) => flat.slice(3 * k, 3 * k + 3));
const cross = (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;

// chosen: the name of an object whose row is marked. every: whether all objects have a row.
function drawTimeline(holder, sequence, { chosen, every }) {
  const { objects, frames, followed, missed, switches } = sequence;
  const count = every ? objects.length : Math.min(objects.length, FEW_OBJECTS);
  if (!count) {
    holder.replaceChildren(element("p", { class: "soft small" }, "The sequence has no object."));
    return;
  }
  const width = Math.max(240, Math.round(holder.clientWidth || 520)), left = width < 560 ? 92 : 150, right = 12, top = 6;
  const bottom = top + count * ROW, letters = Math.floor((left - 10) / 6.6);
  const x = (frame) => left + ((frame - 0.5) / frames) * (width - left - right), y = (row) => top + (row + 0.5) * ROW;
  const short = (name) => ([...name].length > letters ? `${[...name].slice(0, letters - 6).join("")}…${[...name].slice(-5).join("")}` : name);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${bottom + 40}`, width, height: bottom + 40, role: "img",
    "aria-label": `Timeline of ${plural(count, "object")} over ${plural(frames, "frame")} of ${sequence.name}, `
      + `with ${plural(switches.filter(([row]) => row < count).length, "switch", "switches")}. The events below say the same in words.` });
  const row = objects.indexOf(chosen);
  if (row >= 0 && row < count) picture.append(shape("rect", { class: "chosen-row", x: 0, y: y(row) - ROW / 2, width, height: ROW }));
  for (const tick of ticks(1, frames, width < 560 ? 4 : 8).filter(({ value }) => Number.isInteger(value))) {
    picture.append(
      shape("line", { class: "grid", x1: x(tick.value).toFixed(1), x2: x(tick.value).toFixed(1), y1: top, y2: bottom }),
      shape("text", { x: x(tick.value).toFixed(1), y: bottom + 16, "text-anchor": "middle" }, whole(tick.value)));
  }
  picture.append(shape("text", { class: "axis-title", x: (left + width - right) / 2, y: bottom + 34, "text-anchor": "middle" }, "frame"));
  objects.slice(0, count).forEach((name, at) => {
    picture.append(shape("text", { class: "row-name", x: left - 8, y: y(at) + 4, "text-anchor": "end" }, shape("title", {}, name), short(name)));
  });
  for (const [style, lines] of [["s-missed", missed], ["s-followed", followed]]) {
    const path = triples(lines).filter(([at]) => at < count)
      .map(([at, first, last]) => `M${x(first - 0.5).toFixed(1)} ${y(at)}H${x(last + 0.5).toFixed(1)}`).join("");
    picture.append(shape("path", { class: `line ${style}`, d: path }));
  }
  for (const [at, frame, from, to] of switches.filter(([at]) => at < count)) {
    const mark = cross(Number(x(frame).toFixed(1)), y(at), 4);
    picture.append(shape("g", {}, shape("title", {}, `frame ${whole(frame)}: ${objects[at]} goes from track ${from} to ${to}`),
      shape("path", { class: "switch-halo", d: mark }), shape("path", { class: "switch", d: mark })));
  }
  holder.replaceChildren(picture);
}

function timelineLegend(holder) {
  legend(holder, [["followed", "s-followed"], ["missed", "s-missed"]]);
  holder.append(element("li", {}, shape("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, shape("path", { class: "switch", d: cross(14, 5, 4) })),
    element("span", {}, "switch of the id")));
}
