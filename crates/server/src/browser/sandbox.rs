//! The rights that a process gives up before it becomes Chromium or Node: the second stage of a start, as a
//! command of this binary, because everything here can then be done without unsafe code between `fork` and `exec`.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, ensure};
use rustix::process::{Resource, Rlimit, Signal};
use tidewatch_limits as limits;

/// What the process becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Chromium, whose messages go through the descriptors 3 and 4, which are its standard input and output until then.
    Browser,
    /// Node with a script: no sockets, no children, no signals to others, no writes to files.
    Script,
}

/// Arguments of `tidewatch browser-process`.
#[derive(Debug, clap::Args)]
pub struct ProcessArgs {
    /// What the process becomes.
    role: Role,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Gives up what the role does not need, and becomes the program. Returns only if that fails.
pub fn run(arguments: &ProcessArgs) -> anyhow::Result<()> {
    let (program, rest) = arguments.command.split_first().context("there is no program")?;
    confine(arguments.role)?;
    let error = Command::new(program).args(rest).exec();
    Err(error).with_context(|| format!("{} does not start", program.display()))
}

#[cfg(target_os = "linux")]
fn confine(role: Role) -> anyhow::Result<()> {
    let parent = rustix::process::getppid();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the line above.
    ensure!(parent.is_some() && rustix::process::getppid() == parent, "the worker has ended");
    rustix::process::setsid().context("no session")?;
    rustix::process::setpriority_process(None, limits::BROWSER_NICE)?;
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Fsize, limits::BROWSER_FILE_BYTES_MAX),
        (Resource::Nofile, limits::BROWSER_OPEN_FILES_MAX),
    ] {
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    match role {
        Role::Browser => move_pipes().context("the pipes of the browser cannot be moved"),
        Role::Script => system_calls::restrict(rustix::process::getpid()),
    }
}

#[cfg(not(target_os = "linux"))]
fn confine(_: Role) -> anyhow::Result<()> {
    anyhow::bail!("checks by a browser need Linux")
}

/// Chromium reads messages from descriptor 3 and writes them to 4.
#[cfg(target_os = "linux")]
fn move_pipes() -> io::Result<()> {
    let (input, output) = (rustix::io::dup(io::stdin())?, rustix::io::dup(io::stdout())?);
    if (input.as_raw_fd(), output.as_raw_fd()) != (3, 4) {
        return Err(io::Error::other("the descriptors 3 and 4 are in use"));
    }
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    // They belong to the program from here.
    std::mem::forget((input, output));
    Ok(())
}

#[cfg(target_os = "linux")]
mod system_calls {
    //! The filter of system calls of a script. Node's own permissions are above it; they know neither sockets nor
    //! signals, and are of one program. What is not named here is allowed: Node needs most of it.

    use std::collections::BTreeMap;

    use anyhow::Context;
    use rustix::process::Pid;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch, apply_filter,
    };

    /// Refused as not permitted.
    const REFUSED: &[i64] = &[
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_kcmp,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_reboot,
        libc::SYS_setpriority,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_mkdirat,
        libc::SYS_mknodat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_truncate,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
    ];

    /// Calls that newer kernels or other architectures do not have.
    #[cfg(target_arch = "x86_64")]
    const ALSO_REFUSED: &[i64] = &[
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_mknod,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const ALSO_REFUSED: &[i64] = &[];

    /// Refused as if the kernel did not have them: they pass arguments in memory, which a filter cannot read, and
    /// programs use the older calls instead.
    const UNKNOWN: &[i64] = &[
        libc::SYS_clone3,
        libc::SYS_openat2,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ];

    pub(super) fn restrict(own: Pid) -> anyhow::Result<()> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            REFUSED.iter().chain(ALSO_REFUSED).map(|call| (*call, Vec::new())).collect();
        let threads = libc::CLONE_THREAD as u64;
        rules.insert(libc::SYS_clone, vec![rule(0, SeccompCmpOp::MaskedEq(threads), 0)?]);
        let others = own.as_raw_nonzero().get() as u64;
        for call in [libc::SYS_kill, libc::SYS_tgkill] {
            rules.insert(call, vec![rule(0, SeccompCmpOp::Ne, others)?]);
        }
        rules.insert(libc::SYS_openat, writes(2)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, writes(1)?);
        apply(rules, libc::EPERM)?;
        apply(UNKNOWN.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)
    }

    /// Whether a file is opened for anything but reading.
    fn writes(argument: u8) -> anyhow::Result<Vec<SeccompRule>> {
        let (access, create) = (libc::O_ACCMODE as u64, libc::O_CREAT as u64);
        Ok(vec![
            rule(argument, SeccompCmpOp::MaskedEq(access), libc::O_WRONLY as u64)?,
            rule(argument, SeccompCmpOp::MaskedEq(access), libc::O_RDWR as u64)?,
            rule(argument, SeccompCmpOp::MaskedEq(create), create)?,
        ])
    }

    fn rule(argument: u8, comparison: SeccompCmpOp, value: u64) -> anyhow::Result<SeccompRule> {
        // The arguments compared here have 32 bits; the kernel ignores the others.
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)?;
        Ok(SeccompRule::new(vec![condition])?)
    }

    fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> anyhow::Result<()> {
        let architecture: TargetArch = std::env::consts::ARCH.try_into().context("no filter for this processor")?;
        let refuse = SeccompAction::Errno(error.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
        let program: BpfProgram = filter.try_into()?;
        apply_filter(&program).context("this kernel does not filter system calls")
    }
}
