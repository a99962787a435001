// A cut-out of the viewer: the first images of a filter, on a page that asks nobody for anything.

if (!DATA.ranks) {
  LOOK.scored = [];
  byId("labels").setAttribute("aria-label", "Class on the images");
  byId("labels").querySelector("[value=on]").textContent = "With class";
}

const CUT = { model: DATA.model, labels: false, wide: null };

function cutCounts() {
  const head = ["", ...["TP", "FP", "FN", "Precision", "Recall", "F1"]], share = (value) => (value === null ? "–" : value.toFixed(3));
  const rows = DATA.counts.map((counts, k) => element("tr", {}, element("th", { scope: "row" }, named(DATA.models[k])),
    ...["tp", "fp", "fn"].map((kind) => element("td", { class: `value v-${kind}` }, whole(counts[kind]))),
    ...["precision", "recall", "f1"].map((kind) => element("td", { class: "value" }, share(counts[kind])))));
  byId("numbers").replaceChildren(element("table", { class: "many" }, element("thead", {}, element("tr", {}, head.map((text) => (text
    ? element("th", { scope: "col" }, text) : element("td", {}))))), element("tbody", {}, rows)));
}

function cutCard(image) {
  const wide = CUT.wide === image.at, across = wide ? 900 : 280, ratio = image.w / image.h || 1;
  const sheet = element("span", { class: `sheet-of${DATA.photos[image.at] ? " photo" : " without"}` });
  sheet.style.aspectRatio = String(ratio);
  if (DATA.photos[image.at]) sheet.append(element("img", { class: "there", alt: "", src: DATA.photos[image.at] }));
  sheet.append(overlay(image, { model: CUT.model, layers: false, labels: CUT.labels, across }));
  const counts = countsOn(image, CUT.model), said = [["fp", "FP"], ["fn", "FN"], ["tp", "TP"]];
  const button = element("button", { type: "button", class: "cut-open", "aria-expanded": String(wide),
    "aria-label": `${image.name}: ${countsSaid(counts)}`,
    onclick: () => {
      CUT.wide = wide ? null : image.at;
      cutDraw();
      byId(`card-${image.at}`).querySelector("button").focus();
    } }, sheet, element("span", { class: "card-words" }, element("span", { class: "card-name" }, named(image.name)),
    element("span", { class: "card-counts" }, said.map(([kind, text]) => element("span", { class: `count k-${kind}${counts[kind] ? "" : " none"}` },
      element("b", {}, whole(counts[kind])), ` ${text}`)), (image.tags || []).map((tag) => element("span", { class: "tag" }, tag)))));
  return element("div", { class: wide ? "wide" : null, role: "listitem", id: `card-${image.at}` }, button);
}

const cutDraw = () => byId("cards").replaceChildren(...DATA.images.map(cutCard));

byId("title").replaceChildren(named(DATA.title));
byId("said").textContent = `A cut-out without a server: ${DATA.images.length < DATA.total ? `the first ${whole(DATA.images.length)} of ` : ""}${plural(DATA.total, "image")}`
  + `${DATA.filter ? " of a filter" : ""}. A click makes an image large. ioukit view shows all, with filters, tags and notes.`;
byId("numbers").closest(".overview").hidden = !DATA.counts.length;
cutCounts();
choice(byId("labels"), (value) => { CUT.labels = value === "on"; cutDraw(); });
if (DATA.models.length > 1) {
  const models = element("div", { class: "choice", role: "group", "aria-label": "Model" }, DATA.models.map((name, k) => element("button",
    { type: "button", value: k, "aria-pressed": String(k === CUT.model) }, name)));
  choice(models, (value) => { CUT.model = Number(value); cutDraw(); });
  byId("models").append(models);
}
cutDraw();
