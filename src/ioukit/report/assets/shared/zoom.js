// Zoom and pan of pictures: by wheel, drag, double click, two fingers, buttons, and the keys + - 0 and Shift with arrows.
// It changes only the viewBox of the <svg>, so the outlines stay sharp.
//
//   const zoom = startZoom(stage, { keys: dialog, changed: () => ... });
//   zoom.show([svg], w, h);          // the pictures in the stage: of one size, they move together; the whole is shown
//   zoom.show([svg], w, h, true);    // new pictures, and the same part of them
//   zoom.to([x, y, w, h]);           // a part, with a margin
//   holder.append(zoomButtons(zoom));
//
// `stage` has the pictures inside; it stays when they are replaced, also within `changed`. `keys` is the element whose
// keys count, the stage if it is left out. zoom.times is 1 for the whole picture, zoom.unit() the length of a pixel of
// the screen in units of the picture (letters of 13 pixels have the size 13 * zoom.unit()), zoom.part() the visible part.

const ZOOM_STEP = 1.5;
const ZOOM_UNIT = 48; // pixels of the screen that one unit of the picture has at most

function startZoom(stage, { keys = stage, changed = () => {} } = {}) {
  const zoom = { times: 1, x: 0, y: 0 }; // x, y: the centre
  let pictures = [], W = 1, H = 1, waiting = false, told = "";

  // The scale at which a whole picture is shown, and the size of what shows it.
  function frame(picture = pictures[0]) {
    const place = picture.getBoundingClientRect();
    const width = place.width || 1, height = place.height || 1;
    return { left: place.left, top: place.top, width, height, fit: Math.min(width / W, height / H) };
  }
  const most = (fit) => Math.max(8, ZOOM_UNIT / fit);
  const within = (at, seen, all) => (seen >= all ? all / 2 : Math.max(seen / 2, Math.min(at, all - seen / 2)));

  function write() {
    waiting = false;
    const w = W / zoom.times, h = H / zoom.times;
    const box = [zoom.x - w / 2, zoom.y - h / 2, w, h].map((number) => Math.round(number * 1e6) / 1e6 || 0).join(" ");
    for (const picture of pictures) {
      picture.setAttribute("viewBox", box);
      picture.classList.toggle("zoomed", zoom.times > 1);
    }
    if (box !== told) {
      told = box;
      changed(zoom);
    }
  }
  function apply() {
    if (!pictures.length) return;
    const { width, height, fit } = frame();
    zoom.times = Math.max(1, Math.min(zoom.times, most(fit)));
    zoom.x = within(zoom.x, width / fit / zoom.times, W);
    zoom.y = within(zoom.y, height / fit / zoom.times, H);
    if (waiting) return; // one change for each frame of the screen
    waiting = true;
    requestAnimationFrame(write);
  }

  // The point of the picture at a point of the screen.
  function pointAt(clientX, clientY, picture = pictures[0]) {
    const { left, top, width, height, fit } = frame(picture), scale = fit * zoom.times;
    return [zoom.x + (clientX - left - width / 2) / scale, zoom.y + (clientY - top - height / 2) / scale];
  }
  // What lies at the point of the screen stays there; without a point, the centre does.
  zoom.by = (factor, clientX, clientY, picture) => {
    if (!pictures.length) return;
    const [x, y] = clientX === undefined ? [zoom.x, zoom.y] : pointAt(clientX, clientY, picture);
    const times = Math.max(1, Math.min(zoom.times * factor, most(frame().fit)));
    zoom.x = x + (zoom.x - x) * (zoom.times / times);
    zoom.y = y + (zoom.y - y) * (zoom.times / times);
    zoom.times = times;
    apply();
  };
  // By pixels of the screen.
  zoom.move = (right, down) => {
    if (!pictures.length) return;
    const scale = frame().fit * zoom.times;
    zoom.x += right / scale;
    zoom.y += down / scale;
    apply();
  };
  zoom.whole = () => {
    Object.assign(zoom, { times: 1, x: W / 2, y: H / 2 });
    apply();
  };
  zoom.to = ([x, y, w, h], margin = 2.5) => {
    if (!pictures.length) return;
    const { width, height, fit } = frame();
    const times = Math.min(width / (fit * Math.max(w, 1e-6) * margin), height / (fit * Math.max(h, 1e-6) * margin), 8);
    Object.assign(zoom, { times, x: x + w / 2, y: y + h / 2 });
    apply();
  };
  zoom.unit = () => (pictures.length ? 1 / (frame().fit * zoom.times) : 1);
  zoom.part = () => {
    const { width, height, fit } = pictures.length ? frame() : { width: W, height: H, fit: 1 };
    const w = width / fit / zoom.times, h = height / fit / zoom.times;
    return [zoom.x - w / 2, zoom.y - h / 2, w, h];
  };
  zoom.show = (shown, w, h, keep = false) => {
    pictures = shown;
    const same = keep && w === W && h === H;
    [W, H] = [w, h];
    for (const picture of pictures) picture.classList.add("zooms");
    if (!same) Object.assign(zoom, { times: 1, x: W / 2, y: H / 2 });
    told = "";
    apply();
  };

  const pictureOf = (event) => pictures.find((picture) => picture.contains(event.target));

  stage.addEventListener("wheel", (event) => {
    const picture = pictureOf(event);
    if (!picture || !event.deltaY) return;
    if (event.deltaY > 0 && zoom.times === 1 && !event.ctrlKey) return; // the page scrolls on
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    // Two fingers on a touchpad come as a wheel with Ctrl, in small steps.
    const power = -Math.max(-240, Math.min(pixels, 240)) / (event.ctrlKey ? 80 : 240);
    zoom.by(2 ** power, event.clientX, event.clientY, picture);
  }, { passive: false });

  // One finger or the mouse moves, two fingers zoom. While the whole picture is shown, one finger scrolls the page.
  const fingers = new Map();
  let moved = false;
  const middle = () => {
    const [a, b = a] = [...fingers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y), picture: a.picture };
  };
  stage.addEventListener("pointerdown", (event) => {
    const picture = pictureOf(event);
    if (!picture || event.button !== 0) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, picture });
  });
  stage.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    if (event.pointerType === "mouse" && !(event.buttons & 1)) { // let go outside of the window
      fingers.delete(event.pointerId);
      return;
    }
    if (!moved && fingers.size === 1 && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) < 4) return;
    if (!moved) {
      moved = true;
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moving");
    }
    const before = middle();
    finger.x = event.clientX;
    finger.y = event.clientY;
    const after = middle();
    zoom.move(before.x - after.x, before.y - after.y);
    if (fingers.size === 2 && before.apart > 0 && after.apart > 0) zoom.by(after.apart / before.apart, after.x, after.y, after.picture);
  });
  const up = (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) stage.classList.remove("moving");
  };
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("click", (event) => { // the end of a movement is no click
    if (!moved) return;
    moved = false;
    event.stopPropagation();
    event.preventDefault();
  }, true);
  stage.addEventListener("dblclick", (event) => {
    const picture = pictureOf(event);
    if (picture) zoom.by(event.shiftKey ? 1 / ZOOM_STEP : ZOOM_STEP, event.clientX, event.clientY, picture);
  });

  const away = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  keys.addEventListener("keydown", (event) => {
    if (!pictures.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select")) return;
    if (event.key === "+" || event.key === "=") zoom.by(ZOOM_STEP);
    else if (event.key === "-" || event.key === "_") zoom.by(1 / ZOOM_STEP);
    else if (event.key === "0") zoom.whole();
    else if (event.shiftKey && away[event.key]) {
      const { width, height } = frame();
      zoom.move(away[event.key][0] * width / 6, away[event.key][1] * height / 6);
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // arrows alone may have another meaning
  }, true);

  new ResizeObserver(apply).observe(stage);
  return zoom;
}

// The keys as buttons, for those who have neither wheel nor keys.
function zoomButtons(zoom) {
  const button = (words, sign, act) => element("button", { type: "button", "aria-label": words, title: words, onclick: act }, sign);
  return element("div", { class: "choice zoom-buttons", role: "group", "aria-label": "Zoom" },
    button("Smaller (key -)", "−", () => zoom.by(1 / ZOOM_STEP)),
    button("The whole image (key 0)", "whole", () => zoom.whole()),
    button("Larger (key +)", "+", () => zoom.by(ZOOM_STEP)));
}
