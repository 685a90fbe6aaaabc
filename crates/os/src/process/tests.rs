use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn within(milliseconds: u64) -> ProcessLimits<'static> {
    let time = Some(Duration::from_millis(milliseconds));
    ProcessLimits { time, grace: Duration::from_millis(200), ..ProcessLimits::default() }
}

fn out_of_time(finished: &Finished) -> bool {
    matches!(finished.ended, Ended::Stopped(ProcessStop::Time(_)))
}

#[test]
fn streams_and_ends_are_told_apart() {
    let finished =
        run(&mut shell("cat; echo oh >&2; exit 3"), "in\n", ProcessLimits::default()).unwrap();
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("in\n", "oh\n"));
    assert_eq!((finished.ended, finished.last_error()), (Ended::Exit(3), Some("oh")));
    assert!(finished.memory > 0 && !finished.truncated);
    let killed = run(&mut shell("kill -9 $$"), "", ProcessLimits::default()).unwrap();
    assert_eq!(killed.ended, Ended::Signal(9));
    assert_eq!(killed.ended.to_string(), "signal 9 (killed)");
    assert!(run(&mut Command::new("no-such-program-here"), "", ProcessLimits::default()).is_err());
}

#[test]
fn input_that_is_not_read_and_bytes_that_are_no_text() {
    let much = vec![b'x'; 1 << 20];
    let finished = run(&mut shell(r"printf 'a\377b'"), much.clone(), within(60_000)).unwrap();
    assert_eq!((finished.stdout.as_str(), finished.ended), ("a\u{fffd}b", Ended::Exit(0)));
    let finished = run(&mut Command::new("cat"), much, within(60_000)).unwrap();
    assert_eq!(finished.stdout.len(), 1 << 20);
}

#[test]
fn a_limit_asks_first() {
    let script = "trap 'echo reached; exit 0' INT; while :; do sleep 0.02; done";
    // Long enough for the shell to begin, and then to hear, on a busy machine.
    let limits = ProcessLimits { grace: Duration::from_secs(30), ..within(1_500) };
    // Where these tests run in the background, SIGINT is ignored, and a shell does not trap what
    // was ignored before.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", "/bin/sh", "-c", script]);
    let finished = run(&mut command, "", limits).unwrap();
    assert_eq!(finished.stdout, "reached\n");
    assert!(out_of_time(&finished) && finished.ended.to_string() == "time limit of 1.5 s");
}

#[test]
fn who_does_not_listen_is_killed_with_all_that_it_has_started() {
    let script = "trap '' INT; sleep 61 & sleep 61 & echo $$; wait";
    let finished = run(&mut shell(script), "", within(200)).unwrap();
    assert!(out_of_time(&finished));
    assert_eq!(alive_in(finished.stdout.trim()), [""; 0]);
    // The inner process is in its own session, and holds the output open for a minute.
    let script = "trap '' INT; setsid sleep 60 & wait; sleep 60";
    let finished = run(&mut shell(script), "", within(100)).unwrap();
    assert!(out_of_time(&finished) && finished.time < Duration::from_secs(30));
}

/// The processes of a group that still run after some time: a kill takes effect once the process
/// gets a turn.
fn alive_in(group: &str) -> Vec<String> {
    let since = Instant::now();
    loop {
        let alive = running_in(group);
        if alive.is_empty() || since.elapsed() > Duration::from_secs(20) {
            return alive;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes of a group that run; what has ended may wait for its new parent to notice.
fn running_in(group: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|p| std::fs::read_to_string(p.path().join("stat")).ok());
    // `pid (name) state parent group ...`
    let alive = |stat: &String| {
        let mut words = stat.rsplit(')').next().unwrap_or("").split_whitespace();
        let (state, _, of_group) = (words.next(), words.next(), words.next());
        of_group == Some(group) && state != Some("Z")
    };
    stats.filter(alive).collect()
}

#[test]
fn what_a_child_leaves_behind_ends_with_it() {
    let finished = run(&mut shell("sleep 60 & echo $$"), "", ProcessLimits::default()).unwrap();
    assert_eq!(alive_in(finished.stdout.trim()), [""; 0]);
    assert!(finished.time < Duration::from_secs(30));
}

#[test]
fn a_child_that_has_printed_enough_is_stopped() {
    let mut seen = Vec::new();
    let mut on_line = |line: &str| {
        seen.push(line.to_owned());
        match line {
            "a" => OutputLine::Drop,
            "c" => OutputLine::Enough,
            _ => OutputLine::Keep,
        }
    };
    let mut command = shell("echo a; echo b; echo c; sleep 62");
    let finished = run_lines(&mut command, ProcessLimits::default(), &mut on_line).unwrap();
    assert_eq!(finished.ended, Ended::Stopped(ProcessStop::Unneeded));
    assert_eq!((finished.stdout.as_str(), seen.len()), ("b\nc\n", 3));
}

#[test]
fn memory_is_limited_and_flags_are_heard() {
    let set = AtomicBool::new(true);
    let limits = ProcessLimits { grace: Duration::from_millis(100), ..ProcessLimits::default() };
    for (limits, why) in [
        (ProcessLimits { memory: Some(1), ..limits }, ProcessStop::Memory(1)),
        (ProcessLimits { interrupt: &set, ..limits }, ProcessStop::Interrupted),
        (ProcessLimits { unneeded: Some(&set), ..limits }, ProcessStop::Unneeded),
    ] {
        assert_eq!(run(&mut shell("sleep 60"), "", limits).unwrap().ended, Ended::Stopped(why));
    }
}

#[test]
fn output_is_limited() {
    let limits = ProcessLimits { output: Some(1 << 20), ..within(60_000) };
    let finished = run(&mut shell("yes"), "", limits).unwrap();
    assert_eq!(finished.ended, Ended::Stopped(ProcessStop::Output(1 << 20)));
    assert_eq!(finished.ended.to_string(), "output limit of 2 MB");
}

/// Run by the test below in its own process, which is then killed.
#[test]
#[ignore = "waits until it is killed"]
fn starts_a_child_and_waits() {
    let script = "sleep 64 & echo group $$; wait; sleep 64";
    let mut on_line = |line: &str| {
        println!("{line}");
        OutputLine::Keep
    };
    run_lines(&mut shell(script), ProcessLimits::default(), &mut on_line).unwrap();
}

#[test]
fn who_is_killed_takes_its_children_along() {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(["starts_a_child_and_waits", "--ignored", "--nocapture"]);
    let mut parent = tests.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = io::BufRead::lines(io::BufReader::new(parent.stdout.take().unwrap()));
    let group = lines.map_while(Result::ok).find_map(|line| {
        let group = line.split_once("group ")?.1.trim().to_owned();
        Some(group)
    });
    let group = group.unwrap();
    assert!(!running_in(&group).is_empty());
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(alive_in(&group), [""; 0]);
}

#[test]
fn a_group_that_is_dropped_has_ended() {
    let mut group = Group::spawn(shell("sleep 63 & wait").stdin(Stdio::null())).unwrap();
    let pid = group.pid().as_raw_nonzero().to_string();
    assert!(!group.has_ended().unwrap() && !running_in(&pid).is_empty());
    group.kill();
    assert_eq!(group.wait().unwrap().0, Ended::Signal(9));
    drop(group);
    assert_eq!(alive_in(&pid), [""; 0]);
}
