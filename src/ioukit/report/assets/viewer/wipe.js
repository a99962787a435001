// A wipe over one photograph: left of a divider lies the picture of one model, right of it that of another.

const WIPE_STEP = 2; // per cent of the width

function makeWipe(holder) {
  const bar = element("div", { class: "wipe-bar", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 100, hidden: true }, element("span", { "aria-hidden": "true" }, "‹ ›"));
  holder.append(bar);
  let share = 50, names = ["", ""];

  function set(value) {
    share = Math.max(0, Math.min(100, value));
    holder.style.setProperty("--wipe", `${share}%`);
    bar.setAttribute("aria-valuenow", String(Math.round(share)));
    bar.setAttribute("aria-valuetext", share === 100 ? `${names[0]} alone` : share === 0 ? `${names[1]} alone` : `${names[0]} left of ${Math.round(share)} %, ${names[1]} right`);
  }
  bar.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    bar.focus();
    bar.setPointerCapture(event.pointerId);
  });
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const { left, width } = holder.getBoundingClientRect();
    set((100 * (event.clientX - left)) / width);
  });
  const steps = { ArrowLeft: () => share - WIPE_STEP, ArrowRight: () => share + WIPE_STEP, Home: () => 0, End: () => 100 };
  bar.addEventListener("keydown", (event) => {
    if (!steps[event.key] || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere, the arrows turn to other images
    set(steps[event.key]());
  });
  set(share);
  return {
    set,
    // Shows one model alone, and then the other one.
    flip: () => set(share === 100 ? 0 : 100),
    seen: () => (share ? 0 : 1),
    // models: the names of the one left and the one right of the divider; null for no divider.
    show(models) {
      bar.hidden = !models;
      holder.classList.toggle("wipe", Boolean(models));
      if (!models) return;
      names = models;
      bar.setAttribute("aria-label", `Divider between ${models.join(" and ")}`);
      set(share);
    },
  };
}
