// The menu of downloads: what the filters choose, or what is tagged.

const EXPORTS = [
  ["csv", "Regions", "CSV, for a spreadsheet"],
  ["coco", "Images and objects", "COCO annotations, ids kept"],
  ["ids", "Image ids", "text, one per line"],
];

function startExporting(holder) {
  const state = { of: "filtered" };
  const said = element("p", { class: "small soft export-said", role: "status" });
  const links = EXPORTS.map(([form, title, words]) => {
    const link = element("a", { class: "export-link", download: "" }, element("span", { class: "export-title" }, title), element("span", { class: "small soft" }, words));
    return { form, link };
  });
  const of = element("div", { class: "choice", role: "group", "aria-label": "What to export" },
    element("button", { type: "button", value: "filtered", "aria-pressed": "true" }, "Shown"),
    element("button", { type: "button", value: "tagged", "aria-pressed": "false" }, "Tagged or noted"));
  const details = element("details", { class: "menu", id: "export" }, element("summary", { class: "button" }, "Export"),
    element("div", { class: "sheet menu-sheet" }, element("p", { class: "menu-title" }, "What"), of, said, element("p", { class: "menu-title" }, "As"),
      element("ul", { class: "export-links", role: "list" }, links.map(({ link }) => element("li", {}, link)))));
  holder.replaceChildren(details);
  let images = null, regions = null;

  function draw() {
    const query = STATE.text();
    for (const { form, link } of links) link.setAttribute("href", `${EXPORT_ADDRESS}?as=${form}&of=${state.of}${query && `&${query}`}`);
    if (state.of === "filtered") said.textContent = images === null ? "" : `${plural(images, "image")}, ${plural(regions, "region")} of ${DATA.annotators ? "both" : STATE.one("model", DATA.models[0] || "the ground truth")}`;
    else if (NOTES.all) said.textContent = "All that has a tag or a note, whatever the filters.";
  }
  choice(of, (value) => {
    state.of = value;
    if (value === "tagged") askNotes().then(draw, (error) => { said.textContent = error.message; });
    draw();
  });
  parts.push((answer) => {
    if (answer) {
      images = answer.order.length;
      regions = answer.marks.reduce((total, count) => total + count, 0);
    }
    draw();
  });
  menu(details);
  draw();
}
const EXPORT_ADDRESS = "export";
