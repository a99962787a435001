// Drawings of images: fetched in batches, nearest to the screen first, and kept.

const BATCH = 48, BATCHES = 2, KEPT = 3000;
const REST = 1500; // milliseconds after a failure, in which scrolling asks for nothing

// wanted(): positions of images, the most urgent first. arrived(drawings): called for each batch. failed(error).
function makeDrawings({ wanted, arrived, failed }) {
  const kept = new Map(), asked = new Set();
  let version = 0, query = "", running = 0, failedAt = -REST;

  function more() {
    if (performance.now() - failedAt < REST) return;
    while (running < BATCHES) {
      const next = [];
      for (const at of wanted()) {
        if (asked.has(at) || kept.get(at)?.version === version) continue;
        next.push(at);
        if (next.length === BATCH) break;
      }
      if (!next.length) return;
      fetchBatch(next, version, query);
    }
  }

  async function fetchBatch(batch, mine, filter) {
    running += 1;
    for (const at of batch) asked.add(at);
    let error = null;
    try {
      const answer = await ask("drawings", { more: { at: batch.join() }, query: filter, priority: "high" });
      if (mine === version) keep(answer, batch, filter);
    } catch (problem) {
      error = problem;
    }
    running -= 1;
    if (mine === version) for (const at of batch) asked.delete(at);
    // After a failure, the images are asked for again with the next change or scroll.
    if (error && mine === version) {
      failedAt = performance.now();
      failed(error);
    } else more();
  }

  function keep({ images, style }, batch, filter) {
    Object.assign(DATA.drawing, style);
    for (const image of images) {
      kept.delete(image.at);
      kept.set(image.at, { version, image, filter });
    }
    // What the server left out is not asked for again.
    for (const at of batch) if (kept.get(at)?.version !== version) kept.set(at, { version, image: null, filter });
    for (const at of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(at);
    }
    arrived(images);
  }

  return {
    more,
    // A drawing of an earlier filter stands until the one of this filter is there.
    get: (at) => kept.get(at)?.image ?? null,
    // The filter that its drawing belongs to.
    filterOf: (at) => kept.get(at)?.filter,
    restart(newQuery) {
      version += 1;
      failedAt = -REST;
      query = newQuery;
      asked.clear();
    },
  };
}
