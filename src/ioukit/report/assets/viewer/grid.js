// The grid of images: only the rows near the screen are elements of the page, whatever the number of images.

const WIDTHS = { small: 132, medium: 208, large: 330 };
const GAP = 12, CAPTION = 46;

// open(at, place): shows an image large. failed(error).
function makeGrid(holder, { open, failed }) {
  const state = { order: [], columns: 1, cardWidth: 200, rowHeight: 200, active: 0, model: 0, motion: 1 };
  const rows = new Map(); // row of the grid -> its element
  const drawings = makeDrawings({ wanted, arrived, failed });
  let scheduled = false, lastTop = 0;

  const rowCount = () => Math.ceil(state.order.length / state.columns);
  const look = () => ({ model: state.model, layers: VIEW.one("layers") === "all", labels: VIEW.one("labels") === "on", across: state.cardWidth });

  // The rows on the screen, with some more above and below.
  function span(above, below) {
    const top = -holder.getBoundingClientRect().top, height = window.innerHeight;
    const first = Math.max(0, Math.floor((top - above * height) / state.rowHeight));
    const last = Math.min(rowCount() - 1, Math.floor((top + (1 + below) * height) / state.rowHeight));
    return [first, last];
  }

  function wanted() {
    const [first, last] = span(0, 0), ahead = state.motion >= 0 ? span(0.5, 2) : span(2, 0.5), list = [];
    const add = (from, to) => {
      for (let place = Math.max(0, from * state.columns); place < Math.min(state.order.length, (to + 1) * state.columns); place += 1) list.push(state.order[place]);
    };
    add(first, last);
    if (state.motion >= 0) { add(last + 1, ahead[1]); add(ahead[0], first - 1); }
    else { add(ahead[0], first - 1); add(last + 1, ahead[1]); }
    return list;
  }

  function cell(place) {
    const at = state.order[place];
    const frame = element("div", { class: "frame" });
    const name = element("span", { class: "card-name" }), counts = element("span", { class: "card-counts" });
    const card = element("div", { class: "cell", role: "gridcell", id: `card-${at}`, "aria-colindex": (place % state.columns) + 1,
      tabindex: place === state.active ? 0 : -1 }, frame, element("div", { class: "card-words" }, name, counts));
    card.dataset.at = at;
    card.dataset.place = place;
    fill(card, at);
    return card;
  }

  // The photograph is asked for when its card stays on the screen; a card that is scrolled past asks for none.
  function fill(card, at) {
    const image = drawings.get(at);
    if (!image) {
      card.setAttribute("aria-label", "Image");
      return;
    }
    const [frame, words] = card.children;
    const counts = countsOn(image, state.model);
    // Within the border of the frame. The page is not asked, because it would have to be laid out for each card.
    const inside = (state.cardWidth - 2) / (Math.round(state.cardWidth * 0.75) - 2);
    const ratio = image.w / image.h, wide = ratio >= inside;
    let sheet = frame.querySelector(".sheet-of");
    if (!sheet) {
      sheet = element("div", { class: "sheet-of" });
      frame.replaceChildren(sheet);
    }
    sheet.style.width = wide ? "100%" : `${(100 * ratio) / inside}%`;
    sheet.style.height = wide ? `${(100 * inside) / ratio}%` : "100%";
    const drawn = overlay(image, { ...look(), across: state.cardWidth * (wide ? 1 : ratio / inside) });
    const old = sheet.querySelector("svg");
    if (old) old.replaceWith(drawn);
    else sheet.append(drawn);
    sheet.classList.toggle("without", !image.photo);
    sheet.classList.toggle("filtered", Boolean(image.chosen) && image.chosen.includes(0));
    words.children[0].replaceChildren(named(image.name));
    words.children[0].title = image.name;
    // With a filter of marks, what it chooses; otherwise all errors, and how many are right.
    const parts = image.chosen || !DATA.models.length ? outcomesHere().filter(({ kind }) => counts[kind]) : OUTCOMES.slice(0, 3);
    words.children[1].replaceChildren(...parts.map(({ kind, short }) => element("span", { class: `count k-${kind}${counts[kind] ? "" : " none"}` },
      element("b", {}, String(counts[kind])), ` ${DATA.models.length || kind !== "gt" ? short : counts.gt === 1 ? "object" : "objects"}`)),
      ...(image.tags || []).slice(0, 2).map((tag) => element("span", { class: "tag" }, tag)),
      ...(image.noted ? [element("span", { class: "tag", title: "has a note" }, "note")] : []));
    const said = DATA.models.length ? countsSaid(counts) : plural(counts.gt, "object");
    card.setAttribute("aria-label", `${image.name}: ${said}`
      + ((image.tags || []).length ? `; tagged ${image.tags.join(", ")}` : "") + (DATA.photographs && !image.photo ? "; no photograph" : "") + (image.photo_words ? `; ${image.photo_words}` : ""));
    card.dataset.drawn = drawings.filterOf(at);
    if (image.photo && image.photo_words) missing(sheet, /^No photograph/.test(image.photo_words) ? "not readable" : "another size", image.photo_words);
    if (image.photo) photograph(sheet, at, image);
    else if (DATA.photographs) missing(sheet, "no photograph");
  }

  function missing(sheet, words, title = null) {
    sheet.classList.toggle("without", words !== "another size");
    if (!sheet.querySelector(".missing")) sheet.append(element("span", { class: "missing", title }, words));
  }

  function photograph(sheet, at, image) {
    if (sheet.querySelector("img") || sheet.matches(".without:has(.missing)") || VIEW.one("photos") === "off") return;
    const ask = () => {
      if (!sheet.isConnected || sheet.querySelector("img")) return;
      const side = state.cardWidth * Math.min(2, window.devicePixelRatio || 1) > 340 ? 640 : 320;
      const img = element("img", { alt: "", decoding: "async", fetchpriority: "low", draggable: "false" });
      img.addEventListener("load", () => { sheet.classList.add("photo"); img.classList.add("there"); });
      img.addEventListener("error", () => { img.remove(); missing(sheet, "not readable"); });
      img.src = `thumb?at=${at}&side=${side}`;
      sheet.prepend(img);
    };
    if (Math.abs(speed) < 1.5) ask();
    else setTimeout(ask, 120);
  }

  const eachCard = (act) => { for (const row of rows.values()) for (const card of row.children) act(card, Number(card.dataset.at)); };
  function arrived(images) {
    const these = new Set(images.map(({ at }) => at));
    eachCard((card, at) => { if (these.has(at)) fill(card, at); });
  }

  let speed = 0, lastTime = 0; // pixels of a millisecond
  function paint() {
    scheduled = false;
    const top = window.scrollY, now = performance.now();
    speed = (top - lastTop) / Math.max(8, now - lastTime);
    if (top !== lastTop) state.motion = Math.sign(top - lastTop);
    lastTop = top;
    lastTime = now;
    const [first, last] = span(0.6, 0.8);
    const activeRow = state.order.length ? Math.floor(state.active / state.columns) : -1;
    // The row with the focus stays an element of the page, or the focus would be lost.
    const stays = (row) => (row >= first && row <= last) || row === activeRow;
    for (const [row, made] of rows) {
      if (stays(row)) continue;
      for (const img of made.querySelectorAll("img:not(.there)")) img.removeAttribute("src"); // not needed any more
      made.remove();
      rows.delete(row);
    }
    const missingRows = [];
    for (let row = first; row <= last; row += 1) if (!rows.has(row)) missingRows.push(row);
    if (activeRow >= 0 && !rows.has(activeRow) && !missingRows.includes(activeRow)) missingRows.push(activeRow);
    for (const row of missingRows.sort((a, b) => a - b)) {
      const made = element("div", { class: "row", role: "row", "aria-rowindex": row + 1 });
      for (let place = row * state.columns; place < Math.min(state.order.length, (row + 1) * state.columns); place += 1) made.append(cell(place));
      made.style.transform = `translateY(${row * state.rowHeight}px)`;
      // Rows stand in their order, for those who read the page without seeing it.
      const after = [...holder.children].find((other) => Number(other.getAttribute("aria-rowindex")) > row + 1);
      holder.insertBefore(made, after || null);
      rows.set(row, made);
    }
    drawings.more();
  }

  function schedule() {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(paint);
  }

  function forget() {
    for (const row of rows.values()) row.remove();
    rows.clear();
  }

  // Width and height of the cards. The image at the top of the screen stays there.
  function layout() {
    const width = holder.clientWidth;
    if (!width) return;
    const size = WIDTHS[VIEW.one("cards", "medium")] || WIDTHS.medium, target = window.innerWidth < 700 ? size * 0.78 : size;
    const columns = Math.max(1, Math.round((width + GAP) / (target + GAP)));
    const cardWidth = (width - GAP * (columns - 1)) / columns;
    const rowHeight = Math.round(cardWidth * 0.75) + CAPTION + GAP;
    if (columns !== state.columns || rowHeight !== state.rowHeight || cardWidth !== state.cardWidth) {
      const hadFocus = holder.contains(document.activeElement);
      const top = -holder.getBoundingClientRect().top, place = Math.max(0, Math.floor(top / state.rowHeight)) * state.columns;
      const inside = top > 0 ? top % state.rowHeight : 0;
      Object.assign(state, { columns, cardWidth, rowHeight });
      forget();
      holder.style.setProperty("--columns", String(columns));
      holder.style.setProperty("--card-height", `${Math.round(cardWidth * 0.75)}px`);
      measure();
      if (top > 0) window.scrollTo({ top: window.scrollY + holder.getBoundingClientRect().top + Math.floor(place / columns) * rowHeight + inside, behavior: "instant" });
      paint();
      if (hadFocus) focusPlace(state.active, { scroll: false });
    }
    schedule();
  }

  function measure() {
    holder.style.height = `${Math.max(0, rowCount() * state.rowHeight - GAP)}px`;
    holder.setAttribute("aria-rowcount", String(rowCount()));
    holder.setAttribute("aria-colcount", String(state.columns));
  }

  // Room for the bar at the top of the page, which covers cards.
  const covered = () => (byId("bar") ? byId("bar").getBoundingClientRect().height : 0) + 12;

  function focusPlace(place, { scroll = true } = {}) {
    const before = holder.querySelector('.cell[tabindex="0"]');
    state.active = Math.max(0, Math.min(state.order.length - 1, place));
    const row = Math.floor(state.active / state.columns);
    if (scroll) {
      const top = holder.getBoundingClientRect().top + row * state.rowHeight, bottom = top + state.rowHeight - GAP;
      if (top < covered()) window.scrollBy({ top: top - covered(), behavior: "instant" });
      else if (bottom > window.innerHeight - 8) window.scrollBy({ top: bottom - window.innerHeight + 8, behavior: "instant" });
    }
    paint();
    const card = rows.get(row)?.children[state.active % state.columns];
    if (before && before !== card) before.tabIndex = -1;
    if (!card) return;
    card.tabIndex = 0;
    card.focus({ preventScroll: true });
  }

  const page = () => Math.max(1, Math.floor((window.innerHeight - covered()) / state.rowHeight)) * state.columns;
  const STEPS = {
    ArrowRight: () => state.active + 1, ArrowLeft: () => state.active - 1,
    ArrowDown: () => (state.active + state.columns < state.order.length ? state.active + state.columns : state.active),
    ArrowUp: () => (state.active >= state.columns ? state.active - state.columns : state.active),
    PageDown: () => Math.min(state.order.length - 1, state.active + page()), PageUp: () => Math.max(0, state.active - page()),
  };
  const first = (event) => (event.ctrlKey || event.metaKey ? 0 : Math.floor(state.active / state.columns) * state.columns);
  const last = (event) => (event.ctrlKey || event.metaKey ? state.order.length - 1
    : Math.min(state.order.length - 1, (Math.floor(state.active / state.columns) + 1) * state.columns - 1));
  holder.addEventListener("keydown", (event) => {
    const card = event.target.closest(".cell");
    if (!card || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(Number(card.dataset.at), Number(card.dataset.place));
      return;
    }
    const next = event.key === "Home" ? first(event) : event.key === "End" ? last(event) : STEPS[event.key]?.();
    if (next === undefined) return;
    event.preventDefault();
    if (next >= 0 && next < state.order.length) focusPlace(next);
  });
  holder.addEventListener("focusin", (event) => {
    const card = event.target.closest(".cell");
    if (card && Number(card.dataset.place) !== state.active) {
      const before = holder.querySelector('.cell[tabindex="0"]');
      if (before) before.tabIndex = -1;
      state.active = Number(card.dataset.place);
      card.tabIndex = 0;
    }
  });
  holder.addEventListener("click", (event) => {
    const card = event.target.closest(".cell");
    if (!card) return;
    card.focus({ preventScroll: true });
    open(Number(card.dataset.at), Number(card.dataset.place));
  });

  window.addEventListener("scroll", schedule, { passive: true });
  window.addEventListener("resize", schedule, { passive: true });
  new ResizeObserver(layout).observe(holder);

  return {
    layout,
    // The same images in the same order keep their place; others start at the top.
    show(answer, query) {
      const same = answer.order.length === state.order.length && answer.order.every((at, place) => at === state.order[place]);
      const hadFocus = holder.contains(document.activeElement), at = state.order[state.active];
      Object.assign(state, { order: answer.order, model: Math.max(0, DATA.models.indexOf(STATE.one("model"))) });
      drawings.restart(query);
      if (!same) {
        state.active = Math.max(0, answer.order.indexOf(at));
        if (!hadFocus) state.active = 0;
        forget();
        measure();
        const top = holder.getBoundingClientRect().top;
        if (top < 0 && !hadFocus) window.scrollBy({ top: top - covered(), behavior: "instant" });
      }
      layout();
      paint();
      if (hadFocus && !same) focusPlace(state.active);
    },
    // Draws the cards again, after another look was chosen.
    redraw() {
      eachCard(fill);
    },
    // After the tags of an image changed.
    refresh() {
      drawings.restart(STATE.text());
      schedule();
    },
    order: () => state.order,
    focusImage(at) {
      const place = state.order.indexOf(at);
      if (place >= 0) focusPlace(place);
    },
  };
}
