// Line charts. They are drawn at their width on the page, so that letters keep their size, and again when it changes.

function ticks(low, high, wanted) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = power * ([1, 2, 5, 10].find((factor) => span / (power * factor) <= wanted) || 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: last - first + 1 }, (_, k) => {
    const value = (first + k) * step;
    return { value, text: Math.abs(value) >= 1e6 ? value.toExponential(0) : value.toFixed(Math.min(places, 8)) };
  });
}

// spec: {x: {title, low, high}, y: {...}, series: [{style, points: [[x, y], ...]}], dots: [{style, x, y, low, high, r,
// text, words, pick}], cursor, iso, label, pick(x, y)}. A point that is not finite leaves a gap. x may have its own ticks. A
// dot may have an upright line from low to high, a letter, a title, and something to do if it is chosen.
function lineChart(holder, spec) {
  const width = Math.max(240, Math.round(holder.clientWidth || 520));
  const height = Math.round(Math.min(380, Math.max(230, width * 0.66)));
  const left = 46, right = 14, top = 10, bottom = 42;
  const x = (value) => left + ((value - spec.x.low) / (spec.x.high - spec.x.low || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - spec.y.low) / (spec.y.high - spec.y.low || 1)) * (height - top - bottom);
  const place = (value) => value.toFixed(1);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": spec.label });
  for (const tick of ticks(spec.y.low, spec.y.high, height < 260 ? 4 : 5)) {
    picture.append(
      shape("line", { class: "grid", x1: left, x2: width - right, y1: place(y(tick.value)), y2: place(y(tick.value)) }),
      shape("text", { x: left - 8, y: place(y(tick.value) + 4), "text-anchor": "end" }, tick.text));
  }
  for (const tick of spec.x.ticks || ticks(spec.x.low, spec.x.high, width < 360 ? 4 : 6)) {
    picture.append(
      shape("line", { class: "grid", x1: place(x(tick.value)), x2: place(x(tick.value)), y1: top, y2: height - bottom }),
      shape("text", { x: place(x(tick.value)), y: height - bottom + 18, "text-anchor": "middle" }, tick.text));
  }
  picture.append(
    shape("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    shape("text", { class: "axis-title", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, spec.x.title),
    shape("text", { class: "axis-title", transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
      "text-anchor": "middle" }, spec.y.title));
  for (const f1 of spec.iso || []) {
    // A line of equal F1: precision = F1 * recall / (2 * recall - F1).
    const points = Array.from({ length: 49 }, (_, k) => f1 / (2 - f1) + (k / 48) * (1 - f1 / (2 - f1)))
      .map((recall) => `${place(x(recall))} ${place(y(Math.min(1, (f1 * recall) / (2 * recall - f1))))}`);
    picture.append(shape("path", { class: "iso", d: `M${points.join("L")}` }));
    picture.append(shape("text", { class: "iso-label", x: width - right - 3, y: place(y(f1 / (2 - f1)) - 4),
      "text-anchor": "end" }, `F1 ${f1}`));
  }
  for (const series of spec.series) {
    let path = "";
    let pen = "M";
    for (const [a, b] of series.points) {
      if (!Number.isFinite(a) || !Number.isFinite(b)) { pen = "M"; continue; }
      path += `${pen}${place(x(a))} ${place(y(b))}`;
      pen = "L";
    }
    if (path) picture.append(shape("path", { class: `line ${series.style}`, d: path }));
    if (series.dots) {
      for (const [a, b] of series.points) {
        if (Number.isFinite(a) && Number.isFinite(b)) {
          picture.append(shape("circle", { class: `dot ${series.style}`, cx: place(x(a)), cy: place(y(b)), r: 4 }));
        }
      }
    }
  }
  if (Number.isFinite(spec.cursor)) {
    picture.append(shape("line", { class: "cursor", x1: place(x(spec.cursor)), x2: place(x(spec.cursor)), y1: top,
      y2: height - bottom }));
  }
  for (const dot of spec.dots || []) {
    if (!Number.isFinite(dot.x) || !Number.isFinite(dot.y)) continue;
    const across = place(x(dot.x));
    if (Number.isFinite(dot.low)) picture.append(shape("line", { class: `whisker ${dot.style}`, x1: across, x2: across, y1: place(y(dot.low)), y2: place(y(dot.high)) }));
    picture.append(shape("circle", { class: `dot ${dot.style}`, cx: across, cy: place(y(dot.y)), r: dot.r || 5.5, onclick: dot.pick },
      dot.words ? shape("title", {}, dot.words) : null));
    if (dot.text) picture.append(shape("text", { class: "dot-text", x: across, y: place(y(Math.max(dot.y, dot.high ?? dot.y)) - 9), "text-anchor": "middle" }, dot.text));
  }
  if (spec.pick) {
    const area = shape("rect", { class: "pick", x: left, y: top, width: width - left - right, height: height - top - bottom });
    const pick = (event) => {
      const frame = picture.getBoundingClientRect();
      const scale = width / (frame.width || width);
      const across = ((event.clientX - frame.left) * scale - left) / (width - left - right);
      const up = (height - bottom - (event.clientY - frame.top) * scale) / (height - top - bottom);
      spec.pick(spec.x.low + across * (spec.x.high - spec.x.low), spec.y.low + up * (spec.y.high - spec.y.low));
    };
    area.addEventListener("pointerdown", pick);
    area.addEventListener("pointermove", (event) => { if (event.buttons & 1) pick(event); });
    picture.append(area);
  }
  holder.replaceChildren(picture);
}

// Draw now, and again when the width changes.
function drawnToFit(holder, draw) {
  let last = 0;
  new ResizeObserver(() => {
    if (holder.clientWidth && holder.clientWidth !== last) {
      last = holder.clientWidth;
      draw();
    }
  }).observe(holder);
}

// items: [[text, style], ...]; a text is a string or an element.
function legend(holder, items) {
  holder.replaceChildren(...items.map(([text, style]) => element("li", {},
    shape("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" },
      shape("line", { class: `line ${style}`, x1: 0, x2: 28, y1: 5, y2: 5 })), element("span", {}, text))));
}
