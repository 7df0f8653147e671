//! A bar on a terminal's last line; nothing where nobody looks.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::megabytes;

/// How far an upload is. Clones show the same bar.
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
    /// Of `total` bytes; drawn if standard error is a terminal.
    pub fn new(total: u64) -> Progress {
        let is_seen = std::io::stderr().is_terminal();
        Progress(is_seen.then(|| Arc::new(Mutex::new(Bar { done: 0, total, drawn: None }))))
    }

    /// So many bytes more.
    pub fn add(&self, bytes: u64) {
        let Some(bar) = &self.0 else { return };
        let mut bar = bar.lock();
        bar.done += bytes;
        if bar.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAWN_EVERY) {
            bar.drawn = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", picture(bar.done, bar.total));
        }
    }

    /// How far it is now, for [`Progress::back_to`].
    pub fn done(&self) -> u64 {
        self.0.as_ref().map_or(0, |bar| bar.lock().done)
    }

    /// What was sent since is sent again.
    pub fn back_to(&self, done: u64) {
        if let Some(bar) = &self.0 {
            bar.lock().done = done;
        }
    }

    /// Takes the bar away, so that lines can follow.
    pub fn clear(&self) {
        if self.0.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn picture(done: u64, total: u64) -> String {
    let full = (done.min(total) * CELLS).checked_div(total).unwrap_or(CELLS) as usize;
    let percent = (done.min(total) * 100).checked_div(total).unwrap_or(100);
    let rest = "-".repeat(CELLS as usize - full);
    format!("[{}{rest}] {percent:>3} %  {} of {}", "#".repeat(full), megabytes(done.min(total)), megabytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures() {
        assert_eq!(picture(0, 100), format!("[{}]   0 %  0 bytes of 100 bytes", "-".repeat(30)));
        assert_eq!(picture(1_500, 3_000), format!("[{}{}]  50 %  1.5 kB of 3.0 kB", "#".repeat(15), "-".repeat(15)));
        assert!(picture(0, 0).contains("100 %"));
    }
}
