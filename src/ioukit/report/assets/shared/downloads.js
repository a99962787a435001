// Tables as CSV and figures as PNG, made in the page: nothing is sent.

// A text that a spreadsheet would take for a formula gets an apostrophe before it.
function csvCell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvText = (rows) => rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");

// The visible rows of a table; data-v of a cell is its number.
function tableRows(table) {
  const value = (cell) => {
    if (cell.dataset.v !== undefined) return cell.dataset.v === "" ? null : Number(cell.dataset.v);
    const words = cell.cloneNode(true);
    for (const button of words.querySelectorAll(".command-button")) button.remove();
    for (const end of words.querySelectorAll("br")) end.replaceWith(" ");
    const text = words.textContent.trim().replace(/\s+/g, " ");
    return text === "–" ? null : cell.tagName === "TD" && /^-?[\d,]*\.?\d+$/.test(text) ? Number(text.replaceAll(",", "")) : text;
  };
  return [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].filter((cell) => !cell.classList.contains("bar-cell")).map(value));
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const DRAWN_LIKE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity",
  "font-size", "font-family", "font-weight", "text-anchor", "display", "vector-effect"];

// A copy of a picture with the colours of the page in its own attributes. The policy of a page forbids styles in it.
function standalone(drawing) {
  if (!drawing.isConnected) return { copy: drawing, width: Number(drawing.getAttribute("width")), height: Number(drawing.getAttribute("height")) };
  const copy = drawing.cloneNode(true), all = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((target, k) => {
    const style = getComputedStyle(all[k]);
    for (const name of DRAWN_LIKE) target.setAttribute(name, style.getPropertyValue(name));
    target.removeAttribute("class");
  });
  const { width, height } = drawing.getBoundingClientRect();
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return { copy, width, height };
}

async function savePicture(drawing, name) {
  const { copy, width, height } = standalone(drawing), scale = 2;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(drawing.closest(".sheet, dialog") || document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
}

// Buttons beside a table or a figure. rows(): for CSV. drawing(): the <svg> for PNG.
function downloads(holder, name, title, { rows, drawing }) {
  const button = (text, act) => element("button", { type: "button", class: "button small-button", "aria-label": `Download as ${text}: ${title}`, onclick: act }, text);
  holder.append(element("span", { class: "downloads screen-only" },
    rows ? button("CSV", () => save(new Blob([csvText(rows())], { type: "text/csv;charset=utf-8" }), `${name}.csv`)) : null,
    drawing ? button("PNG", () => { const found = drawing(); if (found) savePicture(found, name); }) : null));
}
