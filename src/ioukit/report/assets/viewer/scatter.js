// Images as points: two columns of numbers against each other. A rectangle that is drawn becomes a filter of both.

const SCATTER_ROOM = 8;

// Pairs of columns that belong together: NAME.x and NAME.y, as a column of lists is read.
function embeddings() {
  const names = DATA.columns.filter(({ numeric, of }) => numeric && of === "image").map(({ name }) => name);
  return names.filter((name) => name.endsWith(".x") && names.includes(`${name.slice(0, -2)}.y`)).map((name) => name.slice(0, -2));
}

const columnValues = {
  kept: new Map(),
  of(name) {
    if (!this.kept.has(name)) {
      this.kept.set(name, ask("column", { query: "", more: { name } }).then(({ values }) => values).catch((error) => {
        this.kept.delete(name);
        throw error;
      }));
    }
    return this.kept.get(name);
  },
};

function scatter(names) {
  const axes = ["x", "y"], key = (axis) => `column.${state.name}.${axis}`;
  const state = { name: names[0], points: null, chosen: null, drag: null, ends: null };
  const canvas = element("canvas", { class: "scatter-plot", role: "img" });
  const said = element("p", { class: "small soft", role: "status" });
  const pick = names.length > 1 ? element("select", { "aria-label": "Which map", onchange: () => { state.name = pick.value; state.points = null; load(); } },
    names.map((name) => element("option", { value: name }, columnTitle(name)))) : null;
  const inputs = axes.map((axis) => ["From", "To"].map((word, which) => element("input", { type: "number", step: "any", "aria-label": `${word}, ${axis}`,
    onchange: (event) => {
      const range = rangeOf(STATE.one(key(axis))), value = event.target.value.trim();
      range[which] = value === "" ? null : Number(value);
      if (range[0] !== null && range[1] !== null && range[0] > range[1]) range.reverse();
      STATE.set({ [key(axis)]: rangeText(...range) });
    } })));
  const clear = element("button", { type: "button", class: "plain small", onclick: () => {
    STATE.set({ [key("x")]: null, [key("y")]: null });
    inputs[0][0].focus();
  } }, "Clear");
  const holder = element("div", { class: "scatter", role: "group", "aria-label": "Map of the images" }, pick, canvas, said,
    axes.map((axis, k) => element("div", { class: "range-row" }, element("span", { class: "soft axis", "aria-hidden": "true" }, axis), inputs[k][0],
      element("span", { class: "soft", "aria-hidden": "true" }, "to"), inputs[k][1], k ? clear : null)));

  async function load() {
    try {
      const name = state.name, [x, y] = await Promise.all(axes.map((axis) => columnValues.of(`${name}.${axis}`)));
      if (name !== state.name) return;
      state.points = { x, y };
      state.ends = axes.map((axis) => {
        const values = state.points[axis].filter((value) => value !== null);
        const low = values.reduce((least, value) => Math.min(least, value), Infinity), high = values.reduce((most, value) => Math.max(most, value), -Infinity);
        return low < high ? [low, high] : [low - 1, low + 1];
      });
      draw();
    } catch (error) {
      said.textContent = error.message;
    }
  }

  // Pixels from numbers, and back; y goes up.
  const side = () => canvas.clientWidth;
  const place = (value, k) => {
    const [low, high] = state.ends[k], part = (value - low) / (high - low), room = side() - 2 * SCATTER_ROOM;
    return SCATTER_ROOM + room * (k ? 1 - part : part);
  };
  const valueAt = (pixel, k) => {
    const [low, high] = state.ends[k], part = (pixel - SCATTER_ROOM) / (side() - 2 * SCATTER_ROOM);
    return low + (high - low) * (k ? 1 - part : part);
  };
  const digits = (k) => Math.max(0, 3 - Math.floor(Math.log10(state.ends[k][1] - state.ends[k][0])));
  const rounded = (value, k) => Number(value.toFixed(Math.min(12, digits(k))));

  function window_() {
    return axes.map((axis, k) => {
      const [low, high] = rangeOf(STATE.one(key(axis))), [first, last] = state.ends[k];
      return [low ?? first, high ?? last];
    });
  }

  function draw() {
    const ranges = axes.map((axis) => rangeOf(STATE.one(key(axis)))), active = ranges.some(([low, high]) => low !== null || high !== null);
    ranges.forEach((range, k) => range.forEach((value, which) => {
      const input = inputs[k][which];
      if (document.activeElement !== input) input.value = value === null ? "" : String(value);
      if (state.ends) input.placeholder = readableExact(rounded(state.ends[k][which], k));
    }));
    clear.hidden = !active;
    holder.classList.toggle("active", active);
    const width = side();
    if (!state.points || !width) return;
    const { x, y } = state.points, ratio = Math.min(3, devicePixelRatio || 1), style = getComputedStyle(canvas);
    const size = Math.round(width * ratio);
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, width);
    if (active || state.drag) {
      const [[x1, x2], [y1, y2]] = state.drag?.ranges || window_();
      pen.fillStyle = style.textDecorationColor;
      pen.strokeStyle = style.color;
      const box = [place(x1, 0), place(y2, 1), place(x2, 0) - place(x1, 0), place(y1, 1) - place(y2, 1)];
      pen.fillRect(...box);
      pen.strokeRect(...box);
    }
    const count = x.length, radius = count > 20000 ? 0.9 : count > 3000 ? 1.4 : 2.2;
    const points = (wanted) => {
      pen.beginPath();
      let number = 0;
      for (let at = 0; at < count; at += 1) {
        if (x[at] === null || y[at] === null || Boolean(state.chosen?.[at]) !== wanted) continue;
        const px = place(x[at], 0), py = place(y[at], 1);
        pen.moveTo(px + radius, py);
        pen.arc(px, py, radius, 0, 7);
        number += 1;
      }
      return number;
    };
    pen.fillStyle = style.caretColor;
    const others = points(false);
    pen.fill();
    pen.fillStyle = style.color;
    const shown = points(true);
    pen.fill();
    said.textContent = `${whole(shown)} of ${plural(shown + others, "image")} with a place`;
    canvas.setAttribute("aria-label", `${columnTitle(state.name)}: ${said.textContent}. The fields below choose a part of it.`);
  }

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top].map((pixel) => Math.max(0, Math.min(side(), pixel)));
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || !state.points) return;
    state.drag = { start: at(event), ranges: null };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!state.drag) return;
    const now = at(event), { start } = state.drag;
    if (!state.drag.ranges && Math.hypot(now[0] - start[0], now[1] - start[1]) < 4) return;
    state.drag.ranges = [0, 1].map((k) => [valueAt(start[k], k), valueAt(now[k], k)].sort((a, b) => a - b));
    draw();
  });
  const stop = (event) => {
    if (!state.drag) return;
    const { ranges, start } = state.drag;
    state.drag = null;
    if (ranges && event.type === "pointerup") {
      STATE.set(Object.fromEntries(axes.map((axis, k) => [key(axis), rangeText(...ranges[k].map((value) => rounded(value, k)))])));
    } else if (event.type === "pointerup") openNearest(start);
    draw();
  };
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(name, stop);

  // A click opens the image of the nearest point.
  function openNearest([px, py]) {
    let best = null, least = 10;
    const { x, y } = state.points;
    for (let k = 0; k < x.length; k += 1) {
      if (x[k] === null || y[k] === null) continue;
      const distance = Math.hypot(place(x[k], 0) - px, place(y[k], 1) - py);
      if (distance < least) [best, least] = [k, distance];
    }
    if (best !== null && typeof openLarge === "function") openLarge(best);
  }

  new ResizeObserver(() => { if (canvas.clientWidth) state.points ? draw() : load(); }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  byId("theme").addEventListener("click", () => requestAnimationFrame(draw));
  return {
    holder,
    keys: () => axes.map(key),
    follow(answer) {
      if (answer) {
        state.chosen = new Uint8Array(DATA.images);
        for (const image of answer.order) state.chosen[image] = 1;
      }
      draw();
    },
  };
}

// A part of the panel, if the table has a column of lists.
function addScatter(panel) {
  const names = embeddings();
  if (!names.length) return;
  const keys = names.flatMap((name) => ["x", "y"].map((axis) => `column.${name}.${axis}`));
  addFold(panel, "Map", keys, [scatter(names)], { open: true });
}
