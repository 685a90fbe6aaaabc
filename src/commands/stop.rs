//! What ends a command before it is finished: Ctrl-C, SIGTERM, SIGHUP, the time of `--timeout`, and
//! the memory of `--memory`.
//!
//! There is one flag for the process. The first signal sets it, and so do the clock and the sum of
//! resident memory; the time counts from the start of the process. Long work checks the
//! flag, stops, and hands over what it has. A second signal ends the process at once.
//!
//! Some work cannot look: a call of Z3 that does not listen, or a step that is long for one input
//! in a thousand. So what has not ended within [`GRACE`] is ended: the process prints what is known
//! by then ([`on_forced_end`]), and leaves. What it has written is whole (caches line by line,
//! files by renaming), its children end with it ([`tickbound_os::process`]), and its folders are
//! removed at the next start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use tickbound_model::verdict::StopReason;

use super::exit::{CliError, Exit};
use super::values::{ByteSize, Seconds};

/// How long a command may take to end by itself. What is left of a second is for giving back its
/// memory: gigabytes of a formula take up to 0.2 s on a slow machine.
const GRACE: Duration = Duration::from_millis(700);
/// The clock sets the flag this much later than the time is over, so that a check of both reports
/// that it was the clock.
const AFTER: Duration = Duration::from_millis(10);

/// How often the memory is examined.
const SAMPLE: Duration = Duration::from_millis(20);

static FLAG: AtomicBool = AtomicBool::new(false);
static CLOCK: Clock = Clock { state: Mutex::new(State::new()), changed: Condvar::new() };

/// What is printed if the process must be ended.
type Words = Box<dyn FnOnce() + Send>;

struct Clock {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    began: Option<Instant>,
    /// When the time is over.
    deadline: Option<Instant>,
    /// What else stops the command, and since when: the first signal, or too much memory.
    stopped: Option<(Instant, StopReason)>,
    /// Bytes of resident memory that it may take.
    memory: Option<u64>,
    words: Option<Words>,
    /// The command states itself what becomes of a stop.
    quiet: bool,
    /// How much is being written that is to be whole.
    writing: usize,
}

impl State {
    const fn new() -> State {
        State {
            began: None,
            deadline: None,
            stopped: None,
            memory: None,
            words: None,
            quiet: false,
            writing: 0,
        }
    }

    /// When the flag was or will be set.
    fn stop(&self) -> Option<Instant> {
        let deadline = self.deadline.map(|deadline| deadline + AFTER);
        self.stopped.as_ref().map(|(moment, _)| *moment).into_iter().chain(deadline).min()
    }

    /// Notes that the memory is too much, if it is.
    fn weigh(&mut self) {
        if let Some(limit) = self.memory.filter(|limit| tickbound_os::process::memory() > *limit) {
            self.stopped.get_or_insert((Instant::now(), StopReason::Memory(limit)));
        }
    }
}

/// Begins to count, and to listen to signals. To be called once, first of all.
///
/// # Errors
/// The signals cannot be caught.
pub(super) fn listen() -> Result<(), CliError> {
    let fault = |e: std::io::Error| CliError::Input(format!("cannot catch signals: {e}"));
    lock().began = Some(Instant::now());
    tickbound_os::process::sweep();
    // Who has it ignored (`nohup`) wants to outlive the terminal.
    let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| *s != SIGHUP || !is_ignored(*s));
    let mut signals = Signals::new(signals).map_err(fault)?;
    let heard = move || {
        for _ in signals.forever() {
            hear();
        }
    };
    std::thread::Builder::new().spawn(heard).map_err(fault)?;
    std::thread::Builder::new().spawn(watch).map_err(fault)?;
    Ok(())
}

/// The flag: true once the command has to end.
pub(super) fn flag() -> &'static AtomicBool {
    &FLAG
}

/// True once the command has to end, for what asks now and then.
pub(super) fn is_due() -> bool {
    FLAG.load(Ordering::Relaxed)
}

/// When the process began.
pub(super) fn began() -> Instant {
    lock().began.unwrap_or_else(Instant::now)
}

/// The option `--memory` of commands whose memory is that of this process and its children.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Memory {
    /// Stop when this much memory is taken, such as 8G, and report what is known
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    memory: Option<ByteSize>,
}

impl Memory {
    /// From now on it is watched.
    pub(super) fn watched(self) {
        if let Some(memory) = self.memory {
            watch_memory(memory.0);
        }
    }
}

/// From now on a signal prints nothing here: the command does.
pub(super) fn quiet() {
    lock().quiet = true;
}

/// From now on the command is stopped when this process and its children have more bytes resident.
pub(super) fn watch_memory(bytes: u64) {
    lock().memory = Some(bytes);
    CLOCK.changed.notify_all();
}

/// The option `--timeout`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Timeout {
    /// Stop after this many seconds and report what is known
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    timeout: Option<Seconds>,
}

impl Timeout {
    /// This many seconds.
    pub(super) fn of(timeout: Option<Seconds>) -> Timeout {
        Timeout { timeout }
    }

    /// The time, from the start of the process; from now on it is watched.
    ///
    /// # Errors
    /// If it is no length of time.
    pub(super) fn watched(self) -> Result<Option<Duration>, CliError> {
        let time = self.seconds()?;
        // What lies beyond what a clock can tell is never.
        lock().deadline = time.and_then(|time| began().checked_add(time));
        CLOCK.changed.notify_all();
        Ok(time)
    }

    /// The time, for what a command starts several times.
    ///
    /// # Errors
    /// If it is no length of time.
    pub(super) fn seconds(self) -> Result<Option<Duration>, CliError> {
        let read = |Seconds(s): Seconds| {
            Duration::try_from_secs_f64(s).map_err(|_| {
                CliError::Input(format!("--timeout {s}: write a positive number of seconds"))
            })
        };
        self.timeout.map(read).transpose()
    }
}

/// The options `--timeout` and `--memory`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Stops {
    #[command(flatten)]
    timeout: Timeout,
    #[command(flatten)]
    memory: Memory,
}

impl Stops {
    /// The time, from the start of the process; from now on time and memory are watched.
    ///
    /// # Errors
    /// If it is no length of time.
    pub(super) fn watched(self) -> Result<Option<Duration>, CliError> {
        self.memory.watched();
        self.timeout.watched()
    }
}

/// From now on `print` is what prints what is known if the process must be ended.
pub(super) fn on_forced_end(print: impl FnOnce() + Send + 'static) {
    lock().words = Some(Box::new(print));
}

/// The process is not ended until what is returned is dropped: something is written that is to be
/// whole.
pub(super) fn writing() -> Writing {
    lock().writing += 1;
    Writing
}

/// See [`writing`].
pub(super) struct Writing;

impl Drop for Writing {
    fn drop(&mut self) {
        lock().writing -= 1;
        CLOCK.changed.notify_all();
    }
}

/// Why the command had to end; `None` if it had not.
pub(super) fn reason() -> Option<StopReason> {
    let state = lock();
    let late = state.deadline.zip(state.began).filter(|(deadline, _)| Instant::now() >= *deadline);
    let late = late.map(|(d, began)| (d, StopReason::TimeOut((d - began).as_secs_f64())));
    let stops = [state.stopped.clone(), late].into_iter().flatten();
    stops.min_by_key(|(moment, _)| *moment).map(|(_, reason)| reason)
}

fn lock() -> std::sync::MutexGuard<'static, State> {
    CLOCK.state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hear() {
    let mut state = lock();
    let before = state.stopped.replace((Instant::now(), StopReason::Interrupted));
    let quiet = state.quiet;
    drop(state);
    if before.is_some_and(|(_, reason)| reason == StopReason::Interrupted) {
        signal_hook::low_level::exit(130);
    }
    FLAG.store(true, Ordering::SeqCst);
    CLOCK.changed.notify_all();
    if quiet {
        return;
    }
    // Below the `^C` of a terminal.
    note!("");
    note!("tickbound: interrupted; finishing with what is known (again: stop at once)");
}

/// [`GRACE`], or less if who runs this process has less.
fn grace() -> Duration {
    let given = std::env::var(tickbound_os::process::GRACE_VARIABLE).ok();
    let given = given.and_then(|text| text.parse().ok()).map(Duration::from_millis);
    given.map_or(GRACE, |given| given.min(GRACE))
}

/// Sets the flag when the time is over, and ends the process if it is still running.
fn watch() {
    let grace = grace();
    let mut state = lock();
    loop {
        state.weigh();
        let now = Instant::now();
        let next = match state.stop() {
            None => None,
            Some(stop) if now < stop => Some(stop),
            Some(stop) => {
                FLAG.store(true, Ordering::SeqCst);
                let end_at = stop + grace;
                if now >= end_at && state.writing == 0 {
                    let words = state.words.take();
                    drop(state);
                    end(words);
                }
                Some(end_at).filter(|end| now < *end)
            }
        };
        let next = match state.memory {
            Some(_) => Some(next.map_or(now + SAMPLE, |next| next.min(now + SAMPLE))),
            None => next,
        };
        state = match next {
            Some(next) => {
                let waited = CLOCK.changed.wait_timeout(state, next.saturating_duration_since(now));
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => CLOCK.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

fn end(words: Option<Words>) -> ! {
    match words {
        Some(words) => words(),
        None => complain_unfinished(),
    }
    // Without the destructors of libraries that other threads still use.
    signal_hook::low_level::exit(Exit::Nothing as i32)
}

/// Reports a forced end without a result.
pub(super) fn complain_unfinished() {
    let why = reason().map_or_else(String::new, |why| format!("{why}; "));
    error!("tickbound: {why}ended before it was finished");
}

/// Whether a signal was ignored when the process was started.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
