//! The `tickbound` program; see [`tickbound::commands`].

/// Proofs make and drop many small terms on all threads, for which the C library's allocator takes
/// up to twice the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    if start::OUTPUT_WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        tickbound::commands::standard_output_is_closed();
    }
    tickbound::commands::main()
}

/// What was open when this process was started. By `main` it is too late to ask.
#[cfg(target_os = "linux")]
mod start {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        OUTPUT_WAS_CLOSED.store(closed, Ordering::Relaxed);
    }

    // SAFETY: the section holds pointers to functions that the C library calls before `main`, with
    // arguments that this one leaves alone. It makes one system call and sets an atomic flag:
    // nothing that needs Rust's runtime, and it cannot panic.
    #[unsafe(link_section = ".init_array")]
    #[used]
    static LOOK: extern "C" fn() = look;
}
