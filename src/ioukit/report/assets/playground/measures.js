// The measures: the formulas of ioukit, each written once, over numbers that carry their derivatives.

// A number and its derivatives by x1, y1, x2, y2 of the detection. At kinks they follow the rules that ioukit documents:
// a tie of min or max is split into halves, and a number that is cut off at 0 has the derivative 0.
class Num {
  constructor(value, slopes = [0, 0, 0, 0]) {
    this.value = value;
    this.slopes = slopes;
  }
  // The chain rule for a function of two numbers; `p` and `q` are its partial derivatives.
  with(other, value, p, q) {
    return new Num(value, this.slopes.map((slope, k) => p * slope + q * other.slopes[k]));
  }
  through(value, p) {
    return new Num(value, this.slopes.map((slope) => p * slope));
  }
  plus(x) { const other = num(x); return this.with(other, this.value + other.value, 1, 1); }
  minus(x) { const other = num(x); return this.with(other, this.value - other.value, 1, -1); }
  times(x) { const other = num(x); return this.with(other, this.value * other.value, other.value, this.value); }
  // this / whole; where whole is 0, this is 0 too and is the result.
  over(x) {
    const whole = num(x), part = this.value / whole.value;
    return whole.value > 0 ? this.with(whole, part, 1 / whole.value, -part / whole.value) : this;
  }
  squared() { return this.times(this); }
  negative() { return this.through(-this.value, -1); }
  positive() { return this.value > 0 ? this : num(0); }
  magnitude() { return this.positive().plus(this.negative().positive()); }
  root() { const root = Math.sqrt(this.value); return root > 0 ? this.through(root, 0.5 / root) : num(0); }
  exp() { const value = Math.exp(this.value); return this.through(value, value); }
  power(p) { return this.value > 0 ? this.through(this.value ** p, p * this.value ** (p - 1)) : num(0); }
  constant() { return num(this.value); }
}

function num(x) { return x instanceof Num ? x : new Num(x); }

function least(a, b) {
  const share = a.value < b.value ? 1 : a.value > b.value ? 0 : 0.5;
  return a.with(b, Math.min(a.value, b.value), share, 1 - share);
}

function largest(a, b) { return least(a.negative(), b.negative()).negative(); }

// atan2(width, height); 0 for a point.
function angle(width, height) {
  const square = width.value ** 2 + height.value ** 2;
  if (width.value === 0 && height.value === 0) return num(0);
  return width.with(height, Math.atan2(width.value, height.value), height.value / square, -width.value / square);
}

class Side {
  constructor([x1, y1, x2, y2]) {
    Object.assign(this, { x1, y1, x2, y2, width: x2.minus(x1), height: y2.minus(y1) });
    this.area = this.width.times(this.height);
  }
}

// Two boxes, and the quantities that several formulas share.
class Pair {
  // The object is a constant; derivatives are by the detection.
  constructor(object, detection) {
    const unit = (k) => [0, 1, 2, 3].map((j) => Number(j === k));
    this.a = new Side(object.map((x) => num(x)));
    this.b = new Side(detection.map((x, k) => new Num(x, unit(k))));
  }
  intersection() {
    const { a, b } = this;
    const width = least(a.x2, b.x2).minus(largest(a.x1, b.x1)), height = least(a.y2, b.y2).minus(largest(a.y1, b.y1));
    return width.positive().times(height.positive());
  }
  union() { return this.a.area.plus(this.b.area).minus(this.intersection()); }
  iou() { return this.intersection().over(this.union()); }
  // Width and height of the smallest box around both.
  hull() {
    const { a, b } = this;
    return [largest(a.x2, b.x2).minus(least(a.x1, b.x1)), largest(a.y2, b.y2).minus(least(a.y1, b.y1))];
  }
  // The distance of the centres along x and y.
  apart() {
    const { a, b } = this;
    return [["x1", "x2"], ["y1", "y2"]].map(([low, high]) =>
      a[low].minus(b[low]).plus(a[high].minus(b[high])).times(0.5));
  }
  unlike() { return [this.a.width.minus(this.b.width), this.a.height.minus(this.b.height)]; }
  centreDistance() { const [dx, dy] = this.apart(); return dx.squared().plus(dy.squared()); }
  diagonal() { const [width, height] = this.hull(); return width.squared().plus(height.squared()); }
  diou() { return this.iou().minus(this.centreDistance().over(this.diagonal())); }
  aspect() {
    const turn = angle(this.a.width, this.a.height).minus(angle(this.b.width, this.b.height));
    return turn.squared().times(4 / Math.PI ** 2);
  }
  corners() {
    const { a, b } = this;
    const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => a[name].minus(b[name]).squared());
    return x1.plus(y1).plus(x2.plus(y2));
  }
  // The distance and shape terms of SIoU.
  toward() {
    const [width, height] = this.hull(), [dx, dy] = this.apart();
    const x = dx.squared(), y = dy.squared();
    const gamma = num(2).minus(dx.magnitude().times(dy.magnitude()).times(2).over(x.plus(y)));
    const term = (square, side) => gamma.times(square.over(side.squared())).negative().exp();
    return num(2).minus(term(x, width)).minus(term(y, height));
  }
  shape() {
    const { a, b } = this, [dw, dh] = this.unlike();
    const term = (difference, one, other) =>
      num(1).minus(difference.magnitude().over(largest(one, other)).negative().exp()).squared().squared();
    return term(dw, a.width, b.width).plus(term(dh, a.height, b.height));
  }
  innerIntersection(ratio) {
    const { a, b } = this, [dx, dy] = this.apart();
    const shared = (one, other, distance) => {
      const beyond = one.plus(other).times(0.5).minus(distance.magnitude());
      return least(least(one, other), beyond).positive();
    };
    const [w1, h1, w2, h2] = [a.width, a.height, b.width, b.height].map((side) => side.times(ratio));
    const both = shared(w1, w2, dx).times(shared(h1, h2, dy));
    return [both, w1.times(h1).plus(w2.times(h2)).minus(both)];
  }
  wasserstein() {
    const [dw, dh] = this.unlike();
    return this.centreDistance().plus(dw.squared().plus(dh.squared()).times(0.25)).root();
  }
}

// By the names of ioukit's table: from a pair and the options to the value.
const FORMULAS = {
  intersection: (pair) => pair.intersection(),
  iou: (pair) => pair.iou(),
  ioa: (pair, { of = "second" }) => pair.intersection().over((of === "first" ? pair.a : pair.b).area),
  iom: (pair) => pair.intersection().over(least(pair.a.area, pair.b.area)),
  giou: (pair) => {
    const [width, height] = pair.hull(), hull = width.times(height);
    return pair.iou().minus(hull.minus(pair.union()).over(hull));
  },
  diou: (pair) => pair.diou(),
  ciou: (pair) => {
    const aspect = pair.aspect();
    const weight = aspect.over(num(1).minus(pair.iou()).plus(aspect)).constant(); // as in the paper
    return pair.diou().minus(weight.times(aspect));
  },
  eiou: (pair) => {
    const [width, height] = pair.hull(), [dw, dh] = pair.unlike();
    const sides = dw.squared().over(width.squared()).plus(dh.squared().over(height.squared()));
    return pair.diou().minus(sides);
  },
  siou: (pair) => pair.iou().minus(pair.toward().plus(pair.shape()).times(0.5)),
  mpdiou: (pair, { image_size: [width, height] }) =>
    pair.iou().minus(pair.corners().over(width * width + height * height)),
  alpha_iou: (pair, { alpha = 3 }) => pair.iou().power(alpha),
  inner_iou: (pair, { ratio }) => {
    const [both, either] = pair.innerIntersection(ratio);
    return both.over(either);
  },
  nwd: (pair, { constant = 12.8 }) => pair.wasserstein().times(-1 / constant).exp(),
  centre_distance: (pair) => pair.centreDistance().root(),
  jaccard_distance: (pair) => num(1).minus(pair.iou()),
  tiou: (pair) => pair.iou().times(pair.intersection().over(pair.a.area)),
};

// The value of a measure of two boxes [x1, y1, x2, y2].
function measure(name, object, detection, options = {}) {
  return FORMULAS[name](new Pair(object, detection), options).value;
}

// The gradient of the loss, 1 minus the measure, by x1, y1, x2, y2 of the detection.
function lossGradient(name, object, detection, options = {}) {
  return FORMULAS[name](new Pair(object, detection), options).slopes.map((slope) => 0 - slope);
}

// Greedy NMS with one step per kept box. Among equal scores the first box comes first; an IoU above the threshold
// removes a box.
function nms(boxes, scores, threshold) {
  const order = boxes.map((_, k) => k).sort((j, k) => scores[k] - scores[j] || j - k);
  const suppressedBy = boxes.map(() => -1), overlap = boxes.map(() => NaN), keep = [], steps = [];
  for (const best of order) {
    if (suppressedBy[best] !== -1) continue;
    keep.push(best);
    const compared = order
      .slice(order.indexOf(best) + 1)
      .filter((other) => suppressedBy[other] === -1)
      .map((other) => ({ box: other, overlap: measure("iou", boxes[best], boxes[other]) }))
      .map((pair) => ({ ...pair, removed: pair.overlap > threshold }));
    for (const pair of compared.filter(({ removed }) => removed)) {
      suppressedBy[pair.box] = best;
      overlap[pair.box] = pair.overlap;
    }
    steps.push({ best, compared });
  }
  return { order, keep, suppressedBy, overlap, steps };
}

globalThis.ioukit = Object.freeze({ measure, lossGradient, nms, names: Object.keys(FORMULAS) });
