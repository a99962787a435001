// What is wrong with the layout of the page that is open: a list of sentences. For audit.py, on a narrow screen.
() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  const article = document.querySelector("article") ?? document.body;
  const style = (element) => getComputedStyle(element);
  const scrolls = (element) => ["auto", "scroll"].includes(style(element).overflowX);
  const named = (element) => `<${element.localName}> ${JSON.stringify(element.textContent.trim().slice(0, 60))}`;

  const beyond = document.documentElement.scrollWidth - width;
  if (beyond > 0) faults.push(`the page scrolls sideways by ${beyond} pixels`);

  // Where what stands in an element ends to be visible: at the screen, or at what clips it. Nowhere if something scrolls.
  const edges = new Map();
  const visible = (element) => {
    if (element === null) return [0, width];
    if (!edges.has(element)) {
      let [left, right] = visible(element.parentElement);
      if (scrolls(element)) [left, right] = [-Infinity, Infinity];
      else if (style(element).overflowX !== "visible" && style(element).display !== "inline") {
        const frame = element.getBoundingClientRect();
        [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
      }
      edges.set(element, [left, right]);
    }
    return edges.get(element);
  };
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || parent.closest("script, style, .md-clipboard, .headerlink, [hidden]")) continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const [left, right] = visible(parent);
    if (box.width > 0 && (box.left < left - 1 || box.right > right + 1)) faults.push(`text is cut: ${named(parent)}`);
  }

  for (const element of article.querySelectorAll("*")) {
    if (element.scrollWidth > element.clientWidth + 1 && scrolls(element) && style(element).backgroundImage === "none") {
      faults.push(`scrolls sideways without a shadow that shows it: ${named(element)}`);
    }
  }

  for (const image of article.querySelectorAll("img")) {
    const source = image.getAttribute("src");
    if (image.naturalWidth === 0) faults.push(`a picture is missing: ${source}`);
    else if (source.endsWith(".svg") && image.width < 0.58 * image.naturalWidth) {
      faults.push(`a figure is too small to read: ${source}, ${image.width} of ${image.naturalWidth} pixels`);
    }
  }
  return faults;
}
