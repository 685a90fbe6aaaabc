//! Progress on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::notes;
use tickbound_input::message::{grouped, one_line, printable};
use tickbound_solver::bracket::Bounds;

/// A line on standard error that shows the bracket closing; invisible where that is no terminal.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line that begins with `what`.
    pub fn new(what: &str) -> Progress {
        let bar = match notes::are_hushed() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} [{elapsed}] {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let progress = Progress { bar };
        progress.about(what);
        progress
    }

    /// Shows the bracket.
    pub fn show(&self, bounds: Bounds) {
        let lower = grouped(bounds.lower);
        self.say(match bounds.best {
            Some((_, time)) if time == bounds.lower => {
                format!("least time {} ticks; proving it", grouped(time))
            }
            Some((_, time)) => format!("least time between {lower} and {} ticks", grouped(time)),
            None => format!("least time at least {lower} ticks"),
        });
    }

    /// Leaves a line above the moving one, on terminals only.
    pub fn tell(&self, text: &str) {
        self.bar.println(printable(&one_line(text)));
    }

    /// Replaces what the line begins with.
    pub fn about(&self, what: &str) {
        self.bar.set_prefix(one_line(what));
    }

    /// Lets the time shown begin again.
    pub fn restart(&self) {
        self.bar.reset_elapsed();
    }

    /// Leaves a line on standard error, above the moving one.
    pub fn aside(&self, text: &str) {
        self.bar.suspend(|| note!("{text}"));
    }

    /// Shows a sentence.
    pub fn say(&self, text: String) {
        self.sayer()(text);
    }

    /// Shows sentences, for those who outlive this.
    pub fn sayer(&self) -> impl Fn(String) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |text| bar.set_message(one_line(&text))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
