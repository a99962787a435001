//! How large is a mask, and where does it lie?

use std::ops::Range;

use super::Mask;

impl Mask<'_> {
    /// The number of foreground pixels.
    pub fn area(self) -> u32 {
        self.runs.iter().skip(1).step_by(2).sum()
    }

    /// The smallest box of whole pixels around the foreground: least x and y, width and height; all 0 if there is none.
    pub fn bounds(self) -> [u32; 4] {
        let height = self.size.height;
        let (mut left, mut x, mut y) = (None, 0, 0);
        let mut rows = Range { start: u32::MAX, end: 0 };
        for pair in self.runs.chunks_exact(2) {
            y += pair[0];
            // Most runs of zeros reach into the next column: that needs no division.
            if y >= height {
                (x, y) = if y - height < height { (x + 1, y - height) } else { (x + y / height, y % height) };
            }
            left = left.or(Some(x));
            let (first, end) = (y, y + pair[1]);
            if end > height {
                // A run that goes on in the next column holds the last row and the first.
                rows = 0..height;
                (x, y) = (x + (end - 1) / height, (end - 1) % height + 1);
            } else {
                rows = rows.start.min(first)..rows.end.max(end);
                y = end;
            }
        }
        left.map_or([0; 4], |left| [left, rows.start, x + 1 - left, rows.end - rows.start])
    }

    /// Calls `each` with a column and a range of its rows, for every piece of foreground, in order.
    #[inline(always)]
    pub(super) fn segments(self, mut each: impl FnMut(u32, Range<u32>)) {
        let height = self.size.height;
        let (mut x, mut y) = (0, 0);
        for pair in self.runs.chunks_exact(2) {
            y += pair[0];
            if y >= height {
                (x, y) = (x + y / height, y % height);
            }
            let mut left = pair[1];
            while left > 0 {
                let end = height.min(y + left);
                each(x, y..end);
                left -= end - y;
                y = end;
                if y == height {
                    (x, y) = (x + 1, 0);
                }
            }
        }
    }
}
