//! A child that leads a process group, and ends with all of it.
//!
//! A process that is killed cannot end its children. So each group has a *keeper*: a shell in the
//! group that waits for the end of a pipe whose other end this process holds. When this process
//! ends, however it does, the keeper kills the group, itself with it. What has left the group (a
//! daemon) is not found.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use wait4::Wait4;

use crate::process::ended::Ended;
use crate::process::memory;

/// What the keeper runs. It stays when the group is interrupted.
const KEEPER: &str = "trap '' HUP INT TERM; read line; kill -9 0";

/// A child that leads a process group. When it is dropped, what is left of the group is killed, and
/// the child has been waited for.
#[derive(Debug)]
pub struct Group {
    child: Child,
    pid: Pid,
    /// `None` where there is no shell.
    keeper: Option<Child>,
    /// How it ended, and the most bytes resident; once it has been waited for. From then on its
    /// number may be that of another process.
    waited: Option<(Ended, u64)>,
}

impl Group {
    /// Starts `command` as the leader of a new group.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Group> {
        let child = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&child);
        let keeper = keep(pid);
        Ok(Group { child, pid, keeper, waited: None })
    }

    /// Those ends of its pipes that have not been taken yet.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let child = &mut self.child;
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// True once the leader has ended. It stays as it is, so that its number is not given away.
    pub(crate) fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.pid), options) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            other => Ok(other?.is_some()),
        }
    }

    /// Asks the group to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        if self.waited.is_none() {
            // A group that has ended by now is no fault; nor is it below.
            let _ = kill_process_group(self.pid, Signal::INT);
        }
    }

    /// Kills the group, and what the leader has started in other groups.
    pub fn kill(&self) {
        if self.waited.is_some() {
            return;
        }
        for pid in memory::descendants(self.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// Waits for the leader; what is left of the group is killed then. Returns how it ended, and
    /// the most bytes that it, or one of the children that it has waited for, had resident.
    ///
    /// # Errors
    /// If the system cannot say.
    pub fn wait(&mut self) -> io::Result<(Ended, u64)> {
        while self.waited.is_none() {
            match self.child.wait4() {
                Ok(used) => {
                    let ended = match (used.status.code(), used.status.signal()) {
                        (Some(code), _) => Ended::Exit(code),
                        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
                    };
                    self.waited = Some((ended, used.rusage.maxrss));
                    self.dismiss();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.waited.ok_or_else(|| io::Error::other("the child cannot be waited for"))
    }

    /// Lets the keeper end the group. Until then the group has a member, so that its number is not
    /// given away.
    fn dismiss(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            // It has no other parent; after any error it has ended too.
            let _ = keeper.wait();
        }
    }
}

/// Starts the keeper of a group.
fn keep(group: Pid) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", KEEPER]).current_dir("/").process_group(group.as_raw_nonzero().get());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}
