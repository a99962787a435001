// What is known of the marks of a large image: a list of all, and the details of one.

const KIND_NAMES = [...["object", "tp", "fp", "fn"].map((kind) => capitalized(WORDS.outcomes[kind])), "Ignored object", "Ignored detection"];
const LIST_ORDER = [2, 3, 1, 0, 5, 4]; // errors first

// Parts of the page that show more about an image or a mark: functions of (holder, image, place of the mark or null).
const detailParts = [];

const modelOf = (side) => (side > 0 ? DATA.models[side - 1] : null);

function markWords(mark) {
  const points = mark.score === null || mark.side === 0 ? "" : ` ${score(mark.score)}`;
  return `${mark.class}${mark.track ? ` #${mark.track}` : ""}${points}, ${KIND_NAMES[mark.kind].toLowerCase()}${mark.error && mark.error !== "missed" ? `, ${WORDS.errors[mark.error].plain}` : ""}`;
}

// How many regions of which kinds are not shown.
function leftWords(marks) {
  const hidden = hiddenKinds(), counts = new Map();
  for (const { kind } of marks) {
    const words = hidden.includes(KINDS[kind]) ? `${KIND_NAMES[kind].toLowerCase()}` : "region that the filters leave out";
    counts.set(words, (counts.get(words) || 0) + 1);
  }
  const many = (words) => words.replace("region", "regions").replace(/(object|detection|positive)$/, "$1s");
  return [...counts].map(([words, count]) => plural(count, words, many(words))).join(", ");
}

// Names and values, and nothing where there is no value.
const factList = (facts) => element("dl", { class: "known" }, facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, named(value))]));

const put = (holder, ...children) => holder.replaceChildren(...children.filter(Boolean));

// The marks of an image as the list and the details need them.
function detailedMarks(image) {
  return image.marks.map((mark, k) => ({ ...mark, k, side: image.boxes[k * 9 + 7], row: image.boxes[k * 9 + 8], label: image.boxes[k * 9 + 1],
    w: image.boxes[k * 9 + 5] / 10, h: image.boxes[k * 9 + 6] / 10, chosen: !image.chosen || image.chosen[k] === 1 }));
}

// picked(k): a mark was chosen, or none. pointed(k): a row is under the pointer, or none. opened(k): shown larger.
function makeMarkList(holder, { picked, pointed, opened }) {
  const list = element("div", { class: "options mark-list", role: "listbox", tabindex: 0, "aria-label": "Regions of this image" });
  const said = element("p", { class: "small soft mark-said" });
  holder.replaceChildren(said, list);
  let rows = [], places = new Map(), current = null;
  const rowOf = (k) => rows[places.get(k)];

  function mark(k, scroll = true) {
    const before = current === null ? null : rowOf(current), now = k === null ? null : rowOf(k);
    if (before) before.setAttribute("aria-selected", "false");
    before?.classList.remove("current");
    current = now ? k : null;
    list.removeAttribute("aria-activedescendant");
    if (!now) return;
    now.setAttribute("aria-selected", "true");
    now.classList.add("current");
    list.setAttribute("aria-activedescendant", now.id);
    if (scroll) now.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const at = places.get(current) ?? -1, next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by));
    if (rows[next]) picked(Number(rows[next].dataset.k));
  }
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".option");
    if (row) picked(Number(row.dataset.k));
  });
  list.addEventListener("dblclick", (event) => { if (event.target.closest(".option")) opened(current); });
  list.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const row = event.target.closest(".option");
    pointed(row ? Number(row.dataset.k) : null);
  });
  list.addEventListener("pointerleave", () => pointed(null));

  return {
    list,
    mark,
    step,
    first: () => step(-Infinity),
    last: () => step(Infinity),
    // marks: those that are shown, see detailedMarks. all: all that could be. model: the number of the chosen one.
    show(marks, all, model) {
      const sorted = [...marks].sort((a, b) => b.chosen - a.chosen || LIST_ORDER.indexOf(a.kind) - LIST_ORDER.indexOf(b.kind) || (b.score ?? -1) - (a.score ?? -1) || a.k - b.k);
      said.textContent = !all.length ? "There are no regions on this image." : sorted.length === all.length ? plural(all.length, "region")
        : `${whole(sorted.length)} of ${plural(all.length, "region")}; switched off: ${leftWords(all.filter((one) => !sorted.includes(one)))}`;
      rows = sorted.map((one) => {
        const row = element("div", { class: `option k-${KINDS[one.kind]}${one.chosen ? "" : " unchosen"}`, role: "option", id: `mark-${one.k}`, "aria-selected": "false", "aria-label": markWords(one) },
          outcomeKey(KINDS[one.kind]), classKey(placeOf(one)), element("span", { class: "line-text" }, named(one.class)),
          one.track ? element("span", { class: "small soft" }, named(`#${one.track}`)) : null,
          one.kind === 3 ? element("span", { class: "small soft" }, DATA.annotators ? "no pair" : "missed") : one.error ? element("span", { class: "small soft" }, WORDS.errors[one.error].plain) : null,
          one.side > 0 && one.side !== model + 1 ? element("span", { class: "small soft model-of" }, modelOf(one.side)) : null,
          element("span", { class: "facet" }, DATA.annotators ? named(DATA.annotators[one.side]) : one.side === 0 ? "object" : one.score === null ? "detection" : score(one.score)));
        row.dataset.k = one.k;
        return row;
      });
      places = new Map(sorted.map(({ k }, at) => [k, at]));
      list.replaceChildren(...rows);
      list.hidden = !rows.length;
      mark(current);
    },
  };
}

// The details of a mark, or of the image if k is null.
function showDetails(holder, image, marks, k, { go, closer }) {
  const more = element("div", { class: "more-details" });
  const notice = image.photo_words ? element("p", { class: "notice small" }, image.photo_words) : null;
  if (k === null) {
    const facts = [["Id", String(image.id)], ["Size", `${whole(Math.round(image.w))} × ${whole(Math.round(image.h))}`],
      ...image.columns.filter(([name, value]) => value !== null && !["width", "height"].includes(name)).map(([name, value]) => [columnTitle(name), typeof value === "number" ? String(Number(value.toPrecision(6))) : value])];
    put(holder, element("h3", {}, "Image"), notice,
      factList(facts.slice(0, 40)), more,
      marks.length ? element("p", { class: "small soft" }, "Point at a region or choose one from the list to see what it is and why.") : null);
  } else {
    const mark = marks[k], other = mark.partner ?? mark.about, object = mark.side === 0;
    const facts = [
      mark.score === null || object ? null : ["Score", score(mark.score)],
      mark.iou === null || (!DATA.models.length) ? null : [mark.partner === null ? "Highest overlap" : "Overlap", mark.iou ? fixed(mark.iou) : "none"],
      DATA.drawing.ground ? null : ["Size", `${whole(Math.round(mark.w))} × ${whole(Math.round(mark.h))}`],
      mark.area === null ? null : ["Area", DATA.drawing.ground ? `${fixed(mark.area, 1)} square metres` : `${whole(Math.round(mark.area))} square pixels`],
      mark.id === null ? null : ["Id", String(mark.id)],
      mark.track ? ["Track", mark.track] : null,
      mark.flags.length ? ["Flags", mark.flags.join(", ")] : null,
      DATA.models.length > 1 && !object ? ["Model", modelOf(mark.side)] : null,
    ].filter(Boolean);
    const outcome = DATA.models.length ? `${KIND_NAMES[mark.kind]}${mark.error && mark.error !== "missed" ? `: ${WORDS.errors[mark.error].plain}` : ""}` : mark.kind === 4 ? "Ignored object" : "Object";
    put(holder,
      element("h3", { class: "mark-title" }, classKey(placeOf(mark)), named(mark.class)),
      element("p", { class: `mark-outcome k-${KINDS[mark.kind]}` }, outcomeKey(KINDS[mark.kind]), outcome),
      mark.why ? element("p", { class: "why", id: "large-why" }, mark.why) : null,
      element("div", { class: "controls" },
        element("button", { type: "button", class: "button", onclick: closer }, "Show it larger"),
        other === null ? null : element("button", { type: "button", class: "button", onclick: () => go(other) },
          DATA.annotators ? (mark.partner === null ? "Go to a region that it overlaps" : "Go to its pair") : mark.partner === null ? (marks[other].side === 0 ? "Go to that object" : "Go to that detection") : object ? "Go to its detection" : "Go to its object")),
      notice,
      factList(facts),
      more);
  }
  for (const part of detailParts) part(more, image, k);
}
