//! The bracket only ever closes, says so to whoever looks on, and notices what cannot be.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tickbound_model::Configuration;
use tickbound_model::verdict::StopReason;
use tickbound_solver::bracket::{Bounds, Bracket, Incumbent};

static NEVER: AtomicBool = AtomicBool::new(false);

fn bracket() -> Bracket<'static> {
    Bracket::new(None, &NEVER, &|_| {})
}

fn bounds(lower: i64, best: Option<(usize, i64)>) -> Bounds {
    Bounds { lower, best }
}

fn of(value: i64) -> Configuration {
    Configuration(vec![value])
}

#[test]
fn the_middle_lies_below_the_upper_end() {
    for (lower, best, upper, middle) in [
        (0, None, i64::MAX, 1),
        (7, None, i64::MAX, 15),
        (i64::MAX, None, i64::MAX, i64::MAX),
        (3, Some((0, 4)), 4, 3),
        (3, Some((0, 5)), 5, 3),
        (3, Some((0, 6)), 6, 4),
        (3, Some((5, 20)), 20, 11),
    ] {
        let bounds = bounds(lower, best);
        assert_eq!((bounds.upper(), bounds.middle()), (upper, middle), "{bounds:?}");
    }
}

#[test]
fn it_only_closes_and_tells_each_change_once() {
    let seen: Mutex<Vec<Incumbent>> = Mutex::default();
    let tell = |known: &Incumbent| seen.lock().unwrap().push(known.clone());
    let bracket = Bracket::new(None, &NEVER, &tell);
    bracket.raise(0);
    bracket.raise(5);
    bracket.raise(5);
    bracket.raise(4);
    assert!(!bracket.closed() && !bracket.done());
    bracket.offer(3, &of(3), 9);
    bracket.offer(2, &of(2), 10);
    bracket.offer(4, &of(4), 9);
    bracket.offer(3, &of(3), 9);
    assert!(!bracket.closed() && !bracket.done());
    bracket.offer(1, &of(1), 9);
    bracket.offer(0, &of(0), 6);
    bracket.raise_rest(100);
    assert!(bracket.closed() && bracket.done());
    bracket.close();
    let known = |lower, best: Option<(usize, i64)>| Incumbent {
        bounds: bounds(lower, best),
        best: best.map(|(index, _)| of(index as i64)),
    };
    let told = [
        known(5, None),
        known(5, Some((3, 9))),
        known(5, Some((1, 9))),
        known(5, Some((0, 6))),
        known(6, Some((0, 6))),
    ];
    assert_eq!(*seen.lock().unwrap(), told);
    assert_eq!((bracket.bounds(), bracket.fault().is_ok()), (told[4].bounds, true));
}

#[test]
fn it_closes_with_a_best_configuration_alone() {
    let bracket = bracket();
    bracket.close();
    assert!(!bracket.closed(), "nothing was found");
    let other = self::bracket();
    other.offer(0, &of(0), 6);
    other.close();
    assert!(other.closed() && other.fault().is_ok());
    assert_eq!(other.bounds(), bounds(6, Some((0, 6))));
}

#[test]
fn what_cannot_be_is_a_fault() {
    // Equal is no contradiction: that is how it closes.
    let equal = bracket();
    equal.offer(0, &of(0), 6);
    equal.raise(6);
    equal.offer(1, &of(1), 6);
    assert!(equal.check(6).is_ok() && equal.check(7).is_ok() && equal.fault().is_ok());
    let said = |bracket: &Bracket<'_>| bracket.fault().unwrap_err().0;
    let text = |lower: i64, time: i64| {
        format!("{lower} ticks were proved to be a lower bound, but a configuration takes {time}")
    };
    let raised = bracket();
    raised.offer(0, &of(0), 6);
    raised.raise(7);
    assert_eq!((said(&raised), raised.bounds().lower), (text(7, 6), 6));
    let offered = bracket();
    offered.raise(7);
    offered.offer(0, &of(0), 6);
    assert_eq!(said(&offered), text(7, 6));
    let checked = bracket();
    checked.raise(7);
    assert_eq!(checked.check(5).unwrap_err().0, text(7, 5));
    // The first one stays.
    checked.offer(0, &of(0), 6);
    assert_eq!(said(&checked), text(7, 5));
}

#[test]
fn what_a_solver_has_refuted() {
    let bracket = bracket();
    assert_eq!(bracket.refuted(), -1);
    bracket.refute(7);
    assert_eq!((bracket.refuted(), bracket.bounds().lower), (7, 8));
    bracket.refute(3);
    assert_eq!((bracket.refuted(), bracket.bounds().lower), (7, 8));
    bracket.count_call();
    bracket.count_call();
    assert_eq!(bracket.calls(), 2);
}

#[test]
fn what_ends_a_search_is_remembered() {
    let free = bracket();
    assert!(!free.out_of_time() && !free.done() && free.stopped_by().is_none());
    let before = free.seconds();
    std::thread::sleep(Duration::from_millis(2));
    assert!(free.seconds() > before && before >= 0.0);
    free.give_up("unknown".into());
    assert_eq!(free.stopped_by(), Some(StopReason::Solver("unknown".into())));

    let stopped = AtomicBool::new(true);
    let interrupted = Bracket::new(None, &stopped, &|_| {});
    assert!(interrupted.out_of_time() && interrupted.done());
    interrupted.give_up("because it was stopped".into());
    assert_eq!(interrupted.stopped_by(), Some(StopReason::Interrupted));

    // The clock also sets the flag, and is the reason.
    let hour = Duration::from_secs(3600);
    let late = Bracket::new(Some(Duration::ZERO), &stopped, &|_| {});
    assert!(late.out_of_time());
    assert_eq!(late.stopped_by(), Some(StopReason::TimeOut(0.0)));
    let early = Bracket::new(Some(hour), &NEVER, &|_| {});
    assert!(!early.out_of_time() && !early.since(None).out_of_time());
}

#[test]
fn the_time_counts_from_when_it_began() {
    let hour = Duration::from_secs(3600);
    let Some(before) = Instant::now().checked_sub(hour) else { return };
    let bracket = Bracket::new(Some(hour), &NEVER, &|_| {}).since(Some(before));
    assert!(bracket.out_of_time() && bracket.reopened().out_of_time());
    assert_eq!(bracket.stopped_by(), Some(StopReason::TimeOut(3600.0)));
    // The bracket itself is new.
    assert!(bracket.seconds() < 3600.0);
    let half = Bracket::new(Some(hour), &NEVER, &|_| {}).since(before.checked_add(hour / 2));
    assert!(!half.out_of_time() && !half.reopened().out_of_time());
}

#[test]
fn a_reopened_one_knows_nothing() {
    let told = AtomicUsize::new(0);
    let count = |_: &Incumbent| {
        told.fetch_add(1, Ordering::Relaxed);
    };
    let bracket = Bracket::new(None, &NEVER, &count);
    bracket.raise(5);
    let again = bracket.reopened();
    again.raise(2);
    assert_eq!((again.bounds(), again.calls()), (bounds(2, None), 0));
    assert_eq!((bracket.bounds(), told.load(Ordering::Relaxed)), (bounds(5, None), 1));
}
