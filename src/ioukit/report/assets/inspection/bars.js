// Bar charts of counts and heat maps, drawn at their width on the page.

// spec: {label, x, y: titles, bars: [{count, words}, ...], ticks: [[place in bars, text], ...], marks: lines like ticks}.
function barChart(holder, spec) {
  const width = Math.max(240, Math.round(holder.clientWidth || 520));
  const height = Math.round(Math.min(320, Math.max(220, width * 0.55)));
  const right = 14, top = 18, bottom = 42;
  const most = Math.max(1, ...spec.bars.map((bar) => bar.count));
  const upTicks = ticks(0, most, 4).filter((tick) => Number.isInteger(tick.value));
  const left = 26 + 7.5 * Math.max(...upTicks.map((tick) => whole(tick.value).length));
  const across = (place) => (left + (place / spec.bars.length) * (width - left - right)).toFixed(1);
  const up = (count) => height - bottom - (count / most) * (height - top - bottom);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": spec.label });
  for (const { value } of upTicks) {
    picture.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: up(value).toFixed(1), y2: up(value).toFixed(1) }),
      shape("text", { x: left - 8, y: (up(value) + 4).toFixed(1), "text-anchor": "end" }, whole(value)));
  }
  const gap = Math.min(0.1, spec.bars.length / width);
  spec.bars.forEach(({ count, words }, place) => {
    if (!count) return;
    const start = Number(across(place + gap)), end = Number(across(place + 1 - gap));
    picture.append(shape("rect", { class: "bar-rect", x: start, width: (end - start).toFixed(1), y: up(count).toFixed(1),
      height: (height - bottom - up(count)).toFixed(1) }, shape("title", {}, words)));
  });
  // Texts that would touch the text before them are left out.
  let free = -Infinity;
  for (const [place, text] of spec.ticks) {
    const middle = Number(across(place)), half = 3.6 * text.length;
    if (middle - half < free) continue;
    free = middle + half + 6;
    picture.append(shape("text", { x: middle, y: height - bottom + 18, "text-anchor": "middle" }, text));
  }
  for (const [place, text] of spec.marks || []) {
    picture.append(shape("line", { class: "mark", x1: across(place), x2: across(place), y1: top, y2: height - bottom }),
      shape("text", { class: "mark-label", x: across(place), y: top - 5, "text-anchor": "middle" }, text));
  }
  picture.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    shape("text", { class: "axis-title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, spec.x),
    shape("text", { class: "axis-title", transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
      "text-anchor": "middle" }, spec.y));
  holder.replaceChildren(picture);
}

// counts: one per cell, row by row from the upper left; the strongest colour is the largest count.
function heatMap(holder, label, counts, cells) {
  const side = 320, most = Math.max(1, ...counts);
  const picture = shape("svg", { viewBox: `0 0 ${side + 2} ${side + 2}`, role: "img", "aria-label": label });
  counts.forEach((count, place) => {
    if (!count) return;
    const column = place % cells, row = Math.floor(place / cells), size = side / cells;
    picture.append(shape("rect", { class: "heat", x: 1 + column * size, y: 1 + row * size, width: size, height: size,
      "fill-opacity": (0.08 + (0.92 * count) / most).toFixed(3) }, shape("title", {}, plural(count, "centre"))));
  });
  picture.append(shape("rect", { class: "heat-frame", x: 1, y: 1, width: side, height: side }));
  holder.replaceChildren(picture);
}
