// AP over the IoU threshold, or F1 if nothing is ranked.

function startByIou() {
  const holder = byId("iou-chart");
  if (!holder) return;
  const { quantity, thresholds, mean, classes } = DATA.byIou;
  const draw = () => {
    const row = chosen.row;
    const series = row === 0 ? [["mean over classes", mean, ""]]
      : [[named(rowName(row)), classes[row - 1], ""], ["mean over classes", mean, "s-mean"]];
    const numbers = series[0][1].map((value) => (value === null ? NaN : value));
    const first = numbers[0], last = numbers[numbers.length - 1];
    const only = thresholds.length === 1;
    legend(byId("iou-legend"), series.map(([text, , style]) => [text, style]));
    lineChart(holder, {
      label: `${quantity} of ${row === 0 ? "the mean over classes" : rowLabel(row)} over the ${DATA.overlap} threshold: ${spoken(first)} at `
        + `${fixed(thresholds[0], 2)}${only ? "" : `, ${spoken(last)} at ${fixed(thresholds[thresholds.length - 1], 2)}`}.`,
      x: { title: `${DATA.overlap} threshold`, low: only ? thresholds[0] - 0.05 : thresholds[0],
        high: only ? thresholds[0] + 0.05 : thresholds[thresholds.length - 1] },
      y: { title: quantity, low: 0, high: 1 },
      series: series.map(([, values, style]) => ({ style, dots: true,
        points: values.map((value, k) => [thresholds[k], value === null ? NaN : value]) })),
    });
    chartTable(byId("iou-table"), `${quantity} by ${DATA.overlap} threshold`, [DATA.overlap, ...series.map(([text]) => (typeof text === "string" ? text : text.cloneNode(true)))],
      thresholds.map((threshold, k) => [fixed(threshold, 2), ...series.map(([, values]) => (values[k] === null ? "–" : fixed(values[k])))]));
  };
  listeners.push((rowChanged) => { if (rowChanged) draw(); });
  drawnToFit(holder, draw);
  downloads(byId("iou-downloads"), `${quantity.toLowerCase()}_by_iou`, `${quantity} by ${DATA.overlap}`, { drawing: () => holder.querySelector("svg"),
    rows: () => [[DATA.overlap, chosen.row === 0 ? "mean over classes" : DATA.classes[chosen.row - 1]],
      ...thresholds.map((threshold, k) => [threshold, (chosen.row === 0 ? mean : classes[chosen.row - 1])[k]])] });
}
