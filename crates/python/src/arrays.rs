//! NumPy's arrays as slices, and vectors as NumPy's arrays.
//!
//! Arrays are read through `__array_struct__`, NumPy's
//! [array interface](https://numpy.org/doc/stable/reference/arrays.interface.html): a struct of a few fields. They are
//! made by one function of NumPy's C API. A crate with all of that API took a sixth of the time to compile everything.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::fmt::{Display, Formatter};
use std::mem::transmute;
use std::ops::{Deref, Range};
use std::ptr::NonNull;

use ioukit_core::memory::Vec;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3::{ffi, intern};

/// What `__array_struct__` points to.
#[repr(C)]
struct Interface {
    /// Always 2.
    version: c_int,
    dimensions: c_int,
    kind: c_char,
    item_size: c_int,
    flags: c_int,
    shape: *mut usize,
    /// In bytes.
    strides: *mut isize,
    data: *mut c_void,
    description: *mut ffi::PyObject,
}

/// Row after row, without gaps.
const CONTIGUOUS: c_int = 0x1;
const ALIGNED: c_int = 0x100;
/// In the byte order of this machine.
const NATIVE: c_int = 0x200;
const WRITEABLE: c_int = 0x400;
/// What a slice needs.
const READABLE: c_int = CONTIGUOUS | ALIGNED | NATIVE;

/// A type of the items of arrays.
///
/// # Safety
///
/// `KIND` with the size, and `NUMBER`, must be of the item type of NumPy that has the same values in the same bits. Items
/// whose bytes are at most `LARGEST_BYTE` must be values of the type.
pub unsafe trait Item: Copy + Send + Sync + 'static {
    /// NumPy's letter for such types: `b` for bool, `i` and `u` for integers, `f` for floats.
    const KIND: u8;
    /// NumPy's number of the type. Those of integers are of the types of C: `long` has 4 bytes or 8.
    const NUMBER: c_int;
    /// The largest byte that an item may have.
    const LARGEST_BYTE: u8 = u8::MAX;
}

// SAFETY: a bool of NumPy is a byte. It writes 0 or 1, but takes any bytes as bools (`view`, `frombuffer`); here, others
// are refused.
unsafe impl Item for bool {
    const KIND: u8 = b'b';
    const NUMBER: c_int = 0;
    const LARGEST_BYTE: u8 = 1;
}
// SAFETY: every pattern of bits is a number, of this and all types below.
unsafe impl Item for u8 {
    const KIND: u8 = b'u';
    const NUMBER: c_int = 2;
}
// SAFETY: as above.
unsafe impl Item for u16 {
    const KIND: u8 = b'u';
    const NUMBER: c_int = 4;
}
// SAFETY: as above.
unsafe impl Item for u32 {
    const KIND: u8 = b'u';
    const NUMBER: c_int = if size_of::<c_long>() == 4 { 8 } else { 6 };
}
// SAFETY: as above.
unsafe impl Item for u64 {
    const KIND: u8 = b'u';
    const NUMBER: c_int = if size_of::<c_long>() == 8 { 8 } else { 10 };
}
// SAFETY: as above.
unsafe impl Item for i64 {
    const KIND: u8 = b'i';
    const NUMBER: c_int = if size_of::<c_long>() == 8 { 7 } else { 9 };
}
// SAFETY: as above.
unsafe impl Item for f32 {
    const KIND: u8 = b'f';
    const NUMBER: c_int = 11;
}
// SAFETY: as above.
unsafe impl Item for f64 {
    const KIND: u8 = b'f';
    const NUMBER: c_int = 12;
}

/// What is known of an array before its items are read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    kind: u8,
    item_size: usize,
    dimensions: usize,
    flags: c_int,
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", char::from(self.kind), self.item_size)?;
        if self.dimensions != ANY {
            write!(f, " of {} dimensions", self.dimensions)?;
        }
        let flags = [(CONTIGUOUS, "contiguous"), (ALIGNED, "aligned"), (NATIVE, "native"), (WRITEABLE, "writeable")];
        flags.iter().filter(|(flag, _)| self.flags & flag != 0).try_for_each(|(_, name)| write!(f, ", {name}"))
    }
}

/// The error for an object that is not the array that was expected.
#[derive(Clone, Copy)]
pub struct Mismatch {
    expected: Layout,
    found: Option<Layout>,
    /// A byte that no item of the type has.
    byte: Option<u8>,
}

impl From<Mismatch> for PyErr {
    #[cold]
    fn from(Mismatch { expected, found, byte }: Mismatch) -> Self {
        if let Some(byte) = byte {
            return PyValueError::new_err(format!("expected bools of the bytes 0 and 1, got the byte {byte}"));
        }
        let found = found.map_or_else(|| "no array".to_owned(), |found| found.to_string());
        PyTypeError::new_err(format!("expected an array {expected}, got {found}"))
    }
}

/// For an array of any number of dimensions.
pub const ANY: usize = usize::MAX;

/// A NumPy array of `N` dimensions as a slice to read. Python must not change it meanwhile.
pub struct Array<'py, T, const N: usize> {
    items: NonNull<[T]>,
    shape: NonNull<[usize]>,
    /// These keep the memory of both.
    _object: Bound<'py, PyAny>,
    _capsule: Bound<'py, PyCapsule>,
}

/// An array of one dimension.
pub type Column<'py, T> = Array<'py, T, 1>;

/// An array of two dimensions.
pub type Table<'py, T> = Array<'py, T, 2>;

/// The memory of an array.
struct Memory<'py> {
    data: *mut c_void,
    count: usize,
    shape: NonNull<[usize]>,
    capsule: Bound<'py, PyCapsule>,
}

impl<'py> Memory<'py> {
    /// That of an object, if it is an array of this layout.
    fn of(object: &Bound<'py, PyAny>, expected: Layout) -> Result<Self, Mismatch> {
        let capsule = object.getattr(intern!(object.py(), "__array_struct__")).ok();
        let capsule = capsule.and_then(|capsule| capsule.cast_into::<PyCapsule>().ok());
        let pointer = capsule.as_ref().and_then(|capsule| capsule.pointer_checked(None).ok());
        let (Some(capsule), Some(pointer)) = (capsule, pointer) else {
            return Err(Mismatch { expected, found: None, byte: None });
        };
        // SAFETY: the array interface promises such a struct behind the pointer while the capsule lives.
        let interface = unsafe { pointer.cast::<Interface>().as_ref() };
        let found = Layout {
            kind: interface.kind as u8,
            item_size: interface.item_size as usize,
            dimensions: if expected.dimensions == ANY { ANY } else { interface.dimensions as usize },
            flags: interface.flags & expected.flags,
        };
        if found != expected || interface.version != 2 {
            return Err(Mismatch { expected, found: Some(found), byte: None });
        }
        let shape = match interface.dimensions as usize {
            0 => &[],
            // SAFETY: the interface promises one length per dimension, none of them negative.
            dimensions => unsafe { std::slice::from_raw_parts(interface.shape, dimensions) },
        };
        Ok(Self { data: interface.data, count: shape.iter().product(), shape: NonNull::from(shape), capsule })
    }
}

impl<'py, T: Item, const N: usize> Array<'py, T, N> {
    fn new(object: &Bound<'py, PyAny>, flags: c_int) -> Result<Self, Mismatch> {
        let expected = Layout { kind: T::KIND, item_size: size_of::<T>(), dimensions: N, flags };
        let Memory { data, count, shape, capsule } = Memory::of(object, expected)?;
        let items = match NonNull::new(data.cast::<T>()) {
            Some(data) if count > 0 => NonNull::slice_from_raw_parts(data, count),
            _ => NonNull::from(&mut []),
        };
        if T::LARGEST_BYTE < u8::MAX && count > 0 {
            // SAFETY: every byte of an array can be read as a byte.
            let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), count * size_of::<T>()) };
            // The largest of all: a loop that ends early is not vectorised.
            let largest = bytes.iter().copied().max().unwrap_or(0);
            if largest > T::LARGEST_BYTE {
                return Err(Mismatch { expected, found: None, byte: Some(largest) });
            }
        }
        Ok(Self { items, shape, _object: object.clone(), _capsule: capsule })
    }
}

impl<'py, T, const N: usize> Array<'py, T, N> {
    pub fn py(&self) -> Python<'py> {
        self._object.py()
    }

    /// The length of each dimension.
    pub fn shape(&self) -> &[usize] {
        // SAFETY: the capsule is alive.
        unsafe { self.shape.as_ref() }
    }

    /// The addresses of the items.
    pub fn memory(&self) -> Range<usize> {
        let Range { start, end } = self.as_ptr_range();
        start.addr()..end.addr()
    }
}

impl<T, const N: usize> Deref for Array<'_, T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` has found as many items of this type, aligned and without gaps, and the object is alive. Python
        // calls with arrays that no other thread changes.
        unsafe { self.items.as_ref() }
    }
}

impl<'py, T: Item, const N: usize> FromPyObject<'_, 'py> for Array<'py, T, N> {
    type Error = Mismatch;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Mismatch> {
        Self::new(&object, READABLE)
    }
}

/// A NumPy array of `N` dimensions to fill.
pub struct ArrayMut<'py, T, const N: usize>(Array<'py, T, N>);

impl<T, const N: usize> ArrayMut<'_, T, N> {
    /// The addresses of the items.
    pub fn memory(&self) -> Range<usize> {
        self.0.memory()
    }

    /// The items to fill. It is an error if they share memory with what is read or filled at the same time.
    pub fn items(&mut self, others: &[Range<usize>]) -> PyResult<&mut [T]> {
        let own = self.memory();
        if others.iter().any(|other| own.start < other.end && other.start < own.end) {
            return Err(PyValueError::new_err("an array to fill shares memory with another argument"));
        }
        // SAFETY: as in `deref`. The memory is writeable, and no slice of this call reaches into it.
        Ok(unsafe { self.0.items.as_mut() })
    }
}

impl<'py, T: Item, const N: usize> FromPyObject<'_, 'py> for ArrayMut<'py, T, N> {
    type Error = Mismatch;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Mismatch> {
        Array::new(&object, READABLE | WRITEABLE).map(Self)
    }
}

/// `PyArray_New`: type, dimensions, shape, number of the item type, strides, memory, item size, flags, an unused object.
type NewArray = unsafe extern "C" fn(
    *mut ffi::PyTypeObject,
    c_int,
    *const usize,
    c_int,
    *const isize,
    *mut c_void,
    c_int,
    c_int,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// `PyArray_SetBaseObject`: the array, and the owner of its memory, whose reference it takes over.
type SetOwner = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

/// What makes an array of memory that is there already, from the table of NumPy's C functions.
struct Numpy {
    array_type: *mut ffi::PyTypeObject,
    new_array: NewArray,
    set_owner: SetOwner,
}

// SAFETY: the table and the type are there as long as the process, and never change.
unsafe impl Send for Numpy {}
// SAFETY: as above.
unsafe impl Sync for Numpy {}

impl Numpy {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();
        NUMPY.get_or_try_init(py, || {
            let module = py.import("numpy._core._multiarray_umath");
            let module = module.or_else(|_| py.import("numpy.core._multiarray_umath"))?; // NumPy 1
            let table = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?.pointer_checked(None)?;
            let table = table.cast::<*mut c_void>().as_ptr();
            // SAFETY: these are their places in the table of every NumPy, 1 and 2.
            unsafe {
                Ok(Self {
                    array_type: table.add(2).read().cast(),
                    new_array: transmute::<*mut c_void, NewArray>(table.add(93).read()),
                    set_owner: transmute::<*mut c_void, SetOwner>(table.add(282).read()),
                })
            }
        })
    }
}

/// A NumPy array of this shape, in the memory of the vector.
///
/// # Panics
///
/// If the shape has another number of items.
pub fn array<T: Item, const N: usize>(
    py: Python<'_>,
    mut items: Vec<T>,
    shape: [usize; N],
) -> PyResult<Bound<'_, PyAny>> {
    assert_eq!(items.len(), shape.iter().product::<usize>(), "an item per place of the shape");
    let data = items.as_mut_ptr();
    new_array(py, data.cast(), PyCapsule::new_with_value(py, items, c"items")?, T::NUMBER, &shape)
}

/// A NumPy array of one dimension, in the memory of the vector.
pub fn column<T: Item>(py: Python<'_>, items: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    let shape = [items.len()];
    array(py, items, shape)
}

/// Rows of `K` numbers as a NumPy array of `K` columns.
pub fn table<T: Item, const K: usize>(py: Python<'_>, rows: Vec<[T; K]>) -> PyResult<Bound<'_, PyAny>> {
    let shape = [rows.len(), K];
    array(py, rows.into_flattened(), shape)
}

/// A NumPy array of this shape, with items of any value.
pub fn empty<'py, T: Item, const N: usize>(py: Python<'py>, shape: [usize; N]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = Numpy::get(py)?;
    let (strides, memory, unused) = (std::ptr::null(), std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: without memory of ours, NumPy takes its own, row after row.
    unsafe {
        let array =
            (numpy.new_array)(numpy.array_type, N as c_int, shape.as_ptr(), T::NUMBER, strides, memory, 0, 0, unused);
        Bound::from_owned_ptr_or_err(py, array)
    }
}

/// Whether this is an array of NumPy's own class, and not of one that inherits from it.
pub fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    Numpy::get(object.py()).is_ok_and(|numpy| object.get_type_ptr() == numpy.array_type)
}

/// A copy as Python's bytes.
pub fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    // `PyBytes::new` panics where memory ends.
    PyBytes::new_with(py, bytes.len(), |place| {
        place.copy_from_slice(bytes);
        Ok(())
    })
}

fn new_array<'py>(
    py: Python<'py>,
    data: *mut c_void,
    owner: Bound<'py, PyCapsule>,
    number: c_int,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = Numpy::get(py)?;
    let (dimensions, flags) = (shape.len() as c_int, CONTIGUOUS | ALIGNED | WRITEABLE);
    let (strides, unused) = (std::ptr::null(), std::ptr::null_mut());
    // SAFETY: `data` is the memory of as many items of this type as the shape has, without gaps, which `owner` keeps.
    unsafe {
        let array =
            (numpy.new_array)(numpy.array_type, dimensions, shape.as_ptr(), number, strides, data, 0, flags, unused);
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        match (numpy.set_owner)(array.as_ptr(), owner.into_ptr()) {
            0 => Ok(array),
            _ => Err(PyErr::fetch(py)),
        }
    }
}
