// What changed, object by object: a list that follows filters. Its columns are lists of one length in DATA.changes.

const CHANGES = DATA.changes;
const nameOf = (label) => (label < 0 ? "" : DATA.names[label]);
const imageName = (k) => DATA.images[CHANGES.image[k]].name;

// In the data, scores and overlaps are in thousandths; null stands for no detection.
const thousandth = (values, k) => (values[k] === null ? NaN : values[k] / 1000);
const scoreOf = (side, k) => thousandth(CHANGES[`score_${SIDES[side]}`], k);
const iouOf = (side, k) => thousandth(CHANGES[`iou_${SIDES[side]}`], k);

const mark = (kind) => element("span", { class: `mark m-${CHANGES.kinds[kind].look}`, "aria-hidden": "true" }, CHANGES.kinds[kind].sign);

function startChanges() {
  if (!CHANGES || !CHANGES.kind.length) return;
  const rows = CHANGES.kind.map((_, k) => k);
  const counts = CHANGES.kinds.map(() => 0);
  for (const kind of CHANGES.kind) counts[kind] += 1;
  const state = { kinds: new Set(CHANGES.kinds.map((_, kind) => kind)), label: -1, wanted: "" };

  const labelPlaces = places(DATA.names), imagePlaces = places(DATA.images.map(({ name }) => name));
  const measured = (value) => (Number.isFinite(value) ? value.toFixed(2) : "–");
  const columns = [
    { title: "change", value: (k) => CHANGES.kind[k], cell: (k) => element("span", { class: "with-mark" },
      mark(CHANGES.kind[k]), element("button", { type: "button", onclick: () => showChanges(k, table.sorted()) },
        CHANGES.kinds[CHANGES.kind[k]].title)) },
    { title: "class", style: "class-name", value: (k) => labelPlaces[CHANGES.label[k]], cell: (k) => labelWords(k) },
    { title: "image", style: "wide-name", value: (k) => imagePlaces[CHANGES.image[k]], cell: (k) => named(imageName(k)) },
    ...SIDES.flatMap((_, side) => [
      ...(DATA.ranks ? [{ title: `score ${LETTERS[side]}`, num: true, style: "model", value: (k) => scoreOf(side, k), cell: (k) => measured(scoreOf(side, k)) }] : []),
      { title: `${DATA.overlap} ${LETTERS[side]}`, num: true, style: "model", value: (k) => iouOf(side, k), cell: (k) => measured(iouOf(side, k)) },
    ]),
  ];
  const table = pagedTable(byId("changes-table"), { label: "Objects and detections that changed", columns, rows, start: [0, "ascending"] });

  const said = byId("changes-said");
  function show() {
    const { kinds, label, wanted } = state;
    const labels = DATA.names.map((name) => name.toLowerCase().includes(wanted));
    const images = DATA.images.map(({ name }) => name.toLowerCase().includes(wanted));
    const hit = rows.filter((k) => kinds.has(CHANGES.kind[k]) && (label < 0 || CHANGES.label[k] === label || CHANGES.label_a[k] === label || CHANGES.label_b[k] === label)
      && (!wanted || images[CHANGES.image[k]] || labels[CHANGES.label[k]]));
    table.show(hit);
    said.textContent = hit.length === rows.length ? plural(rows.length, "change") : `${whole(hit.length)} of ${plural(rows.length, "change")}`;
  }
  byId("changes-kinds").append(...CHANGES.kinds.map(({ title, words }, kind) => element("label", { class: "check", title: words },
    element("input", { type: "checkbox", value: CHANGES.kinds[kind].name, checked: true, disabled: !counts[kind], onchange: (event) => {
      if (event.target.checked) state.kinds.add(kind);
      else state.kinds.delete(kind);
      show();
    } }), mark(kind), `${title} `, element("span", { class: "soft" }, whole(counts[kind])))));
  const used = [...new Set(CHANGES.label)].sort((a, b) => labelPlaces[a] - labelPlaces[b]);
  const select = byId("changes-class");
  select.append(element("option", { value: -1 }, "All classes"), ...used.map((label) => element("option", { value: label }, DATA.names[label])));
  select.addEventListener("change", () => { state.label = Number(select.value); show(); });
  // The viewer knows objects that one model finds and the other does not.
  const filters = () => {
    const shownKinds = new Set([...state.kinds].map((kind) => CHANGES.kinds[kind].name));
    const changed = [["found", "won"], ["lost", "lost"]].filter(([name]) => shownKinds.has(name));
    return [...(changed.length ? changed : [["", "won"], ["", "lost"]]).map(([, change]) => ["change", change]),
      ...(state.label >= 0 ? [["class", classFilter(state.label)]] : []), ["at_iou", String(DATA.iou)]];
  };
  const button = commandButton(filters, "", "objects found or lost");
  if (button) byId("changes-command").append(button);
  byId("changes-filter").addEventListener("input", (event) => {
    state.wanted = event.target.value.trim().toLowerCase();
    show();
  });
  show();
}

// The class; where a model has another one, that too.
function labelWords(k, before = " ") {
  const others = SIDES.map((side, at) => [LETTERS[at], CHANGES[`label_${side}`][k]]).filter(([, label]) => label >= 0 && label !== CHANGES.label[k]);
  return [named(nameOf(CHANGES.label[k])), ...others.map(([letter, label]) =>
    element("span", { class: "soft small" }, `${before}${letter}: `, named(nameOf(label))))];
}

// A sentence for the large image.
function changeWords(k) {
  const side = (at) => {
    const value = scoreOf(at, k), iou = iouOf(at, k);
    if (!Number.isFinite(value)) return `${LETTERS[at]}: no detection`;
    const words = [...(DATA.ranks ? [`score ${value.toFixed(2)}`] : []), ...(Number.isFinite(iou) ? [`${DATA.overlap} ${iou.toFixed(2)}`] : [])];
    return `${LETTERS[at]}: ${words.join(", ") || "a detection"}`;
  };
  const { title, words } = CHANGES.kinds[CHANGES.kind[k]];
  return [element("strong", {}, title), " – ", ...labelWords(k, ", "), `. ${words} ${side(0)}. ${side(1)}.`];
}
