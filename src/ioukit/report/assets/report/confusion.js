// The confusion matrix at the score threshold as numbers, for the matrix, the list of confusions and the first screen.

const CONFUSION = startCounting(DATA.matrix);

function startCounting(source) {
  if (!source) return null;
  const count = source.classes.length;
  // The counts of the cells at the score threshold, and their sums by row and by column.
  const counts = new Map();
  const trueSums = new Array(count + 1), predictedSums = new Array(count + 1), confused = new Array(count);
  const at = (truth, predicted) => counts.get(truth * (count + 1) + predicted) || 0;
  let known = -1;

  function recount() {
    const last = Math.min(chosen.position, source.floor);
    if (last === known) return;
    known = last;
    for (const sums of [trueSums, predictedSums, confused]) sums.fill(0);
    counts.clear();
    const found = new Array(count).fill(0);
    const add = (truth, predicted, number) => {
      if (!number) return;
      counts.set(truth * (count + 1) + predicted, number);
      trueSums[truth] += number;
      predictedSums[predicted] += number;
      if (truth === predicted || truth === count || predicted === count) return;
      confused[truth] += number;
      confused[predicted] += number;
    };
    for (const cell of source.cells) {
      if (!cell.steps) continue;
      let total = 0;
      for (let k = 0, position = 0; k < cell.steps.length; k += 2) {
        position += cell.steps[k];
        if (position > last) break;
        total += cell.steps[k + 1];
      }
      if (cell.true < count) found[cell.true] += total;
      add(cell.true, cell.predicted, total);
    }
    // Objects that nothing matches.
    source.objects.forEach((number, truth) => add(truth, count, number - found[truth]));
  }

  // Objects of one class that are detected as another one, those that happen most first.
  function pairs() {
    recount();
    return source.cells.filter((cell) => cell.true !== cell.predicted && cell.true < count && cell.predicted < count)
      .map((cell) => ({ cell, number: at(cell.true, cell.predicted), share: at(cell.true, cell.predicted) / source.objects[cell.true] }))
      .filter(({ number }) => number).sort((a, b) => b.number - a.number);
  }

  const truthName = (k) => (k === count ? "background" : source.classes[k]);
  const predictedName = (k) => (k === count ? "missed" : source.classes[k]);
  const sentence = (number, truth, predicted) => {
    const times = plural(number, "time");
    if (truth === predicted) return [named(truthName(truth)), ` detected as such: ${times}`];
    if (predicted === count) return [named(truthName(truth)), ` missed: ${times}`];
    if (truth === count) return [named(predictedName(predicted)), ` detected on background: ${times}`];
    return [named(truthName(truth)), " detected as ", named(predictedName(predicted)), `: ${times}`];
  };
  return { count, at, trueSums, predictedSums, confused, recount, pairs, truthName, predictedName, sentence };
}
