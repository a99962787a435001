use super::*;
use crate::ending::{Ending, caught};

#[test]
fn zeros_are_zeros_of_every_type() {
    for count in [0, 1, 7, 1 << 16] {
        assert_eq!(zeros::<f64>(count), std::vec![0.0; count]);
        assert_eq!(zeros::<bool>(count), std::vec![false; count]);
        assert_eq!(zeros::<(u32, f64)>(count), std::vec![(0, 0.0); count]);
        let mut rows = zeros::<[u8; 3]>(count);
        rows.push([1; 3]);
        assert_eq!((rows.len(), rows[count]), (count + 1, [1; 3]));
    }
}

#[test]
fn more_than_there_is_ends_the_call() {
    let most = isize::MAX as usize;
    let calls: [fn(usize) -> Vec<u16>; 5] = [
        |count| zeros(count),
        |count| filled(1, count),
        |count| Vec::with_capacity(count),
        |count| {
            let mut items = filled(1, 3);
            items.resize(count, 2);
            items
        },
        |count| (0..count).map(|number| number as u16).collect(),
    ];
    for call in calls {
        assert_eq!(caught(|| call(3)).map(|items| items.capacity() >= 3), Ok(true));
        for count in [most / 4, most] {
            assert_eq!(caught(|| call(count).len()), Err(Ending::OutOfMemory));
        }
    }
}

#[test]
fn items_are_those_of_the_standard_library() {
    for count in [0, 1, 5, 100] {
        let plain: Plain<usize> = (0..count).collect();
        let odd = |number: &usize| number % 2 == 1;
        assert_eq!((0..count).collect::<Vec<_>>(), plain);
        assert_eq!((0..count).filter(odd).collect::<Vec<_>>(), (0..count).filter(odd).collect::<Plain<_>>());
        let mut items = copied(&plain);
        let rest = items.split_off(count / 2);
        assert_eq!((&items[..], &rest[..]), plain.split_at(count / 2));
        items.extend(&rest);
        assert_eq!((owned(Cow::Owned(plain.clone())), owned(Cow::Borrowed(&plain[..]))), (items.clone(), items));
    }
}

#[test]
fn sorts_what_is_longer_than_the_place_on_the_stack() {
    for count in [0_u32, 1, 1024, 1025, 2048, 5000, 70_000] {
        let orders: [&dyn Fn(u32) -> u32; 4] =
            [&|n| n, &|n| count - n, &|n| n.wrapping_mul(2_654_435_761) >> 7, &|n| n.abs_diff(count / 3)];
        for order in orders {
            let mut items: Vec<u32> = (0..count).map(order).collect();
            let mut expected = items.clone().into_std();
            expected.sort_unstable();
            sort(&mut items);
            assert_eq!(items, expected);
        }
    }
}
