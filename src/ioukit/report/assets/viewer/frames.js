// The frames of a sequence, of data with track ids: steps from frame to frame, what happened in each, the way to the next
// event, and trails. The address has trails=off behind "#" while these are switched off.

const FRAME_TIME = 160; // milliseconds for which a frame stays, at least
const EVENT_NAMES = [["switch", "Switches of ids"], ["transfer", "Tracks at another object"], ["fragment", "Objects followed again"], ["miss", "Missed objects"], ["false", "False boxes"]];

// go(at): shows another image. pick(pane, k): chooses a mark of a pane. stage: the pictures.
function makeFrames(holder, stage, { go, pick }) {
  const button = (id, words, sign, act) => element("button", { type: "button", class: "button", id, "aria-label": words, title: words, onclick: act }, sign);
  const slider = element("input", { type: "range", id: "frame", min: 1, "aria-label": "Frame", oninput: () => go(images()[slider.value - 1]) });
  const said = element("span", { class: "small", id: "frame-said" }), problem = element("p", { class: "problem", role: "alert", hidden: true });
  const kinds = element("select", { id: "event-kind", "aria-label": "Kind of event", onchange: () => buttons() }, EVENT_NAMES.map(([value, text]) => element("option", { value }, text)));
  const trails = element("input", { type: "checkbox", onchange: () => VIEW.set({ trails: trails.checked ? null : "off" }) });
  const list = element("ul", { id: "events", class: "events small", role: "list", tabindex: 0, "aria-label": "What happened in this frame", "aria-live": "polite" });
  const player = button("frame-play", "Play (key p)", "▶", () => play(!playing));
  holder.append(
    element("div", { class: "controls" }, button("frame-before", "Frame before (key ,)", "‹", () => step(-1)), player, button("frame-next", "Next frame (key .)", "›", () => step(1)), slider, said),
    element("div", { class: "controls" }, kinds, button("event-before", "Event before (key w)", "← event", () => jump(0)), button("event-next", "Next event (key e)", "event →", () => jump(1)),
      element("label", { class: "check", id: "trails" }, trails, "trails")),
    problem, list);

  let sequences = [], answers = [], at = null, turn = 0, playing = false, timer = 0, jumped = false;
  const places = new Map(); // image -> [number of its sequence, place in it, place among all frames]
  const asked = ask("sequences", { query: "" }).then((answer) => {
    ({ sequences } = answer);
    sequences.forEach((one, sequence) => one.images.forEach((image, k) => places.set(image, [sequence, k, places.size])));
  });
  asked.catch(() => {}); // said where it is waited for
  const images = () => sequences[places.get(at)?.[0]]?.images || [];

  function step(by) {
    const next = images()[(places.get(at)?.[1] ?? -2) + by];
    if (next === undefined) play(false);
    else go(next);
  }
  function play(on) {
    playing = on;
    clearTimeout(timer);
    player.textContent = on ? "❚❚" : "▶";
    set(player, { "aria-label": on ? "Pause (key p)" : "Play (key p)", title: on ? "Pause (key p)" : "Play (key p)" });
    if (on) step(1);
  }

  // The image with the nearest event of the chosen kind, of any model that is seen. The answers may still be those of the
  // frame before.
  function target(after) {
    const ahead = (image) => (after ? 1 : -1) * (places.get(image)[2] - places.get(at)[2]);
    const found = answers.map(({ jumps }) => jumps[kinds.value][after]).filter((one) => one !== null && ahead(one) > 0);
    return found.sort((a, b) => ahead(a) - ahead(b))[0];
  }
  function jump(after) {
    const next = target(after);
    if (next === undefined) return;
    jumped = true;
    go(next);
  }

  // A disabled button loses the focus, and then keys have no effect.
  function disable(id, end) {
    if (end && document.activeElement === byId(id)) slider.focus();
    byId(id).disabled = end;
  }
  function buttons() {
    const [sequence, place] = places.get(at) || [null, 0], count = images().length;
    said.textContent = sequence === null ? "" : `${whole(place + 1)} of ${whole(count)} frames, ${sequences[sequence].name}`;
    slider.max = String(count);
    slider.value = String(place + 1);
    set(slider, { "aria-valuetext": said.textContent });
    disable("frame-before", place <= 0);
    disable("frame-next", place >= count - 1);
    disable("event-before", target(0) === undefined);
    disable("event-next", target(1) === undefined);
    trails.checked = VIEW.one("trails") !== "off";
  }

  // What happened: first what begins here and is of the chosen kind. A button for what is drawn.
  function happened() {
    const panes = stage.panes(), rows = [];
    answers.forEach(({ events }, number) => {
      const pane = panes[number];
      for (const { kinds: of, words, begins, object, detection } of events) {
        const mark = pane.details.find(({ side, row }) => (detection < 0 ? side === 0 && row === object : side === pane.model + 1 && row === detection));
        const choose = mark ? () => pick(pane, mark.k) : null, told = pane.title ? [element("b", {}, named(pane.title)), ": ", named(words)] : [named(words)];
        rows.push({ rank: of.includes(kinds.value) ? 1 + begins : 0, choose, row: element("li", {}, choose ? element("button", { type: "button", class: "event", onclick: choose }, told) : told) });
      }
    });
    rows.sort((a, b) => b.rank - a.rank);
    const threshold = (model) => Number(STATE.one("at_score", String(DATA.default.at_scores[model])));
    const below = panes.some(({ model }) => threshold(model) > DATA.score_range[0]);
    const notes = [...(rows.length ? [] : ["Nothing but matches."]), ...(below ? ["Events are those of all detections, also below the score threshold."] : []), ...new Set(answers.flatMap((one) => one.notes))];
    list.replaceChildren(...rows.map(({ row }) => row), ...notes.map((words) => element("li", { class: "soft" }, named(words))));
    list.scrollTop = 0;
    if (jumped) rows.find(({ rank, choose }) => rank && choose)?.choose();
    jumped = false;
  }

  return {
    acts: { ",": () => step(-1), ".": () => step(1), p: () => play(!playing), w: () => jump(0), e: () => jump(1) },
    stop: () => play(false),
    // Whether two images are frames of one sequence.
    together: (a, b) => places.has(a) && places.get(a)[0] === places.get(b)?.[0],
    after: (image) => sequences[places.get(image)?.[0]]?.images[places.get(image)[1] + 1],
    // An image was shown, with a model in each pane.
    async show(image, models) {
      const mine = ++turn;
      at = image;
      clearTimeout(timer);
      if (playing) timer = setTimeout(() => step(1), FRAME_TIME);
      try {
        await asked;
        if (mine === turn) buttons();
        const found = await Promise.all(models.map((model) => ask("events", { more: { at: image }, query: new URLSearchParams({ model: DATA.models[model] }).toString() })));
        if (mine !== turn) return;
        answers = found;
        problem.hidden = true;
        buttons();
        happened();
      } catch (error) {
        if (mine !== turn) return;
        problem.textContent = error instanceof Refusal ? error.message : `Something failed: ${error.message}`;
        problem.hidden = false;
      }
    },
  };
}

// The trails of a model's tracks, and those of the objects where these are shown. A frame without a box leaves a gap.
function trailElements({ trails }, model) {
  const objects = !hiddenKinds().includes("gt"), holder = shape("g", { class: "trails", transform: "scale(.1)" });
  for (const { side, track, points } of trails) {
    if (side ? side !== model + 1 : !objects) continue;
    let d = "";
    for (let k = 0; k < points.length; k += 3) d += `${k && points[k] - points[k - 3] === 1 ? "L" : "M"}${points[k + 1]} ${points[k + 2]}`;
    holder.append(inClassColour(shape("g", { class: side ? "trail" : "trail of-object" }, shape("path", { class: "trail-edge", d }), shape("path", { d })), trackPlace(track)));
  }
  return holder;
}
