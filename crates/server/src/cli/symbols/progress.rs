//! A progress bar on the last line of a terminal; nothing if standard error is not a terminal.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::cli::terminal::megabytes;

/// Progress of an upload. Clones share the bar.
#[derive(Clone)]
pub struct Progress(Option<Arc<Mutex<Bar>>>);

struct Bar {
    done: u64,
    total: u64,
    drawn: Option<Instant>,
}

const CELLS: u64 = 30;
const DRAWN_EVERY: Duration = Duration::from_millis(100);

impl Progress {
    /// A bar of `total` bytes, which is drawn if standard error is a terminal.
    pub fn new(total: u64) -> Progress {
        let is_seen = std::io::stderr().is_terminal();
        Progress(is_seen.then(|| Arc::new(Mutex::new(Bar { done: 0, total, drawn: None }))))
    }

    /// Adds sent bytes.
    pub fn add(&self, bytes: u64) {
        let Some(bar) = &self.0 else { return };
        let mut bar = bar.lock();
        bar.done += bytes;
        if bar.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAWN_EVERY) {
            bar.drawn = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", render(bar.done, bar.total));
        }
    }

    /// Bytes sent so far, for [`Progress::rewind_to`].
    pub fn done(&self) -> u64 {
        self.0.as_ref().map_or(0, |bar| bar.lock().done)
    }

    /// Resets the progress: the bytes sent since then are sent again.
    pub fn rewind_to(&self, done: u64) {
        if let Some(bar) = &self.0 {
            bar.lock().done = done;
        }
    }

    /// Clears the bar's line, so that other lines can be printed.
    pub fn clear(&self) {
        if self.0.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn render(done: u64, total: u64) -> String {
    let full = (done.min(total) * CELLS).checked_div(total).unwrap_or(CELLS) as usize;
    let percent = (done.min(total) * 100).checked_div(total).unwrap_or(100);
    let rest = "-".repeat(CELLS as usize - full);
    format!("[{}{rest}] {percent:>3} %  {} of {}", "#".repeat(full), megabytes(done.min(total)), megabytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_rendered() {
        assert_eq!(render(0, 100), format!("[{}]   0 %  0 bytes of 100 bytes", "-".repeat(30)));
        assert_eq!(render(1_500, 3_000), format!("[{}{}]  50 %  1.5 kB of 3.0 kB", "#".repeat(15), "-".repeat(15)));
        assert!(render(0, 0).contains("100 %"));
    }
}
