// Bar charts: a histogram of two kinds of counts, one on top of the other.

// spec: {label, x: {title, low, high}, y: {title}, bars: [{from, to, parts: [[style, count], ...], words}], cursor, pick(bar,
// style): called for a part of a bar that is chosen, if there is one}.
function barChart(holder, spec) {
  const width = Math.max(240, Math.round(holder.clientWidth || 520)), height = Math.round(Math.min(300, Math.max(200, width * 0.5)));
  const left = 60, right = 14, top = 10, bottom = 42;
  const most = Math.max(1, ...spec.bars.map(({ parts }) => parts.reduce((total, [, count]) => total + count, 0)));
  const x = (value) => left + ((value - spec.x.low) / (spec.x.high - spec.x.low || 1)) * (width - left - right);
  const y = (value) => height - bottom - (value / most) * (height - top - bottom);
  const place = (value) => value.toFixed(1);
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": spec.label });
  // One unit for all of an axis: 5k and 10k, not 5000 beside 10k.
  const [unit, sign] = most >= 1e6 ? [1e6, "M"] : most >= 1e4 ? [1e3, "k"] : [1, ""];
  for (const tick of ticks(0, most, 4)) {
    if (!Number.isInteger(tick.value)) continue;
    drawing.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: place(y(tick.value)), y2: place(y(tick.value)) }),
      shape("text", { x: left - 8, y: place(y(tick.value) + 4), "text-anchor": "end" }, tick.value ? `${tick.value / unit}${sign}` : "0"));
  }
  for (const tick of ticks(spec.x.low, spec.x.high, width < 360 ? 4 : 6)) {
    drawing.append(shape("text", { x: place(x(tick.value)), y: height - bottom + 18, "text-anchor": "middle" }, tick.text));
  }
  for (const bar of spec.bars) {
    const { from, to, parts, words } = bar;
    let total = 0;
    for (const [style, count] of parts) {
      if (count) {
        drawing.append(shape("rect", { class: `column ${style}${spec.pick ? " opens" : ""}`, onclick: spec.pick && (() => spec.pick(bar, style)), x: place(x(from) + 0.5), width: place(Math.max(1, x(to) - x(from) - 1)),
          y: place(y(total + count)), height: place(Math.max(0.5, y(total) - y(total + count))) }, shape("title", {}, words)));
      }
      total += count;
    }
  }
  drawing.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    shape("text", { class: "axis-title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, spec.x.title),
    shape("text", { class: "axis-title", transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.title));
  if (Number.isFinite(spec.cursor) && spec.cursor >= spec.x.low && spec.cursor <= spec.x.high) {
    drawing.append(shape("line", { class: "cursor", x1: place(x(spec.cursor)), x2: place(x(spec.cursor)), y1: top, y2: height - bottom }));
  }
  holder.replaceChildren(drawing);
}
