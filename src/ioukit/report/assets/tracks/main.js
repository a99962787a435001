// What is chosen: a tracker, a sequence and an object; then everything starts.

const state = { tracker: 0, sequence: 0, object: "", every: false };
const tracker = () => DATA.trackers[state.tracker];
let filterEvents = () => {};

const options = (names) => names.map((name, k) => element("option", { value: k }, name));
const total = (part) => tracker().sequences.reduce((sum, { unlisted }) => sum + unlisted[part], 0);

function showSequence() {
  const sequence = tracker().sequences[state.sequence], more = byId("all-objects");
  byId("sequence").value = String(state.sequence);
  more.hidden = sequence.objects.length <= FEW_OBJECTS;
  more.textContent = state.every ? `Only ${FEW_OBJECTS} objects` : `All ${plural(sequence.objects.length, "object")}`;
  drawTimeline(byId("timeline-chart"), sequence, { chosen: state.object, every: state.every });
  const [lost] = sequence.unlisted;
  byId("timeline-said").textContent = lost ? `The page leaves out ${plural(lost, "object")} of this sequence with fewer mistakes.` : "";
}

function choose(sequence, object) {
  Object.assign(state, { sequence, object });
  state.every ||= tracker().sequences[sequence].objects.indexOf(object) >= FEW_OBJECTS;
  showSequence();
  byId("timeline").scrollIntoView();
  byId("sequence").focus({ preventScroll: true });
}

function filter() {
  filterEvents(Number(byId("events-kind").value), byId("events-filter").value.trim().toLowerCase());
}

function showTracker() {
  const { unlisted } = tracker();
  costsTable(byId("costs-table"), tracker(), choose);
  byId("costs-said").textContent = unlisted ? `Without ${plural(unlisted, "object or track", "objects or tracks")} that cost less or nothing; costs of ioukit tracks --json has all that cost something.` : "";
  filterEvents = eventsTable(byId("events-table"), tracker());
  const [objects, wrong] = [total(0), total(1)];
  const parts = [objects && `all events of ${plural(objects, "object")} with fewer mistakes`, wrong && `${plural(wrong, "shorter row")} of false boxes`].filter(Boolean);
  byId("events-said").textContent = parts.length ? `The page leaves out ${parts.join(" and ")}; ioukit tracks --events writes all.` : "";
  filter();
  showSequence();
}

const select = byId("tracker");
if (select) {
  select.append(...options(DATA.trackers.map(({ name }) => name)));
  select.addEventListener("change", () => { state.tracker = Number(select.value); showTracker(); });
}
byId("sequence").append(...options(tracker().sequences.map(({ name }) => name)));
byId("sequence").addEventListener("change", (event) => { Object.assign(state, { sequence: Number(event.target.value), object: "" }); showSequence(); });
byId("all-objects").addEventListener("click", () => { state.every = !state.every; showSequence(); });
byId("events-kind").append(element("option", { value: -1 }, "all"), ...options(EVENT_NAMES));
byId("events-kind").addEventListener("change", filter);
byId("events-filter").addEventListener("input", filter);
DATA.changes.forEach(({ rows, unlisted }, at) => {
  changesTable(byId(`changes-${at}`), rows, `Changed objects of ${DATA.trackers[at + 1].name}`);
  byId(`changes-said-${at}`).textContent = unlisted ? `These are ${whole(rows.length)} of ${plural(rows.length + unlisted, "object")} that change; pairs[${at}].changed_objects of ioukit tracks --json has all.` : "";
});
timelineLegend(byId("timeline-legend"));
showTracker();
drawnToFit(byId("timeline-chart"), showSequence);
startHints();
document.documentElement.setAttribute("data-ready", "");
