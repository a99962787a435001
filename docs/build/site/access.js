// What the theme forgets. Its search is a dialog without a name, which a screen reader announces by one.
document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");

// Wide tables scroll in a frame (which the theme adds as the page loads): the keyboard must get there.
addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  }
});
