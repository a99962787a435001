// Tags and notes of an image or of a region: the editor, and what is known of all tags.

const NOTES = { all: null, asked: null, editors: new Set(), written: new Map() }; // written: what was stored here, by image and mark
const TAG_LENGTH = 64, NOTE_LENGTH = 10000, SAVE_AFTER = 900;
const KEPT_ALIVE = 60000; // bytes; browsers refuse more than 64 KiB of requests that outlive their page

// A tab that is closed stores what was written a moment ago.
addEventListener("pagehide", () => {
  for (const editor of NOTES.editors) editor.storeNow();
});

// All tags with their counts, and why nothing can be stored; asked for once, then kept in step by what is stored.
function askNotes() {
  NOTES.asked ||= ask("notes", { query: "" }).then((all) => (NOTES.all = all), (error) => {
    NOTES.asked = null;
    throw error;
  });
  return NOTES.asked;
}

const noteKey = ({ at, side = null, row = null }) => [at, side, row].join(" ");

class NoteConflict extends Error {}

async function storeNote(entry) {
  const body = JSON.stringify(entry), headers = { "Content-Type": "application/json" };
  const keepalive = new Blob([body]).size < KEPT_ALIVE; // the tab may be closed before the answer
  // Who comes back before the answer sees what is on its way: an answer about the image may be older.
  const key = noteKey(entry), before = NOTES.written.get(key), sent = { tags: entry.tags, note: entry.note, time: Infinity };
  const written = (what) => { if (NOTES.written.get(key) === sent) NOTES.written.set(key, what); };
  NOTES.written.set(key, sent);
  let now;
  try {
    now = await ask("notes", { query: "", method: "POST", headers, body, keepalive, refused(status, { words, entry: stored }) {
      if (status === 409) throw Object.assign(new NoteConflict(words), { stored });
    } });
  } catch (error) {
    written(before);
    throw error;
  }
  NOTES.all = now.all;
  written({ ...now, time: performance.now() });
  document.dispatchEvent(new CustomEvent("notes-changed", { detail: { at: entry.at } }));
  return now;
}

const sameTags = (a, b) => a.length === b.length && a.every((tag) => b.includes(tag));
const tagWords = (text) => text.normalize("NFC").trim().replace(/\s+/g, " ");

// The editor of one image or region. entry: {at, side, row, tags, note}; side and row are null for the image.
// title: what it is about. It stores tags at once, and the note when the reader pauses.
// leave(): puts the focus where it was before; Escape calls it.
function notesEditor(holder, entry, title = "this image", leave = () => document.activeElement.blur()) {
  const about = { at: entry.at, side: entry.side ?? null, row: entry.row ?? null };
  let stored = { tags: [...(entry.tags || [])], note: entry.note || "" };
  let tags = [...stored.tags], waiting = null, saving = false, sending = null, failed = false, closed = false;
  let theirs = null; // what another window stored meanwhile, until the reader has chosen
  const listId = `tags-known-${(notesEditor.count = (notesEditor.count || 0) + 1)}`;

  const chips = element("ul", { class: "tag-list", role: "list", "aria-label": `Tags of ${title}` });
  const known = element("datalist", { id: listId });
  const input = element("input", { type: "text", class: "tag-input", list: listId, maxlength: TAG_LENGTH, placeholder: "Add a tag", autocomplete: "off",
    "aria-label": `Add a tag to ${title}`, "aria-keyshortcuts": "t" });
  const add = element("button", { type: "submit", class: "button small-button" }, "Add");
  const form = element("form", { class: "tag-form" }, input, add, known);
  const note = element("textarea", { class: "note-text", rows: 3, maxlength: NOTE_LENGTH, placeholder: "Write a note", "aria-label": `Note on ${title}`,
    "aria-keyshortcuts": "n" });
  const said = element("p", { class: "note-said small soft", role: "status" });
  const problem = element("div", { class: "note-problem", role: "alert", hidden: true });
  const inside = element("div", { class: "notes-editor", role: "group", "aria-label": `Tags and note of ${title}` }, chips, form, note, said, problem);
  holder.replaceChildren(inside);

  function suggest() {
    const words = NOTES.all?.words;
    input.disabled = add.disabled = note.disabled = Boolean(words);
    if (words) said.textContent = words;
    known.replaceChildren(...(NOTES.all?.tags || []).filter(({ name }) => !tags.includes(name)).slice(0, 200)
      .map(({ name, count }) => element("option", { value: name, label: `${whole(count)} ×` })));
  }

  function draw() {
    chips.replaceChildren(...tags.map((tag) => element("li", {}, element("button", { type: "button", class: "chip", "aria-label": `Remove tag: ${tag}`,
      disabled: note.disabled, onclick: () => change(tags.filter((other) => other !== tag), true) }, named(tag),
    element("span", { class: "cross", "aria-hidden": "true" }, "×")))));
    chips.hidden = !tags.length;
    suggest();
  }

  function change(next, byChip = false) {
    tags = next;
    draw();
    if (byChip) (chips.querySelector("button") || input).focus();
    save();
  }

  const isChanged = () => !sameTags(tags, stored.tags) || note.value !== stored.note;

  async function save() {
    clearTimeout(waiting);
    waiting = null;
    if (saving || theirs || !isChanged()) return;
    saving = true;
    said.textContent = "Saving …";
    const sent = sending = { tags: [...tags], note: note.value };
    try {
      const now = await storeNote({ ...about, ...sent, was: stored });
      // What the reader did meanwhile stays; what other windows stored comes in.
      const added = tags.filter((tag) => !sent.tags.includes(tag)), gone = sent.tags.filter((tag) => !tags.includes(tag));
      stored = { tags: [...now.tags], note: note.value === sent.note ? now.note : sent.note };
      tags = [...now.tags.filter((tag) => !gone.includes(tag)), ...added];
      if (note.value === sent.note) {
        if (note.value.trim() !== now.note) note.value = now.note;
        else stored.note = note.value;
      }
      failed = false;
      problem.hidden = true;
      said.textContent = "Saved";
      draw();
    } catch (error) {
      failed = true;
      refuse(error, sent);
    } finally {
      saving = false;
    }
    if (!failed && isChanged()) save();
  }

  function refuse(error, sent) {
    said.textContent = "Not saved";
    const again = (words, after) => element("button", { type: "button", class: "button small-button", onclick: after }, words);
    if (error instanceof NoteConflict) {
      theirs = error.stored;
      if (closed) {
        keepBoth();
        return;
      }
      const chosen = (words, after) => again(words, () => {
        stored = { tags: [...theirs.tags], note: theirs.note };
        if (after) note.value = theirs.note;
        theirs = null;
        problem.hidden = true;
        said.textContent = "";
        save();
        note.focus();
      });
      problem.replaceChildren(element("p", {}, "This note was changed in another window since you opened it. It says now:"),
        element("blockquote", { class: "note-theirs" }, theirs.note || "(nothing)"),
        element("div", { class: "button-row" }, chosen("Keep mine", false), chosen("Take the other", true)));
    } else {
      const words = error instanceof Refusal ? error.message : `Something failed: ${error.message}`;
      problem.replaceChildren(element("p", {}, words), element("div", { class: "button-row" }, again("Try again", save), again("Undo", () => {
        tags = [...stored.tags];
        note.value = stored.note;
        problem.hidden = true;
        said.textContent = "";
        draw();
        input.focus();
      })));
    }
    problem.hidden = false;
    if (closed) say(error);
  }

  // Who leaves without a choice loses neither note.
  function keepBoth() {
    const both = [theirs.note, note.value].filter(Boolean).join("\n"), left = both.length - NOTE_LENGTH;
    note.value = both.slice(0, NOTE_LENGTH);
    if (left > 0) {
      say(new Refusal(`Your note and the one of the other window were put together. They are too long for one note: the last ${plural(left, "character is", "characters are")} left out.`));
    }
    stored = { tags: [...theirs.tags], note: theirs.note };
    theirs = null;
    saving = false;
    save();
  }

  const take = () => {
    const tag = tagWords(input.value);
    input.value = "";
    if (tag && !tags.includes(tag)) change([...tags, tag]);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take();
  });
  // The first line of what the browser suggests is taken at once.
  input.addEventListener("input", (event) => {
    if (event.inputType === "insertReplacementText" || !event.inputType) form.requestSubmit();
  });
  note.addEventListener("input", () => {
    said.textContent = "";
    clearTimeout(waiting);
    waiting = setTimeout(save, SAVE_AFTER);
  });
  note.addEventListener("blur", save);
  // Keys of the page do nothing while one writes. Escape leaves the field, and only the field.
  inside.addEventListener("keydown", (event) => {
    if (event.target !== input && event.target !== note) return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (event.target === input) input.value = "";
      leave();
    } else if (event.key === "Enter" && event.target === input && !event.isComposing) {
      // After a tag, keys are those of the page again.
      event.preventDefault();
      take();
      leave();
    } else if (event.key === "Enter" && event.target === note && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
    event.stopPropagation();
  });

  note.value = stored.note;
  draw();
  askNotes().then(() => { if (!closed) draw(); }, (error) => { if (!closed) said.textContent = error.message; });

  const editor = {
    holder: inside,
    about,
    // Of two editors on a page, the one that was made last has the keys.
    focusTag() { input.focus(); },
    focusNote() { note.focus(); },
    storeNow() {
      if (theirs || !isChanged()) return;
      if (!saving) save();
      else if (note.value !== sending.note || !sameTags(tags, sending.tags)) {
        storeNote({ ...about, tags, note: note.value, was: sending }).catch(() => {}); // nobody is here to read why
      }
    },
    close() {
      closed = true;
      NOTES.editors.delete(editor);
      if (theirs) keepBoth();
      else save();
    },
  };
  for (const other of [...NOTES.editors]) if (!other.holder.isConnected) other.close();
  NOTES.editors.add(editor);
  return editor;
}

// "t" goes to the tags and "n" to the note of the editor that was made last. Returns whether the key was one of them.
function notesKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !["t", "n"].includes(event.key)) return false;
  if (event.target.matches("input:not([type=checkbox]), textarea, select")) return false;
  const editor = [...NOTES.editors].filter(({ holder }) => holder.isConnected && holder.checkVisibility()).pop();
  if (!editor) return false;
  event.preventDefault();
  if (event.key === "t") editor.focusTag();
  else editor.focusNote();
  return true;
}

// The editor in the large view: of the mark that is chosen there, or of the image.
function startNotes() {
  const dialog = byId("large"), title = element("h3", {}), inside = element("div", {});
  const holder = element("section", { id: "large-notes", "aria-label": "Tags and note" }, title, inside);
  byId("large-details").after(holder);
  const leave = () => (byId("large-list").querySelector("[role=listbox]:not([hidden])") || byId("large-title")).focus();
  let now = null, editor = null, latest = null;
  const writes = () => document.activeElement.matches("input, textarea") && holder.contains(document.activeElement);

  function show(image, k) {
    latest = [image, k];
    const mark = k === null ? { tags: image.image_tags, note: image.note } : image.marks[k];
    const about = { at: image.at, side: k === null ? null : image.boxes[k * 9 + 7], row: k === null ? null : image.boxes[k * 9 + 8] };
    if (noteKey(about) === now || (editor && editor.about.at === image.at && writes())) return;
    const focused = holder.contains(document.activeElement);
    editor?.close();
    now = noteKey(about);
    // What was stored here since the image was asked for is newer.
    const own = NOTES.written.get(now), known = own && own.time > (image.asked || 0) ? own : mark;
    title.replaceChildren("Tags and note of ", k === null ? "the image" : mark.side === 0 && !DATA.annotators ? "this object" : "this region");
    editor = notesEditor(inside, { ...about, tags: known.tags || [], note: known.note || "" }, k === null ? image.name : `${mark.class}, region ${k + 1} of ${image.name}`, leave);
    if (focused) leave();
  }

  detailParts.push((_, image, k) => show(image, k));
  // What is pointed at meanwhile is shown when the reader has finished writing.
  holder.addEventListener("focusout", () => setTimeout(() => { if (dialog.open && latest) show(...latest); }));
  dialog.addEventListener("keydown", notesKey);
  dialog.addEventListener("close", () => {
    editor?.close();
    editor = now = null;
  });
}
