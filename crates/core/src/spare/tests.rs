use super::*;

/// A system without memory.
struct Nothing;

// SAFETY: it gives nothing.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        unreachable!("it gave nothing");
    }
}

#[test]
fn parts_do_not_overlap_and_come_back() {
    let spare = Sparing(Nothing);
    for round in 0..3 {
        let mut parts = Vec::new();
        for number in 1.. {
            let layout = Layout::from_size_align(1 + number * 37 % 900, 1 << (number % 7)).expect("a layout");
            // SAFETY: the layout has a size, and only its bytes are touched.
            unsafe {
                let mut part = if number % 2 == 0 { spare.alloc(layout) } else { spare.alloc_zeroed(layout) };
                if part.is_null() {
                    break;
                }
                assert_eq!(part.addr() % layout.align(), 0);
                assert!(number % 2 == 0 || (0..layout.size()).all(|byte| part.add(byte).read() == 0));
                part.write_bytes(number as u8, layout.size());
                let mut size = layout.size();
                if number % 5 == 0 {
                    let longer = spare.realloc(part, layout, size + 9);
                    if longer.is_null() {
                        parts.push((part, layout, number as u8));
                        break;
                    }
                    (part, size) = (longer, size + 9);
                    part.write_bytes(number as u8, size);
                }
                parts.push((part, Layout::from_size_align(size, layout.align()).expect("a layout"), number as u8));
            }
        }
        assert!(parts.len() > 300, "{} in round {round}", parts.len());
        for (part, layout, number) in parts {
            // SAFETY: it was given with this layout, and filled.
            unsafe {
                assert!((0..layout.size()).all(|byte| part.add(byte).read() == number));
                spare.dealloc(part, layout);
            }
        }
    }
    let large = Layout::from_size_align(SMALL + 1, 1).expect("a layout");
    // SAFETY: the layout has a size.
    assert!(unsafe { spare.alloc(large) }.is_null());
}
