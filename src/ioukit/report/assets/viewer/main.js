// Start all parts, and keep them in step: a change of the address asks for an answer, and every part follows it.

Object.assign(DATA, { names: [], models: [], drawing: {} });

function say(error) {
  const holder = byId("problem");
  holder.hidden = !error;
  byId("problem-words").textContent = error ? (error instanceof Refusal ? error.message : `Something failed: ${error.message}`) : "";
}

// One question at a time. While an answer is on its way, only the newest of the later questions is kept.
function makeAsking(found) {
  let running = false, again = false, slow = null;
  async function follow() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    slow = setTimeout(() => document.documentElement.classList.add("waiting"), 150);
    try {
      do {
        again = false;
        const query = STATE.text();
        try {
          const answer = await ask("answer", { query });
          say(null);
          found(answer, query);
        } catch (error) {
          say(error);
        }
      } while (again);
    } finally {
      running = false;
      clearTimeout(slow);
      document.documentElement.classList.remove("waiting");
    }
  }
  return follow;
}

// The panel stands beside the images; on a narrow screen it is a drawer.
function startPanel() {
  const phone = matchMedia("(max-width: 40rem)"), narrow = matchMedia("(max-width: 60rem)"), panel = byId("panel"), aside = byId("aside"), drawer = byId("drawer");
  const place = () => {
    if (drawer.open) drawer.close();
    (narrow.matches ? byId("drawer-inside") : aside).append(panel);
    aside.hidden = narrow.matches;
  };
  narrow.addEventListener("change", place);
  // On a phone, the bar has room for the name of the data.
  const theme = () => byId(phone.matches ? "look-theme" : "bar-tools").append(byId("theme"));
  phone.addEventListener("change", theme);
  theme();
  place();
  byId("open-panel").addEventListener("click", () => drawer.showModal());
  for (const id of ["drawer-close", "drawer-done"]) byId(id).addEventListener("click", () => drawer.close());
  drawer.addEventListener("click", (event) => { if (event.target === drawer) drawer.close(); });
}

async function start() {
  startPanel();
  const first = STATE.text(), early = ask("answer", { query: first }).catch((error) => error);
  Object.assign(DATA, await ask("data", { query: "" }));
  DATA.names = DATA.classes.map(({ name }) => name);
  DATA.drawing = DATA.style || {};
  DATA.columns ||= [];
  DATA.flags ||= [];
  if (!DATA.ranks) LOOK.scored = [];
  if (DATA.annotators) speakOfAnnotators(...DATA.annotators);
  byId("title").replaceChildren(named(DATA.title));
  document.title = `${DATA.title} – ioukit view`;
  const open = (at, place) => { if (typeof openLarge === "function") openLarge(at, place); };
  const grid = makeGrid(byId("grid"), { open, failed: say });
  startFilters(byId("panel-filters"));
  startCounts();
  startNumbers();
  startSort();
  startLook(grid);
  startExporting(byId("exporting"));
  startKeys();

  function found(answer, query) {
    for (const part of parts) part(answer);
    const all = DATA.images, marks = answer.marks.reduce((total, count) => total + count, 0);
    const number = answer.order.length;
    byId("said").textContent = number === all ? plural(all, "image") : `${whole(number)} of ${plural(all, "image")}`;
    byId("said-marks").textContent = filterPairs().length && number ? `with ${plural(marks, "selected region")}` : "";
    byId("drawer-done").textContent = `Show ${plural(number, "image")}`;
    const words = !all ? "The ground truth has no images." : number ? "" : "No image fits all filters. Remove one of them.";
    byId("nothing").hidden = !words;
    byId("nothing-words").textContent = words;
    byId("grid").hidden = number === 0;
    byId("grid").setAttribute("aria-label", `Images: ${byId("said").textContent}`);
    grid.show(answer, query);
    document.documentElement.setAttribute("data-ready", query);
  }

  const follow = makeAsking(found);
  STATE.listen(() => {
    for (const part of parts) part(null);
    follow();
  });
  // While an image is large, the images before and after it stay: what a tag or note changes is seen when it is closed.
  let later = false;
  document.addEventListener("notes-changed", () => {
    if (!byId("large")?.open) follow();
    else if (!later) {
      later = true;
      byId("large").addEventListener("close", () => { later = false; follow(); }, { once: true });
    }
  });
  byId("again").addEventListener("click", follow);
  for (const part of parts) part(null);
  const answer = await early;
  if (answer instanceof Error) {
    say(answer);
    byId("said").textContent = "No images";
  } else if (STATE.text() === first) found(answer, first);
  else follow();
  if (typeof startLarge === "function") startLarge(grid);
  startNotes();
  const image = Number(VIEW.one("image", ""));
  if (VIEW.has("image") && Number.isInteger(image)) open(image);
}

start().catch((error) => {
  say(error);
  byId("again").addEventListener("click", () => location.reload());
});
