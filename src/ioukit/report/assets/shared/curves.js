// The counts at each position of a score slider: those of all detections with that score or a higher one. Position 0 is
// the highest score, row 0 all classes together, row k + 1 class k.
function makeCurves(source) {
  if (!source) return null;
  const sum = (steps) => { let total = 0; return steps.map((step) => (total += step)); };
  const rows = source.rows.map((row) => ({ ...row, tp: sum(row.tp), fp: sum(row.fp) }));
  const point = (row, position) => {
    const { n } = rows[row];
    const tp = rows[row].tp[position];
    const fp = rows[row].fp[position];
    return { score: source.scores[position], tp, fp, fn: n - tp,
      precision: tp + fp ? tp / (tp + fp) : NaN, recall: n ? tp / n : NaN, f1: tp + fp + n ? (2 * tp) / (tp + fp + n) : NaN };
  };
  return { ...source, rows, point };
}
