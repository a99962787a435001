// The keys, listed by "?".

const KEYS_OF_IMAGE = [["\u2190, \u2192 or k, j", "image before, after"], ["\u2191, \u2193", "region before, after"], ["Enter", "shows the region larger"],
  ["+, \u2212, 0", "zooms in, zooms out, shows the whole image"], ["Shift with arrows", "moves the image"], ["t, n", "writes a tag, a note"],
  ["l, c", "labels on and off; colours of classes or outcomes"], ["f", "flips between two models"],
  ["\u2190, \u2192 on the divider", "moves it, between two models"], ["Escape", "back to all images"]];
const KEYS_OF_FRAMES = [[", .", "frame before, after"], ["p", "plays the frames, and pauses"], ["w, e", "event before, after"]];
const keysOfImage = () => [...KEYS_OF_IMAGE, ...(DATA.tracks ? KEYS_OF_FRAMES : [])];
const KEYS_OF_ALL = [["arrows, Page Up, Page Down, Home, End", "other image"], ["Enter", "shows the image large"],
  ["p", "opens and closes the numbers of what is filtered"], ["Escape", "closes them"]];
const keysOfAll = () => [["All images", KEYS_OF_ALL], ["One image", keysOfImage()], ["Everywhere", [["?", "this list"]]]];

function startKeys() {
  const close = element("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { id: "keys", "aria-labelledby": "keys-title" }, element("h2", { id: "keys-title" }, "Keys"),
    keysOfAll().map(([title, lines]) => [element("h3", {}, title), element("dl", { class: "keys" },
      lines.map(([keys, words]) => element("div", {}, element("dt", {}, keys), element("dd", {}, words))))]).flat(), close);
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  const open = () => { if (!dialog.open) dialog.showModal(); };
  byId("open-keys").addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.target.matches("input:not([type=checkbox], [type=range]), textarea, select")) return;
    event.preventDefault();
    open();
  });
}
