// Numbers and sentences.

// A number with at most `digits` digits after the point, without trailing zeros, with a minus sign instead of a hyphen.
function plain(value, digits = 3) {
  const text = value.toFixed(digits).replace(/\.?0+$/, "");
  return (Number(text) === 0 ? "0" : text).replace("-", "\u2212");
}

// A number with exactly `digits` digits after the point.
function fixed(value, digits = 3) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? (0).toFixed(digits) : text).replace("-", "\u2212");
}

// The formula of a measure with the numbers of two boxes.
function worked(name, object, detection, options) {
  const pair = new Pair(object, detection), { a, b } = pair, value = fixed(FORMULAS[name](pair, options).value);
  const p = (x) => plain(x.value), iou = fixed(pair.iou().value), diou = fixed(pair.diou().value);
  const [width, height] = pair.hull(), hull = width.times(height), [dw, dh] = pair.unlike();
  const quotient = (top, bottom) => (bottom.value > 0 ? `${p(top)} / ${p(bottom)}` : "0");
  const minus = (base, ...terms) => [base, ...terms].join(" \u2212 ");
  const middle = {
    intersection: () => {
      const shared = (low, high) => Math.max(0, Math.min(a[high].value, b[high].value) - Math.max(a[low].value, b[low].value));
      return `${plain(shared("x1", "x2"))} \u00d7 ${plain(shared("y1", "y2"))}`;
    },
    iou: () => quotient(pair.intersection(), pair.union()),
    ioa: () => quotient(pair.intersection(), (options.of === "first" ? a : b).area),
    iom: () => quotient(pair.intersection(), least(a.area, b.area)),
    giou: () => minus(iou, hull.value > 0 ? `(${p(hull)} \u2212 ${p(pair.union())}) / ${p(hull)}` : "0"),
    diou: () => minus(iou, quotient(pair.centreDistance(), pair.diagonal())),
    ciou: () => {
      const v = pair.aspect().value, top = fixed(v);
      return minus(diou, v > 0 ? `${top}\u00b2 / (1 \u2212 ${iou} + ${top})` : "0");
    },
    eiou: () => minus(diou, quotient(dw.squared(), width.squared()), quotient(dh.squared(), height.squared())),
    siou: () => minus(iou, `(${fixed(pair.toward().value)} + ${fixed(pair.shape().value)}) / 2`),
    mpdiou: () => {
      const [w, h] = options.image_size;
      return minus(iou, quotient(pair.corners(), num(w * w + h * h)));
    },
    alpha_iou: () => `${iou} ^ ${plain(options.alpha)}`,
    inner_iou: () => quotient(...pair.innerIntersection(options.ratio)),
    nwd: () => `exp(\u2212${p(pair.wasserstein())} / ${plain(options.constant)})`,
    centre_distance: () => {
      const [dx, dy] = pair.apart();
      return `\u221a(${p(dx.magnitude())}\u00b2 + ${p(dy.magnitude())}\u00b2)`;
    },
    jaccard_distance: () => minus("1", iou),
    tiou: () => `${iou} \u00d7 ${quotient(pair.intersection(), a.area)}`,
  }[name]();
  return `${middle} = ${value}`;
}

// A sentence about the position of the two boxes.
function situation(object, detection) {
  const [a, b] = [object, detection], iou = measure("iou", a, b), giou = measure("giou", a, b);
  const empty = ([x1, y1, x2, y2]) => x2 === x1 || y2 === y1;
  const inside = (one, other) => one[0] >= other[0] && one[1] >= other[1] && one[2] <= other[2] && one[3] <= other[3];
  if (empty(a) || empty(b)) {
    return "A box without width or height has no area, so IoU is 0, even of two equal boxes.";
  }
  if (a.every((x, k) => x === b[k])) return "The boxes are equal: IoU is 1, and every loss is at its minimum.";
  if (measure("intersection", a, b) === 0) {
    const apart = Math.max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3]) > 0;
    return apart
      ? `The boxes do not overlap. IoU is 0 at any distance and has no gradient; GIoU, ${fixed(giou)}, still has one.`
      : "The boxes touch. An edge has no area, so they do not overlap.";
  }
  if (inside(b, a)) {
    return "The detection lies inside the object. GIoU equals IoU here; DIoU also measures the distance of the centres.";
  }
  if (inside(a, b)) return "The object lies inside the detection: all of it is covered, and also some background.";
  if (iou >= 0.5) return `COCO uses IoU thresholds from 0.5 to 0.95: this pair is a match up to ${fixed(Math.floor(iou * 20) / 20, 2)}.`;
  return "IoU is below 0.5: most evaluations count this object as missed.";
}
