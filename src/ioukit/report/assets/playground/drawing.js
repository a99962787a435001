// Functions that both pictures use, and groups of buttons of which one is pressed.

function show(id, text, value) {
  const target = byId(id);
  target.textContent = text;
  if (value !== undefined) target.setAttribute("value", value);
}

// A group of buttons, one of which is pressed.
function chips(parent, titles, choose) {
  const made = titles.map((title, k) => {
    const button = element("button", { type: "button", class: "chip", "aria-pressed": "false" }, title);
    button.addEventListener("click", () => choose(k));
    return button;
  });
  parent.append(...made);
  return (pressed) => made.forEach((button, k) => button.setAttribute("aria-pressed", String(k === pressed)));
}

// A picture of DATA.image_size units, as wide as its container; `draw` gets the pixels per unit.
function picture(svg, draw) {
  const [width, height] = DATA.image_size;
  const fit = () => {
    const pixels = Math.max(svg.clientWidth, 200) / width;
    svg.setAttribute("viewBox", `0 0 ${width * pixels} ${height * pixels}`);
    draw(pixels);
  };
  new ResizeObserver(fit).observe(svg);
  fit();
}

function gridLines(pixels) {
  const [width, height] = DATA.image_size, lines = [];
  for (let x = 1; x < width; x += 1) lines.push(`M${x * pixels} 0V${height * pixels}`);
  for (let y = 1; y < height; y += 1) lines.push(`M0 ${y * pixels}H${width * pixels}`);
  return lines.join("");
}

function rectangle([x1, y1, x2, y2], pixels) {
  return { x: x1 * pixels, y: y1 * pixels, width: (x2 - x1) * pixels, height: (y2 - y1) * pixels };
}

function outline([x1, y1, x2, y2], pixels) {
  return `M${x1 * pixels} ${y1 * pixels}H${x2 * pixels}V${y2 * pixels}H${x1 * pixels}Z`;
}
