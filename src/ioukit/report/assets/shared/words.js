// Numbers and names as the pages write them.

const named = (text) => element("bdi", { class: "name" }, text);

const whole = (value) => value.toLocaleString("en-US");
const fixed = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
const spoken = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : "undefined");
const percentText = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

// Four digits are enough for a score; large scores (logits) are shown without an exponent if they fit.
function score(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (!size) return "0";
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
  return size >= 100 ? value.toFixed(1) : size >= 10 ? value.toFixed(2) : value.toFixed(4);
}

// A difference always has its sign. The minus is the sign of mathematics, as wide as a plus.
function signed(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
}

// A table of the numbers of a chart, in the fold below it.
function chartTable(holder, title, head, rows) {
  holder.replaceChildren(
    element("table", {}, element("caption", { class: "unseen" }, title),
      element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col", class: "num" }, name)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", { class: "num" }, cell)))))));
}
