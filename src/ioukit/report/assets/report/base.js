// What every part uses: the data, elements, numbers. Text goes into the page as text alone: nothing here parses HTML.
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === undefined || child === null) continue;
    element.append(child);
  }
  return element;
}

const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const named = (text) => html("bdi", { class: "name" }, text);

const whole = (value) => value.toLocaleString("en-US");
const fixed = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
const spoken = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : "undefined");
const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

// Four digits say enough of a score; a score of large numbers (logits) is shown without an exponent where it fits.
function score(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return size >= 100 ? value.toFixed(1) : size >= 10 ? value.toFixed(2) : value.toFixed(4);
}

// Buttons of which one is pressed.
function choice(group, chosen) {
  const buttons = [...group.querySelectorAll("button")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      chosen(button.value);
    });
  }
}

// A table of the numbers that a chart shows, in the fold below it.
function chartTable(holder, title, head, rows) {
  holder.replaceChildren(
    html("table", {}, html("caption", { class: "unseen" }, title),
      html("thead", {}, html("tr", {}, head.map((name) => html("th", { scope: "col", class: "num" }, name)))),
      html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell) => html("td", { class: "num" }, cell)))))));
}
