// The score threshold of the whole page, and the chosen class of the curves. Positions are those of DATA.scores: 0 is the
// highest threshold.

const CURVES = makeCurves(DATA.curves);
const SCORES = DATA.scores;
// row 0: all classes together, row k + 1: class k.
const chosen = { row: 0, position: DATA.start };
const listeners = [];
const slowListeners = []; // [element, function]: what draws more than a few elements

function choose(change) {
  const rowChanged = change.row !== undefined && change.row !== chosen.row;
  const moved = change.position !== undefined && change.position !== chosen.position;
  Object.assign(chosen, change);
  for (const listener of listeners) listener(rowChanged);
  if (moved) soon();
}

// Parts that are in sight are drawn in the next frame, the others after it, unless the slider moves on.
let waiting = false, turn = 0;
function soon() {
  turn += 1;
  document.documentElement.removeAttribute("data-ready");
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const now = turn;
    const later = slowListeners.filter(([holder, draw]) => {
      if (!holder) return true;
      const { top, bottom } = holder.getBoundingClientRect(), seen = bottom > 0 && top < window.innerHeight;
      if (seen) draw();
      return !seen;
    });
    const next = () => {
      if (now !== turn) return; // another round has begun
      const one = later.shift();
      if (!one) {
        document.documentElement.setAttribute("data-ready", "");
        return;
      }
      one[1]();
      setTimeout(next);
    };
    setTimeout(next, later.length ? 40 : 0);
  });
}

// holder: the element that shows it; null for pictures of many regions, which wait until the slider rests.
const slowly = (holder, draw) => slowListeners.push([holder, draw]);

const rowName = (row) => (row === 0 ? "All classes" : DATA.classes[row - 1]);
const rowLabel = (row) => (row === 0 ? "all classes together" : `class ${DATA.classes[row - 1]}`);

// How many of a list of new ones at each position there are at the chosen one.
function upTo(steps, position = chosen.position) {
  let total = 0;
  for (let k = 0; k <= position; k += 1) total += steps[k];
  return total;
}

function startThreshold() {
  const slider = byId("score");
  if (!slider) return;
  const count = SCORES.length;
  // The score threshold rises to the right.
  const across = (position) => count - 1 - position;
  slider.max = String(count - 1);
  slider.addEventListener("input", () => choose({ position: across(Number(slider.value)) }));
  byId("start").addEventListener("click", () => choose({ position: DATA.start }));
  function show() {
    const now = SCORES[chosen.position];
    slider.value = String(across(chosen.position));
    slider.dataset.score = String(now);
    if (!CURVES) slider.setAttribute("aria-valuetext", `score ${score(now)}`);
    byId("score-now").textContent = score(now);
    for (const place of document.querySelectorAll(".now-score")) place.textContent = score(now);
    byId("start").disabled = chosen.position === DATA.start;
  }
  listeners.push(show);
  show();
}
