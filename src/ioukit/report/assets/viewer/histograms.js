// Histograms whose range is chosen by drawing over them, by two handles for keys, or by two numbers.

const PLOT_HEIGHT = 54;

// Digits that tell values apart in a range: a hundredth of it.
function digitsOf(low, high) {
  const span = Math.abs(high - low) || 1;
  return Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span))));
}

const readable = (value) => (Math.abs(value) >= 1e5 ? value.toExponential(1) : value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2 }));

// key: that of the filter and of the histogram in the answer. whole: whether the values are whole numbers.
function histogram(key, title, { unit = "", integers = false } = {}) {
  const state = { edges: [0, 1], counts: [], drag: null, live: null };
  const plot = shape("svg", { class: "plot", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: `0 0 100 ${PLOT_HEIGHT}` });
  const scale = element("div", { class: "plot-scale small soft", "aria-hidden": "true" });
  const handles = ["low", "high"].map((which) => element("div", { class: `handle ${which}`, role: "slider", tabindex: 0,
    "aria-label": `${title}: ${which === "low" ? "lowest" : "highest"}`, "aria-orientation": "horizontal" }));
  const area = element("div", { class: "brush" }, plot, handles);
  const inputs = ["low", "high"].map((which) => element("input", { type: "number", step: "any", inputmode: "decimal",
    "aria-label": `${title} ${which === "low" ? "from" : "to"}${unit && `, in ${unit}`}` }));
  const clear = element("button", { type: "button", class: "plain small", hidden: true, "aria-label": `Any ${title.toLowerCase()}` }, "any");
  const steps = element("p", { class: "small soft plot-steps", hidden: true }, "Logarithmic scale");
  const nothing = element("p", { class: "small soft", hidden: true }, "No region with such a value.");
  const holder = element("div", { class: "histogram", role: "group", "aria-label": title },
    area, scale, steps, nothing, element("div", { class: "range-row" }, inputs[0], element("span", { class: "soft", "aria-hidden": "true" }, "to"), inputs[1],
      unit ? element("span", { class: "soft small" }, unit) : null, clear));

  const ends = () => [state.edges[0], state.edges[state.edges.length - 1]];
  const bins = () => state.edges.length - 1;
  // Places are 0 to 1 from left to right. All bars have the same width, whatever their span of values.
  function placeOf(value) {
    const { edges } = state;
    if (value <= edges[0]) return 0;
    for (let k = 0; k < bins(); k += 1) {
      if (value <= edges[k + 1]) return (k + (value - edges[k]) / (edges[k + 1] - edges[k] || 1)) / bins();
    }
    return 1;
  }
  function valueOf(place) {
    const at = Math.max(0, Math.min(1, place)) * bins(), k = Math.min(bins() - 1, Math.floor(at));
    return state.edges[k] + (at - k) * (state.edges[k + 1] - state.edges[k]);
  }
  function rounded(value) {
    if (integers) return Math.round(value);
    const k = Math.max(1, state.edges.findIndex((edge) => edge >= value)), step = state.edges[k] - state.edges[k - 1] || 1;
    return Number(value.toFixed(digitsOf(0, step)));
  }

  function chosenRange() {
    const [low, high] = state.live || rangeOf(STATE.one(key));
    const [first, last] = ends();
    return { low, high, from: low === null ? first : low, to: high === null ? last : high };
  }

  function write([low, high], { done = true } = {}) {
    const [first, last] = ends();
    const from = low === null || low <= first ? null : rounded(low), to = high === null || high >= last ? null : rounded(high);
    const pair = from !== null && to !== null && from > to ? [to, from] : [from, to];
    state.live = done ? null : pair;
    draw();
    STATE.set({ [key]: rangeText(...pair) }, { soft: true });
  }

  function draw() {
    const most = Math.max(1, ...state.counts), { low, high, from, to } = chosenRange();
    const a = placeOf(from) * 100, b = placeOf(to) * 100, width = 100 / Math.max(1, bins());
    const bars = state.counts.map((count, k) => {
      if (!count) return null;
      // The square root, so that few among many are still seen.
      const tall = Math.max(1.5, Math.sqrt(count / most) * (PLOT_HEIGHT - 4));
      const middle = (k + 0.5) * width;
      return shape("rect", { class: middle >= a && middle <= b ? "bar-in" : "bar-out", x: (k * width + width * 0.06).toFixed(3),
        y: (PLOT_HEIGHT - tall).toFixed(2), width: (width * 0.88).toFixed(3), height: tall.toFixed(2) });
    });
    const active = low !== null || high !== null;
    plot.replaceChildren(...(active ? [shape("rect", { class: "window", x: a, y: 0, width: Math.max(0.5, b - a), height: PLOT_HEIGHT })] : []),
      ...bars.filter(Boolean), shape("line", { class: "base", x1: 0, x2: 100, y1: PLOT_HEIGHT - 0.5, y2: PLOT_HEIGHT - 0.5 }));
    const [first, last] = ends();
    handles.forEach((handle, which) => {
      const value = which ? to : from;
      handle.style.left = `${which ? b : a}%`;
      set(handle, { "aria-valuemin": first, "aria-valuemax": last, "aria-valuenow": value,
        "aria-valuetext": (which ? high : low) === null ? `no limit (${readable(value)}${unit && ` ${unit}`})` : `${readable(value)}${unit && ` ${unit}`}` });
    });
    holder.classList.toggle("active", active);
    [low, high].forEach((value, which) => { if (document.activeElement !== inputs[which]) inputs[which].value = value === null ? "" : String(value); });
    clear.hidden = !active;
  }

  function drawScale() {
    // Where the steps grow, more numbers and a word say so.
    const [first, last] = ends(), { edges } = state, widths = [edges[2] - edges[1], edges[bins()] - edges[bins() - 1]];
    const uneven = bins() > 3 && widths[1] > 1.5 * widths[0], places = uneven ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 1];
    scale.replaceChildren(...places.map((place) => element("span", {}, readable(integers ? Math.round(valueOf(place)) : valueOf(place)))));
    steps.hidden = !uneven;
    inputs[0].placeholder = readable(first);
    inputs[1].placeholder = readable(last);
  }

  const placeAt = (event) => {
    const box = area.getBoundingClientRect();
    return (event.clientX - box.left) / (box.width || 1);
  };
  area.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const handle = handles.indexOf(event.target), { from, to } = chosenRange(), place = placeAt(event);
    const near = handle >= 0 ? handle : null;
    // A handle moves one end; elsewhere a new range is drawn, or the chosen one is moved.
    state.drag = near !== null ? { kind: "end", other: near ? from : to } : { kind: "new", start: place };
    state.drag.x = event.clientX;
    state.drag.moved = false;
    area.setPointerCapture(event.pointerId);
    if (near !== null) handles[near].focus();
    event.preventDefault();
  });
  area.addEventListener("pointermove", (event) => {
    if (!state.drag) return;
    if (!state.drag.moved && Math.abs(event.clientX - state.drag.x) < 3) return;
    state.drag.moved = true;
    const value = valueOf(placeAt(event)), other = state.drag.kind === "end" ? state.drag.other : valueOf(state.drag.start);
    write([Math.min(value, other), Math.max(value, other)], { done: false });
  });
  const stop = (event) => {
    if (!state.drag) return;
    const { moved, kind, start } = state.drag;
    state.drag = null;
    state.live = null;
    if (!moved && kind === "new" && event.type === "pointerup") {
      // A click chooses one bar; a click on a chosen bar alone removes the range.
      const k = Math.max(0, Math.min(bins() - 1, Math.floor(start * bins()))), { low, high } = chosenRange();
      const one = [state.edges[k], state.edges[k + 1]], same = low === rounded(one[0]) && high === rounded(one[1]);
      write(same ? [null, null] : one);
    } else draw();
  };
  area.addEventListener("pointerup", stop);
  area.addEventListener("pointercancel", stop);
  area.addEventListener("lostpointercapture", stop);

  handles.forEach((handle, which) => handle.addEventListener("keydown", (event) => {
    const { from, to } = chosenRange(), now = placeOf(which ? to : from), one = 1 / Math.max(1, bins());
    const step = event.shiftKey ? 5 * one : one;
    // Steps end at the edges of bars.
    const snapped = (place, way) => (way > 0 ? Math.floor(place / one + 1e-6) * one + step : Math.ceil(place / one - 1e-6) * one - step);
    const next = { ArrowRight: () => snapped(now, 1), ArrowUp: () => snapped(now, 1), ArrowLeft: () => snapped(now, -1), ArrowDown: () => snapped(now, -1),
      PageUp: () => now + 5 * one, PageDown: () => now - 5 * one, Home: () => (which ? placeOf(from) : 0), End: () => (which ? 1 : placeOf(to)) }[event.key];
    if (!next) return;
    event.preventDefault();
    const value = valueOf(next());
    write(which ? [rangeOf(STATE.one(key))[0], Math.max(value, from)] : [Math.min(value, to), rangeOf(STATE.one(key))[1]]);
  }));
  inputs.forEach((input, which) => input.addEventListener("change", () => {
    const range = rangeOf(STATE.one(key)), value = input.value.trim() === "" ? null : Number(input.value);
    range[which] = Number.isNaN(value) ? null : value;
    if (range[0] !== null && range[1] !== null && range[0] > range[1]) range.reverse();
    STATE.set({ [key]: rangeText(...range) });
    draw();
  }));
  clear.addEventListener("click", () => {
    STATE.set({ [key]: null });
    inputs[0].focus();
  });

  return {
    holder,
    follow(answer) {
      const found = answer?.histograms?.[key];
      if (found && found.edges.length > 1) {
        if (found.edges.join() !== state.edges.join()) {
          state.edges = found.edges;
          drawScale();
        }
        state.counts = found.counts;
      }
      if (answer) {
        const empty = !found || !(found.edges.length > 1) || !found.counts.some(Boolean);
        nothing.hidden = !empty;
        area.hidden = scale.hidden = !found || !(found.edges.length > 1);
      }
      draw();
    },
  };
}
