//! A process and all that it has started, and their memory, from `/proc`.

use rustix::process::Pid;

/// A process and all that descends from it; it alone where there is no `/proc`.
pub(crate) fn descendants(pid: Pid) -> Vec<Pid> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
        let children = tasks.into_iter().flatten().flatten().filter_map(|task| {
            // Each thread lists the processes that it has started.
            std::fs::read_to_string(task.path().join("children")).ok()
        });
        for children in children.collect::<Vec<_>>() {
            let ids = children.split_whitespace().filter_map(|id| id.parse().ok());
            all.extend(ids.filter_map(Pid::from_raw));
        }
        next += 1;
    }
    all
}

/// Bytes resident in a process and all that descends from it.
pub(crate) fn resident(pid: Pid) -> u64 {
    let pages = |pid: Pid| {
        let status = std::fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_nonzero()));
        status.ok()?.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let all: u64 = descendants(pid).into_iter().filter_map(pages).sum();
    all * rustix::param::page_size() as u64
}
