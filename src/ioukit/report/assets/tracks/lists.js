// The lists of a tracker: what costs most HOTA, and what happened.

const EVENT_NAMES = ["switch", "miss", "false boxes"];
const span = (first, last) => (first === last ? whole(first) : `${whole(first)} to ${whole(last)}`);

// A row of costs: [name, is an object, sequence, points, frames, misses or false boxes, changes of the other's track].
function costsTable(holder, tracker, choose) {
  const names = places(tracker.costs.map(([name]) => name)), byName = new Map(tracker.costs.map((row, k) => [row, names[k]]));
  const number = (title, at, words, text = whole) => ({ title, num: true, words, value: (row) => row[at], cell: (row) => text(row[at]) });
  pagedTable(holder, {
    label: "Table of costs", start: [3, "descending"], rows: tracker.costs,
    columns: [
      { title: "name", value: (row) => byName.get(row), cell: (row) => (row[1] ? element("button", { type: "button", onclick: () => choose(row[2], row[0]) }, row[0]) : named(row[0])) },
      { title: "what", value: (row) => row[1], cell: (row) => (row[1] ? "object" : "track") },
      { title: "sequence", value: (row) => row[2], cell: (row) => named(tracker.sequences[row[2]].name) },
      number("points", 3, "of HOTA", (value) => value.toFixed(2)),
      number("frames", 4),
      number("missed or false", 5, "boxes: misses of an object, false boxes of a track"),
      number("changes of id", 6, "switches of an object; how often a track goes to another object"),
    ],
  });
}

// The events of all sequences: [kind, sequence, object or track, first frame, last frame, what the id was and is].
function eventRows(tracker) {
  const rows = [];
  tracker.sequences.forEach(({ objects, tracks, switches, missed, false: wrong }, at) => {
    for (const [row, frame, from, to] of switches) rows.push([0, at, objects[row], frame, frame, `${from} → ${to}`]);
    for (const [row, first, last] of triples(missed)) rows.push([1, at, objects[row], first, last, ""]);
    for (const [row, first, last] of triples(wrong)) rows.push([2, at, tracks[row], first, last, ""]);
  });
  return rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[3] - b[3]);
}

function eventsTable(holder, tracker) {
  const rows = eventRows(tracker), names = places(rows.map((row) => row[2])), byName = new Map(rows.map((row, k) => [row, names[k]]));
  const table = pagedTable(holder, {
    label: "Table of events", start: [0, "ascending"], rows,
    columns: [
      { title: "event", value: (row) => row[0], cell: (row) => EVENT_NAMES[row[0]] },
      { title: "sequence", value: (row) => row[1], cell: (row) => named(tracker.sequences[row[1]].name) },
      { title: "object or track", value: (row) => byName.get(row), cell: (row) => named(row[2]) },
      { title: "frames", num: true, value: (row) => row[3], cell: (row) => span(row[3], row[4]) },
      { title: "how many", num: true, words: "frames", value: (row) => row[4] - row[3] + 1, cell: (row) => whole(row[4] - row[3] + 1) },
      { title: "tracks", words: "before and after a switch", value: (row) => (row[5] ? 0 : NaN), cell: (row) => (row[5] ? named(row[5]) : "") },
    ],
  });
  return (kind, words) => table.show(rows.filter((row) => (kind < 0 || row[0] === kind)
    && `${tracker.sequences[row[1]].name} ${row[2]} ${row[5]}`.toLowerCase().includes(words)));
}

// The objects of which two trackers say different things: [name, sequence, found, lost, new switches, gone switches].
function changesTable(holder, rows, label) {
  const { sequences } = DATA.trackers[0], names = places(rows.map(([name]) => name)), byName = new Map(rows.map((row, k) => [row, names[k]]));
  const number = (title, at, words) => ({ title, num: true, words, value: (row) => row[at], cell: (row) => whole(row[at]) });
  pagedTable(holder, {
    label, start: [6, "descending"], rows,
    columns: [
      { title: "object", value: (row) => byName.get(row), cell: (row) => named(row[0]) },
      { title: "sequence", value: (row) => row[1], cell: (row) => named(sequences[row[1]].name) },
      number("found", 2, "frames"), number("lost", 3, "frames"), number("new", 4, "switches"), number("gone", 5, "switches"),
      { title: "changes", num: true, value: (row) => row[2] + row[3] + row[4] + row[5], cell: (row) => whole(row[2] + row[3] + row[4] + row[5]) },
    ],
  });
}
