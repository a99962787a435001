// One image, large: its regions at the score threshold, those that one came for emphasised; zoom, and words about a region
// that one points at.

function startLarge() {
  const dialog = byId("viewer");
  if (!dialog) return;
  const stage = byId("viewer-stage"), about = byId("viewer-region");
  overlaySwitches(byId("viewer-overlays"), stage, true);
  const state = { list: [], at: 0, focus: null, near: false };
  // Letters keep their size on the screen: after a zoom the picture is drawn again.
  let drawnUnit = 1;
  const zoom = startZoom(stage, { keys: dialog, changed: () => { if (Math.abs(Math.log(zoom.unit() / drawnUnit)) > 0.2) draw(zoom.unit()); } });
  byId("viewer-zoom").append(zoomButtons(zoom));
  const image = () => DATA.images[state.list[state.at]];
  let boxes = [];

  function show() {
    const now = image(), counts = countsOf(now);
    byId("viewer-title").replaceChildren(named(now.name));
    byId("viewer-words").replaceChildren(...(state.focus ? [...state.focus.words().map((part) => (part.cloneNode ? part.cloneNode(true) : part)), ". "] : []),
      `${LOOK.words(counts)}${LOOK.more(counts)} (${state.at + 1} of ${state.list.length})`);
    // The number of units that are a pixel on the screen, at the later size of the image.
    const across = stage.clientWidth || 800, down = window.innerHeight * 0.58;
    boxes = boxesAt(now, state.focus, true);
    about.textContent = "";
    draw(1 / Math.min(across / now.w, down / now.h), false);
    list();
    const part = state.focus && partAround(now, state.focus);
    byId("viewer-near").hidden = !part;
    if (part && state.near) zoom.to(part);
    const ends = { "viewer-before": state.at === 0, "viewer-next": state.at === state.list.length - 1 };
    for (const [id, end] of Object.entries(ends)) {
      // A disabled button loses the focus, and then keys have no effect.
      if (end && document.activeElement === byId(id)) byId("viewer-close").focus();
      byId(id).disabled = end;
    }
  }
  // For those who cannot point: every region in words, those that one came for first.
  const fold = byId("viewer-list");
  function list() {
    if (!fold.open) return;
    const first = (box) => (box.look === "marked" ? 0 : 1);
    const items = [...boxes].sort((a, b) => first(a) - first(b) || (b.score || 0) - (a.score || 0));
    fold.querySelector("ul").replaceChildren(...items.map((box) => element("li", { class: box.look === "marked" && "chosen" }, storyOf(image(), box.region))));
  }
  fold.addEventListener("toggle", list);
  const command = commandButton(() => [["text", image().name], ...thresholdFilters()], "this image");
  if (command) byId("viewer-command").append(command);

  function draw(unit, keep = true) {
    const now = image(), drawing = picture({ ...now, ...countsOf(now) }, 13 * unit, boxes);
    drawnUnit = unit;
    stage.replaceChildren(drawing);
    zoom.show([drawing], now.w, now.h, keep);
  }
  const move = (step) => {
    const next = state.at + step;
    if (next < 0 || next >= state.list.length) return;
    state.at = next;
    show();
  };
  // focus: see boxesAt(); it has words(), too.
  viewer = (position, list, focus = null) => {
    state.list = list.filter((other) => DATA.images[other].boxes);
    state.at = Math.max(0, state.list.indexOf(position));
    state.focus = focus;
    dialog.showModal();
    show();
  };

  // The smallest region under the pointer.
  stage.addEventListener("pointermove", (event) => pointAt(event));
  stage.addEventListener("click", (event) => pointAt(event));
  function pointAt(event) {
    const drawing = stage.querySelector("svg.picture");
    if (!drawing || event.buttons) return;
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    const slack = 4 * zoom.unit();
    const under = boxes.filter(({ kind, x, y, w, h }) => !stage.classList.contains(`hide-${kind}`)
      && place.x >= x - slack && place.x <= x + w + slack && place.y >= y - slack && place.y <= y + h + slack);
    under.sort((a, b) => a.w * a.h - b.w * b.h);
    const words = under.length ? storyOf(image(), under[0].region) : "";
    if (words !== about.textContent) about.textContent = words;
    for (const old of drawing.querySelectorAll(".pointed")) old.remove();
    if (under.length) {
      const { x, y, w, h } = under[0];
      drawing.append(shape("rect", { class: "pointed", x, y, width: w, height: h }));
    }
  }

  byId("viewer-near").addEventListener("click", () => {
    state.near = !state.near;
    byId("viewer-near").setAttribute("aria-pressed", String(state.near));
    const part = state.focus && partAround(image(), state.focus);
    if (state.near && part) zoom.to(part);
    else zoom.whole();
  });
  byId("viewer-before").addEventListener("click", () => move(-1));
  byId("viewer-next").addEventListener("click", () => move(1));
  byId("viewer-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.target.matches("input") || event.shiftKey) return;
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
