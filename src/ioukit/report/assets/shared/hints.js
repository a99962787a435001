// What is wider than the screen says so: the edge behind which there is more fades. Long parts are folded on a phone.

// root: where the parts are that may be too wide.
function startHints(root = document) {
  const wide = [...root.querySelectorAll("nav ul, .scroll")];
  const look = (holder) => {
    const end = holder.scrollWidth - holder.clientWidth;
    const more = end < 2 ? "" : holder.scrollLeft < 2 ? "right" : holder.scrollLeft > end - 2 ? "left" : "both";
    if (holder.dataset.more !== more) holder.dataset.more = more;
    const hint = holder.nextElementSibling;
    if (hint && hint.classList.contains("wide-hint")) hint.hidden = end < 2;
  };
  const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => look(target.matches("table") ? target.closest(".scroll") || target : target)));
  for (const holder of wide) {
    holder.addEventListener("scroll", () => look(holder), { passive: true });
    watcher.observe(holder);
    new MutationObserver(() => look(holder)).observe(holder, { childList: true });
    look(holder);
  }
}

function startFolds() {
  const folds = [...document.querySelectorAll("details.long")];
  const narrow = window.matchMedia("(max-width: 40rem)").matches;
  for (const fold of folds) fold.open = !narrow;
  // What is folded is printed all the same.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = folds.filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  window.addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
}
