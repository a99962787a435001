// What the theme forgets. Its search is a dialog without a name, which a screen reader announces by one.
document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");

addEventListener("load", () => {
  // Figures keep a size at which they can be read, in a frame that scrolls (style.css).
  for (const image of document.querySelectorAll("article img[src$='.svg']")) {
    const frame = Object.assign(document.createElement("span"), { className: "figure-frame" });
    frame.classList.toggle("on-black", image.getAttribute("src").includes("_dark"));
    frame.style.setProperty("--drawn", `${image.naturalWidth}px`);
    image.replaceWith(frame);
    frame.append(image);
  }

  // What scrolls sideways (wide tables get a frame for it as the page loads): the keyboard must get there.
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap, .figure-frame")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  }

  // The button of a block of code stands in an element for navigation, one per block, which is none.
  for (const buttons of document.querySelectorAll(".md-code__nav")) buttons.setAttribute("role", "presentation");

  // Lists within the navigation are no places of their own, and some have equal names.
  for (const list of document.querySelectorAll(".md-nav .md-nav")) {
    for (const name of ["aria-label", "aria-labelledby", "aria-expanded"]) list.removeAttribute(name);
    list.setAttribute("role", "presentation");
  }
});
