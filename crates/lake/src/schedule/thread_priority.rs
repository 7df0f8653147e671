//! Which threads get a processor first. See decision 0009.
//!
//! The only unsafe code of the project: the system call has no safe way in.

use std::time::Duration;

/// How long a thread that answers senders may run before it is another's turn. The kernel (since 6.12) lets a thread that
/// wakes up go at once before one with longer turns, 1.4 ms to 3 ms unless somebody asks for others.
const SHORT: Duration = Duration::from_micros(200);

/// This thread, and those it starts, take short turns, and so come first.
pub fn come_first() {
    schedule(0, SHORT);
}

/// This thread, and those it starts, take turns of the usual length, and get a larger `nice` by this much, for good.
pub fn stand_back(by: i32) {
    schedule(by, Duration::ZERO);
}

/// Without the right to, or on another system, everything stays as it was.
fn schedule(nicer_by: i32, turn: Duration) {
    #[cfg(target_os = "linux")]
    if let Err(error) = linux::schedule(nicer_by, turn) {
        tracing::debug!(%error, "a thread runs as any other: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (nicer_by, turn);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::time::Duration;

    const NICE_MAX: i32 = 19;

    /// `turn` zero: of the system's own length.
    pub fn schedule(nicer_by: i32, turn: Duration) -> io::Result<()> {
        let this = Some(rustix::thread::gettid());
        let nice = (rustix::process::getpriority_process(this)? + nicer_by).min(NICE_MAX);
        let mut attributes = libc::sched_attr {
            size: size_of::<libc::sched_attr>() as u32,
            // Whoever started the server may have chosen another policy.
            sched_policy: 0,
            sched_flags: libc::SCHED_FLAG_KEEP_POLICY as u64,
            sched_nice: nice,
            sched_priority: 0,
            sched_runtime: turn.as_nanos() as u64,
            sched_deadline: 0,
            sched_period: 0,
        };
        // Sandboxes that forbid the one may allow the other.
        set(&mut attributes).or_else(|_| Ok(rustix::process::setpriority_process(this, nice)?))
    }

    /// Of the calling thread.
    #[expect(unsafe_code, reason = "libc and rustix have no safe function for it")]
    fn set(attributes: &mut libc::sched_attr) -> io::Result<()> {
        // SAFETY: the kernel reads `size` bytes there, which is the struct's own size, and writes to `size` at most.
        let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_mut(attributes), 0) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use super::*;

    fn nice() -> i32 {
        rustix::process::getpriority_process(Some(rustix::thread::gettid())).expect("a thread may look at itself")
    }

    #[test]
    fn a_thread_stands_back_with_those_it_starts_and_nobody_else() {
        let before = nice();
        let (own, started) = thread::spawn(|| {
            come_first();
            stand_back(3);
            (nice(), thread::spawn(nice).join().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!((own, started), ((before + 3).min(19), (before + 3).min(19)));
        assert_eq!(nice(), before);
    }

    #[test]
    fn coming_first_changes_no_nice() {
        let before = nice();
        assert!(linux::schedule(0, SHORT).is_ok());
        assert_eq!(nice(), before);
    }
}
