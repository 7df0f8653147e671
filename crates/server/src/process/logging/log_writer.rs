//! Standard error as a sink for log lines that never returns an error.
//!
//! A log line that cannot be written (the reader of the pipe has exited, the disk of the log file is full) is counted
//! and dropped: no thread of the server may fail because of its log.

use std::io::{self, Stderr, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_subscriber::fmt::MakeWriter;

static LINES_LOST: AtomicU64 = AtomicU64::new(0);

/// Log lines that could not be written since the process started.
pub fn lines_lost() -> u64 {
    LINES_LOST.load(Ordering::Relaxed)
}

/// Writes each log line to standard error.
#[derive(Debug, Clone, Copy)]
pub struct LogWriter;

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = Lossy<Stderr>;

    fn make_writer(&'w self) -> Lossy<Stderr> {
        Lossy { sink: io::stderr(), lost: &LINES_LOST }
    }
}

/// Accepts every line. Errors of `sink` are counted in `lost`.
pub struct Lossy<W> {
    sink: W,
    lost: &'static AtomicU64,
}

impl<W: Write> Write for Lossy<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.sink.write_all(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Standard error is not buffered: an accepted line has been written.
        let _ = self.sink.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails from the third line on.
    struct Filling(usize);

    impl Write for Filling {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 2 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(line.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted_and_no_error() {
        static LOST: AtomicU64 = AtomicU64::new(0);
        let mut writer = Lossy { sink: Filling(0), lost: &LOST };
        for _ in 0..5 {
            writer.write_all(b"a line\n").expect("errors are swallowed");
            writer.flush().expect("errors are swallowed");
        }
        assert_eq!(LOST.load(Ordering::Relaxed), 3);
    }
}
