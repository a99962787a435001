//! Turned rectangles: where their corners are.
//!
//! x points right and y down, as in an image. Sines and cosines are libm's, so that the bits are the same everywhere.

use crate::convex::clip::Point;

/// What the fifth number of a rectangle, its angle, means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Degrees rather than radians.
    pub degrees: bool,
    /// A positive angle turns the rectangle clockwise as seen on the screen, from the x axis to the y axis.
    pub clockwise: bool,
}

impl Turn {
    /// Cosine and sine of an angle, clockwise; for degrees exact where it is a multiple of a quarter turn.
    pub fn direction(self, angle: f64) -> Point {
        let (cos, sin) = if self.degrees { of_degrees(angle) } else { (libm::cos(angle), libm::sin(angle)) };
        [cos, if self.clockwise { sin } else { -sin }]
    }
}

fn of_degrees(angle: f64) -> (f64, f64) {
    let angle = angle % 360.0; // exact
    let quarters = (angle / 90.0).round();
    let rest = angle - quarters * 90.0; // exact, within 45
    let (cos, sin) = if rest.abs() == 45.0 {
        (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2.copysign(rest))
    } else {
        let radians = rest.to_radians();
        (libm::cos(radians), libm::sin(radians))
    };
    match (quarters as i32).rem_euclid(4) {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

/// A rectangle by its centre, half its sides, and the direction of its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// The centre.
    pub centre: Point,
    /// Half the width and half the height.
    pub half: Point,
    /// Cosine and sine of the angle, clockwise.
    pub direction: Point,
}

impl Rectangle {
    /// From cx, cy, width, height and an angle.
    pub fn new(&[x, y, width, height, angle]: &[f64; 5], turn: Turn) -> Self {
        Self { centre: [x, y], half: [width / 2.0, height / 2.0], direction: turn.direction(angle) }
    }

    /// The corners, clockwise on the screen; at angle 0 the left top one first.
    pub fn corners(&self) -> [Point; 4] {
        let Self { centre: [x, y], half: [w, h], direction: [cos, sin] } = *self;
        [[-w, -h], [w, -h], [w, h], [-w, h]].map(|[u, v]| [x + (u * cos - v * sin), y + (u * sin + v * cos)])
    }

    /// The upright box around it: x1, y1, x2, y2.
    pub fn bounds(&self) -> [f64; 4] {
        let Self { centre: [x, y], half: [w, h], direction: [cos, sin] } = *self;
        let (reach_x, reach_y) = (w * cos.abs() + h * sin.abs(), w * sin.abs() + h * cos.abs());
        [x - reach_x, y - reach_y, x + reach_x, y + reach_y]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEGREES: Turn = Turn { degrees: true, clockwise: true };

    #[test]
    fn quarter_turns_in_degrees_are_exact() {
        for turns in -9_i32..=9 {
            let [cos, sin] = DEGREES.direction(90.0 * f64::from(turns));
            let wanted = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][turns.rem_euclid(4) as usize];
            assert_eq!([cos, sin], wanted);
        }
        let [cos, sin] = DEGREES.direction(-315.0);
        assert_eq!(cos.to_bits(), sin.to_bits());
    }

    #[test]
    fn directions_are_those_of_radians() {
        let radians = Turn { degrees: false, clockwise: true };
        for angle in [-700.3, -200.0, -91.0, -1e-9, 0.0, 1e-300, 30.0, 44.9, 135.5, 359.9, 1e6] {
            let (a, b) = (DEGREES.direction(angle), radians.direction((angle % 360.0).to_radians()));
            assert!((a[0] - b[0]).abs() < 1e-14 && (a[1] - b[1]).abs() < 1e-14, "{angle}");
        }
    }

    #[test]
    fn the_sense_says_which_way_the_screen_sees_it_turn() {
        let row = [0.0, 0.0, 4.0, 2.0, 90.0];
        let right_top = |clockwise| Rectangle::new(&row, Turn { degrees: true, clockwise }).corners()[1];
        assert_eq!(right_top(true), [1.0, 2.0]); // from the right top to the right bottom
        assert_eq!(right_top(false), [-1.0, -2.0]);
        assert_eq!(Rectangle::new(&row, DEGREES).bounds(), [-1.0, -2.0, 1.0, 2.0]);
    }
}
