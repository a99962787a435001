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
        let none = Range { start: u32::MAX, end: 0 };
        let (mut at, mut columns, mut rows) = (0, none.clone(), none);
        for pair in self.runs.chunks_exact(2) {
            let (start, end) = (at + pair[0], at + pair[0] + pair[1]);
            at = end;
            let (first, last) = (start / height, (end - 1) / height);
            columns = columns.start.min(first)..last + 1;
            // A run that goes on in the next column holds the last row and the first.
            let (low, high) = if first < last { (0, height) } else { (start % height, (end - 1) % height + 1) };
            rows = rows.start.min(low)..rows.end.max(high);
        }
        if columns.is_empty() {
            return [0; 4];
        }
        [columns.start, rows.start, columns.end - columns.start, rows.end - rows.start]
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
