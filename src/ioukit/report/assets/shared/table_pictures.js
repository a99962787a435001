// A picture of a table with coloured cells, for PNG.

function tablePicture(table) {
  const frame = table.getBoundingClientRect();
  const drawing = shape("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, width: frame.width, height: frame.height, class: "table-picture" });
  for (const cell of table.querySelectorAll("th, td")) {
    const place = cell.getBoundingClientRect(), style = getComputedStyle(cell);
    const x = place.left - frame.left, y = place.top - frame.top, text = cell.textContent.trim();
    drawing.append(shape("rect", { x, y, width: place.width, height: place.height, fill: style.backgroundColor }));
    if (!text) continue;
    const upright = cell.closest("thead") && !cell.matches(".corner");
    const middle = x + place.width / 2;
    const letters = { fill: getComputedStyle(cell.querySelector("span") || cell).color, "font-size": style.fontSize, "font-family": style.fontFamily };
    if (cell.matches(".corner")) {
      cell.innerText.trim().split(/\n+/).forEach((line, k, lines) => drawing.append(shape("text", { ...letters, x: x + place.width - 8,
        y: y + place.height - 10 - 18 * (lines.length - 1 - k), "text-anchor": "end" }, line)));
    } else if (upright) drawing.append(shape("text", { ...letters, transform: `translate(${middle + 4} ${y + place.height - 6}) rotate(-90)` }, text));
    else if (cell.matches("th")) drawing.append(shape("text", { ...letters, x: x + place.width - 8, y: y + place.height / 2 + 4, "text-anchor": "end" }, text));
    else drawing.append(shape("text", { ...letters, x: middle, y: y + place.height / 2 + 4, "text-anchor": "middle" }, text));
  }
  return drawing;
}
