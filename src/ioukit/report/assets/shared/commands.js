// The command that opens the images behind a number in the viewer, beside that number. DATA.view: {before: the words of
// the command up to the filters, as a list, ids: for some classes by their positions, how a filter names them}; null if
// the data came from memory.

// A word for a POSIX shell.
const shellWord = (word) => (/^[A-Za-z0-9_./=:,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

// How a filter names the class at a position of DATA.names.
const classFilter = (position) => (DATA.view && DATA.view.ids[position]) || DATA.names[position];

// filters: [[key, value], ...], see `ioukit view --help`.
function viewCommand(filters) {
  return [...DATA.view.before, ...filters.flatMap(([key, value]) => ["--filter", `${key}=${value}`])].map(shellWord).join(" ");
}

// The same with each option in a line of its own: nothing breaks within an option.
const commandLines = (words) => words.replaceAll(/ (?=--[a-z])/g, "\n");

// A small control that shows the command and lets one copy it. filters: a list, or a function that makes it.
// label: what it opens, for those who do not see where it stands; text: what it shows.
function commandButton(filters, label = "", text = "Viewer command") {
  if (!DATA.view) return null;
  return element("button", { type: "button", class: "command-button screen-only", "aria-haspopup": "dialog",
    onclick: () => showCommand(viewCommand(typeof filters === "function" ? filters() : filters)) },
    text, label ? element("span", { class: "unseen" }, `: ${label}`) : null);
}

let commandPanel = null;

function showCommand(words) {
  if (!commandPanel) {
    const said = element("span", { class: "small soft", role: "status" });
    const text = element("textarea", { class: "command", readonly: true, rows: 4, spellcheck: "false", "aria-label": "The command" });
    const panel = element("dialog", { class: "command-panel", "aria-label": "The command that opens these images" },
      element("p", { class: "small" }, "This command opens these images in the viewer, an app on your own machine:"),
      text, element("div", { class: "command-line" },
        element("button", { type: "button", class: "button", autofocus: true, onclick: () => copied(text, said, commandPanel.words) }, "Copy"),
        element("button", { type: "button", class: "button", onclick: () => panel.close() }, "Close"), said));
    panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
    // The command is one line, also if it is copied with keys.
    text.addEventListener("copy", (event) => {
      const part = text.value.slice(text.selectionStart, text.selectionEnd);
      event.clipboardData.setData("text/plain", part.replaceAll("\n", " "));
      event.preventDefault();
    });
    document.body.append(panel);
    commandPanel = { panel, text, said };
  }
  commandPanel.words = words;
  commandPanel.text.value = commandLines(words);
  commandPanel.text.rows = Math.min(10, commandPanel.text.value.split("\n").length + 3);
  commandPanel.said.textContent = "";
  commandPanel.panel.showModal();
}

// The clipboard may be closed to a page of a file; then the text is selected, for the keys of the system.
async function copied(text, said, words) {
  text.select();
  try {
    await navigator.clipboard.writeText(words);
    said.textContent = "copied";
  } catch {
    said.textContent = document.execCommand("copy") ? "copied" : "selected: copy it with the keys of your system";
  }
}
