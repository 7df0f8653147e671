//! Thread priorities. See decision 0009.
//!
//! The only unsafe code of the project: no crate has a safe function for the system call.
//!
//! Threads that serve exporters get short slices, queries and merges a lower priority.

use std::time::Duration;

/// Time slice of a thread that answers exporters. The kernel (since 6.12) runs a waking thread at once before one with
/// a longer slice; the default is 1.4 ms to 3 ms.
const SHORT_SLICE: Duration = Duration::from_micros(200);

/// Gives this thread, and the threads it starts, a short time slice, so that they run soon after they wake up. Has no
/// effect without permission or on other systems than Linux.
pub fn latency_sensitive() {
    schedule(0, SHORT_SLICE);
}

/// Increases `nice` by `by` for this thread and the threads it starts, permanently, with the default time slice. Has no
/// effect without permission or on other systems than Linux.
pub fn background(by: i32) {
    schedule(by, Duration::ZERO);
}

/// Failures are logged and leave the priority unchanged.
fn schedule(nicer_by: i32, slice: Duration) {
    #[cfg(target_os = "linux")]
    if let Err(error) = linux::schedule(nicer_by, slice) {
        tracing::debug!(%error, "a thread runs as any other: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (nicer_by, slice);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::time::Duration;

    const NICE_MAX: i32 = 19;

    /// `slice` zero selects the system's default.
    pub fn schedule(nicer_by: i32, slice: Duration) -> io::Result<()> {
        let this = Some(rustix::thread::gettid());
        let nice = (rustix::process::getpriority_process(this)? + nicer_by).min(NICE_MAX);
        let mut attributes = libc::sched_attr {
            size: size_of::<libc::sched_attr>() as u32,
            // The parent process may have chosen another policy.
            sched_policy: 0,
            sched_flags: libc::SCHED_FLAG_KEEP_POLICY as u64,
            sched_nice: nice,
            sched_priority: 0,
            sched_runtime: slice.as_nanos() as u64,
            sched_deadline: 0,
            sched_period: 0,
        };
        // Sandboxes that forbid this system call may allow the other.
        set(&mut attributes).or_else(|_| Ok(rustix::process::setpriority_process(this, nice)?))
    }

    /// Sets the attributes of the calling thread.
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
    fn background_changes_the_thread_and_those_it_starts_only() {
        let before = nice();
        let (own, started) = thread::spawn(|| {
            latency_sensitive();
            background(3);
            (nice(), thread::spawn(nice).join().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!((own, started), ((before + 3).min(19), (before + 3).min(19)));
        assert_eq!(nice(), before);
    }

    #[test]
    fn a_short_slice_does_not_change_nice() {
        let before = nice();
        assert!(linux::schedule(0, SHORT_SLICE).is_ok());
        assert_eq!(nice(), before);
    }
}
