//! The functions that the layer catches, at their places in `cl_icd_dispatch` of Khronos's
//! `cl_icd.h`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::{mem, ptr, slice};

use crate::queries::{self, Handle};
use crate::state::{guarded, launched, linked};

/// A function of the table; absent where the loader has none.
pub type LayerFunction = Option<unsafe extern "C" fn()>;

/// Entries of the table, up to and with OpenCL 3.0.
pub const ENTRIES: usize = 149;

/// The functions behind this layer.
static TARGET: OnceLock<[LayerFunction; ENTRIES]> = OnceLock::new();
/// The functions of this layer.
static OWN: OnceLock<[LayerFunction; ENTRIES]> = OnceLock::new();

/// Takes the functions behind this layer, and gives its own: those that it catches and the loader
/// has.
pub fn layer(target: &[LayerFunction]) -> &'static [LayerFunction; ENTRIES] {
    let place = |at: usize| target.get(at).copied().flatten();
    let behind = TARGET.get_or_init(|| std::array::from_fn(place));
    OWN.get_or_init(|| {
        let mut own = [None; ENTRIES];
        caught().into_iter().for_each(|(at, function)| own[at] = behind[at].and(Some(function)));
        own
    })
}

/// The function behind this layer at a place of the table.
///
/// # Safety
/// `F` is the type of pointers to the function that `cl_icd_dispatch` has at that place.
pub unsafe fn target<F: Copy>(at: usize) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<LayerFunction>()) };
    let function = TARGET.get()?[at]?;
    // SAFETY: both are pointers to functions, `F` the right one.
    Some(unsafe { mem::transmute_copy(&function) })
}

/// What a function returns that the loader does not have.
trait Refusal {
    const REFUSED: Self;
}

impl Refusal for i32 {
    /// `CL_INVALID_OPERATION`.
    const REFUSED: i32 = -59;
}

impl Refusal for Handle {
    const REFUSED: Handle = ptr::null_mut();
}

/// Defines functions of the layer, each with what is done with the result of the one behind it.
macro_rules! caught {
    ($($at:literal $name:ident($($arg:ident: $ty:ty),*) -> $out:ty => $then:expr;)*) => {
        $(unsafe extern "C" fn $name($($arg: $ty),*) -> $out {
            // SAFETY: the type is that of `cl_icd.h`, with plain pointers for handles and others.
            let next = unsafe { target::<unsafe extern "C" fn($($ty),*) -> $out>($at) };
            let Some(next) = next else { return <$out>::REFUSED };
            // SAFETY: this is the call of the program, which answers for its arguments.
            let result = unsafe { next($($arg),*) };
            if result != <$out>::REFUSED {
                // A fault of the layer is not the program's.
                let _ = catch_unwind(AssertUnwindSafe(|| ($then)(result)));
            }
            result
        })*

        /// The functions of the layer and their places.
        fn caught() -> Vec<(usize, unsafe extern "C" fn())> {
            // SAFETY: pointers to functions, to which the loader gives their types back.
            vec![$(($at, unsafe {
                mem::transmute::<*const (), unsafe extern "C" fn()>($name as *const ())
            })),*]
        }
    };
}

type H = Handle;
type P = *const c_void;
type Sizes = *const usize;

// Objects are known from their creation on; a new one takes the place of an old one that had the
// same handle.
caught! {
    14 create_buffer(a: H, b: u64, c: usize, d: P, e: P) -> H => memory;
    146 create_buffer_with(a: H, b: P, c: u64, d: usize, e: P, f: P) -> H => memory;
    82 create_sub_buffer(a: H, b: u64, c: u32, d: P, e: P) -> H => memory;
    96 create_image(a: H, b: u64, c: P, d: P, e: P, f: P) -> H => memory;
    147 create_image_with(a: H, b: P, c: u64, d: P, e: P, f: P, g: P) -> H => memory;
    15 image_2d(a: H, b: u64, c: P, d: usize, e: usize, f: usize, g: P, h: P) -> H => memory;
    16 image_3d(
        a: H, b: u64, c: P, d: usize, e: usize, f: usize, g: usize, h: usize, i: P, j: P
    ) -> H => memory;
    22 create_sampler(a: H, b: u32, c: u32, d: u32, e: P) -> H => sampler;
    133 create_sampler_with(a: H, b: P, c: P) -> H => sampler;
    126 svm_alloc(a: H, b: u64, size: usize, d: u32) -> H => |address: H| {
        guarded(|state| state.add_shared(address.addr(), size));
    };
    26 create_program(a: H, b: u32, c: P, d: P, e: P) -> H => program;
    27 program_of_binary(a: H, b: u32, c: P, d: P, e: P, f: P, g: P) -> H => program;
    97 program_of_built_ins(a: H, b: u32, c: P, d: P, e: P) -> H => program;
    138 program_of_il(a: H, b: P, c: usize, d: P) -> H => program;
    30 build(made: H, b: u32, c: P, d: P, e: P, f: P) -> i32 => |_| program(made);
    98 compile(a: H, b: u32, c: P, d: P, e: u32, f: P, g: P, h: P, i: P) -> i32 => |_| program(a);
    99 link(a: H, b: u32, c: P, d: P, n: u32, inputs: *const H, g: P, h: P, i: P) -> H => |made| {
        // SAFETY: the driver has linked that number of programs.
        linked(made, unsafe { list(inputs, n) }.unwrap_or_default());
    };
    34 create_kernel(a: H, b: P, c: P) -> H => kernel;
    35 kernels(a: H, n: u32, all: *const H, made: *const u32) -> i32 => |result| if result == 0 {
        // SAFETY: null, or the driver has written them.
        let all = unsafe { list(all, made.as_ref().map_or(n, |made| n.min(*made))) };
        all.unwrap_or_default().iter().for_each(|made| kernel(*made));
    };
    137 clone_kernel(from: H, b: P) -> H => |made: H| {
        guarded(|state| {
            let copy = state.kernel(from.addr()).clone();
            *state.kernel(made.addr()) = copy;
        });
    };
    38 set(kernel: H, at: u32, size: usize, value: *const u8) -> i32 => |result| if result == 0 {
        // SAFETY: null, or the driver has taken all these bytes.
        let bytes = (!value.is_null()).then(|| unsafe { slice::from_raw_parts(value, size) });
        guarded(|state| state.set(kernel.addr(), at, size, bytes));
    };
    134 set_shared(kernel: H, at: u32, address: H) -> i32 => |result| if result == 0 {
        guarded(|state| state.set_shared(kernel.addr(), at, address.addr()));
    };
    59 enqueue(
        queue: H, kernel: H, n: u32, offset: Sizes, global: Sizes, local: Sizes, g: u32, h: P, i: P
    ) -> i32 => |result| if result == 0 {
        // SAFETY: null, or the driver has taken a size for each dimension.
        launched(queue, kernel, [global, local, offset].map(|sizes| unsafe { list(sizes, n) }));
    };
    60 task(queue: H, kernel: H, c: u32, d: P, e: P) -> i32 => |result| if result == 0 {
        launched(queue, kernel, [Some(&[1]), Some(&[1]), None]);
    };
}

/// A list of the program; `None` if it is null.
///
/// # Safety
/// `first` is null or has `count` elements while `'a` lasts.
unsafe fn list<'a, T>(first: *const T, count: u32) -> Option<&'a [T]> {
    // SAFETY: as the caller promises.
    (!first.is_null()).then(|| unsafe { slice::from_raw_parts(first, count as usize) })
}

fn memory(object: Handle) {
    let rest = queries::memory(object);
    guarded(|state| state.add_memory(object.addr(), rest));
}

fn sampler(object: Handle) {
    let text = queries::sampler(object);
    guarded(|state| state.add_sampler(object.addr(), text));
}

fn program(object: Handle) {
    guarded(|state| state.forget_program(object.addr()));
}

fn kernel(object: Handle) {
    guarded(|state| *state.kernel(object.addr()) = Default::default());
}
