// Functions that every page uses: its data, elements, the switch for light and dark. Text enters a page as text only;
// this script parses no HTML.

const DATA = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);

// Attributes that are undefined, null or false are left out; functions for "onclick" and so on become listeners.
function set(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) target.addEventListener(name.slice(2), value);
    else target.setAttribute(name, value === true ? "" : String(value));
  }
  return target;
}

function filled(target, attributes, children) {
  target.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return set(target, attributes);
}

const element = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

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

choice(byId("theme"), (value) => {
  document.documentElement.toggleAttribute("data-theme", value !== "auto");
  if (value !== "auto") document.documentElement.setAttribute("data-theme", value);
});
