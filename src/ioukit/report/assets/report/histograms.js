// Where are the scores and the overlaps, and do scores say how many detections are right?

function startHistograms() {
  if (byId("score-bins")) startScoreBins();
  if (byId("iou-bins")) startIouBins();
  if (byId("reliability-chart")) startReliability();
}

// A part of a bar shows the command that opens its images.
const outcomeOf = (style) => ["outcome", style === "c-tp" ? "tp" : "fp"];
const picked = (filters) => (DATA.view ? (bar, style) => showCommand(viewCommand(filters(bar, style))) : undefined);

const bothKinds = (tp, fp) => [["c-tp", tp], ["c-fp", fp]];
const bothWords = ["tp", "fp"].map((kind) => [`${WORDS.outcomes[kind]}s`, `c-${kind}`]);

function startScoreBins() {
  const holder = byId("score-bins"), { low, high, rows } = DATA.scoreBins;
  const edge = (k, bins) => low + ((high - low) * k) / bins;
  const bars = () => rows[chosen.row].tp.map((tp, k, all) => {
    const fp = rows[chosen.row].fp[k], from = edge(k, all.length), to = edge(k + 1, all.length);
    return { from, to, tp, fp, parts: bothKinds(tp, fp), words: `scores from ${score(from)} to ${score(to)}: ${whole(tp)} true, ${whole(fp)} false` };
  });
  const draw = () => barChart(holder, { label: `Histogram of the scores of ${rowLabel(chosen.row)}`, x: { title: "score", low, high },
    y: { title: "detections" }, bars: bars(), cursor: SCORES[chosen.position],
    pick: picked(({ from, to }, style) => [outcomeOf(style), ["score", `${from}..${to}`], ["at_score", String(SCORES[SCORES.length - 1])], ["at_iou", String(DATA.iou)], ...rowFilters()]) });
  listeners.push(draw);
  drawnToFit(holder, draw);
  legend(byId("score-legend"), bothWords);
  downloads(byId("score-bins-downloads"), "score_histogram", "histogram of scores", { drawing: () => holder.querySelector("svg"),
    rows: () => [["from", "to", "true positives", "false positives"], ...bars().map(({ from, to, tp, fp }) => [from, to, tp, fp])] });
}

function startIouBins() {
  const holder = byId("iou-bins"), { edges, tp, fp } = DATA.iouBins;
  let found = [];
  const draw = () => {
    found = tp.map((steps, k) => ({ from: edges[k], to: edges[k + 1], tp: upTo(steps), fp: upTo(fp[k]) }));
    barChart(holder, { label: `Histogram of the ${DATA.overlap} of detections with their objects`, x: { title: DATA.overlap, low: 0, high: 1 }, y: { title: "detections" },
      pick: picked(({ from, to }, style) => [outcomeOf(style), ["iou", `${from}..${to}`], ...thresholdFilters()]),
      bars: found.map((bar) => ({ ...bar, parts: bothKinds(bar.tp, bar.fp), words: `${DATA.overlap} from ${bar.from} to ${bar.to}: ${whole(bar.tp)} true, ${whole(bar.fp)} false` })) });
  };
  slowly(holder, draw);
  drawnToFit(holder, draw);
  legend(byId("iou-bins-legend"), bothWords);
  downloads(byId("iou-bins-downloads"), "iou_histogram", `histogram of ${DATA.overlap}`, { drawing: () => holder.querySelector("svg"),
    rows: () => [["from", "to", "true positives", "false positives"], ...found.map((bar) => [bar.from, bar.to, bar.tp, bar.fp])] });
}

function startReliability() {
  const holder = byId("reliability-chart"), { edges, counts, score: means, precision } = DATA.reliability;
  const points = means.map((mean, k) => (mean === null ? [NaN, NaN] : [mean, precision[k]]));
  const draw = () => lineChart(holder, {
    label: `Reliability: the share of true positives over the mean score, in ${counts.length} ranges of the score.`,
    x: { title: "mean score", low: 0, high: 1 }, y: { title: "share of true positives", low: 0, high: 1 }, cursor: SCORES[chosen.position],
    series: [{ style: "s-mean", points: [[0, 0], [1, 1]] }, { style: "", points: points.filter(([x]) => Number.isFinite(x)), dots: true }] });
  listeners.push(draw);
  drawnToFit(holder, draw);
  legend(byId("reliability-legend"), [["detections", ""], ["score and share equal", "s-mean"]]);
  downloads(byId("reliability-downloads"), "reliability", "reliability", { drawing: () => holder.querySelector("svg"),
    rows: () => [["from", "to", "detections", "mean score", "share of true positives"],
      ...counts.map((count, k) => [edges[k], edges[k + 1], count, means[k], precision[k]])] });
}
