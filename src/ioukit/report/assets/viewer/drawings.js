// Drawings of images: fetched in batches, nearest to the screen first, and kept.

const BATCH = 48, BATCHES = 2, KEPT = 3000;

// wanted(): positions of images, the most urgent first. arrived(drawings): called for each batch. failed(error).
function makeDrawings({ wanted, arrived, failed }) {
  const kept = new Map(), asked = new Set();
  let version = 0, query = "", running = 0;

  function more() {
    while (running < BATCHES) {
      const next = [];
      for (const at of wanted()) {
        if (asked.has(at) || kept.get(at)?.version === version) continue;
        next.push(at);
        if (next.length === BATCH) break;
      }
      if (!next.length) return;
      fetchBatch(next, version);
    }
  }

  async function fetchBatch(batch, mine) {
    running += 1;
    for (const at of batch) asked.add(at);
    try {
      const answer = await ask("drawings", { more: { at: batch.join() }, query, priority: "high" });
      if (mine !== version) return;
      Object.assign(DATA.drawing, answer.style);
      for (const image of answer.images) {
        kept.delete(image.at);
        kept.set(image.at, { version: mine, image });
      }
      // What the server left out is not asked for again.
      for (const at of batch) if (kept.get(at)?.version !== mine) kept.set(at, { version: mine, image: null });
      for (const at of kept.keys()) {
        if (kept.size <= KEPT) break;
        kept.delete(at);
      }
      arrived(answer.images);
    } catch (error) {
      // The same images are asked for again after the next change or scroll.
      if (mine === version) failed(error);
      return;
    } finally {
      running -= 1;
      if (mine === version) for (const at of batch) asked.delete(at);
    }
    more();
  }

  return {
    more,
    // A drawing of an earlier filter stands until the one of this filter is there.
    get: (at) => kept.get(at)?.image ?? null,
    current: (at) => kept.get(at)?.version === version,
    restart(newQuery) {
      version += 1;
      query = newQuery;
      asked.clear();
    },
  };
}
