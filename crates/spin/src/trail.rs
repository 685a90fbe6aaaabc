//! What a run of the model states of itself, and whether our simulator agrees.
//!
//! A run that reaches its end prints `tickbound: time=44 WG=4 TS=2`, and before that, where
//! schedules are open, its decisions: `tickbound: start time=3 group=0 warp=1` and `tickbound:
//! place group=2 unit=1`. The same lines come from SPIN's simulator and from a trail that the
//! verifier replays.
//!
//! Nothing that SPIN states is believed before our simulator has run it: the configuration must
//! belong to the space, the schedule must be one that the simulator can follow decision by
//! decision, and the time must be the same. If not, that is an error that shows both sides.

use tickbound_model::Bound;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_simulator::Script;

use crate::error::SpinError;
use crate::options::SpinSubject;

/// Most characters of a schedule that a message shows.
const SHOWN: usize = 300;

/// The lines of one run of the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The time in ticks and the variables that the last step prints.
    pub end: Option<(i64, Vec<(String, i64)>)>,
    /// Which warp of which group is started when: (tick, group, warp).
    pub starts: Vec<(i64, i64, i64)>,
    /// Which group goes to which unit, in the order in which they go.
    pub places: Vec<(i64, i64)>,
    /// Steps of the trail, if a replay says so.
    pub steps: Option<u64>,
}

impl Lines {
    /// Reads everything that follows `tickbound:` on its own line; other lines are left out.
    ///
    /// # Errors
    /// A line that begins as ours does and goes on otherwise; the line.
    pub fn parse<S: AsRef<str>>(lines: &[S]) -> Result<Lines, String> {
        let mut read = Lines::default();
        for line in lines {
            let line = line.as_ref();
            if let Some(said) = line.trim_start().strip_prefix("tickbound:") {
                read.line(said).ok_or_else(|| line.trim().to_owned())?;
            } else if let Some(rest) = line.trim_start().strip_prefix("spin: trail ends after ") {
                read.steps = rest.split(' ').next().and_then(|n| n.parse().ok());
            }
        }
        Ok(read)
    }

    fn line(&mut self, said: &str) -> Option<()> {
        let said = said.trim();
        if let Some(rest) = said.strip_prefix("start ") {
            let values = pairs(rest)?;
            let [time, group, warp] = named(&values, ["time", "group", "warp"])?;
            self.starts.push((time, group, warp));
        } else if let Some(rest) = said.strip_prefix("place ") {
            let values = pairs(rest)?;
            let [group, unit] = named(&values, ["group", "unit"])?;
            self.places.push((group, unit));
        } else {
            let mut values = pairs(said)?;
            if values.first()?.0 != "time" {
                return None;
            }
            let (_, time) = values.remove(0);
            self.end = Some((time, values));
        }
        Some(())
    }

    /// The unit of each group, by group; `None` if a group is missing or placed twice.
    fn units(&self) -> Option<Vec<i64>> {
        let mut places = self.places.clone();
        places.sort_unstable();
        let all = places.iter().zip(0..).all(|((group, _), expected)| *group == expected);
        all.then(|| places.into_iter().map(|(_, unit)| unit).collect())
    }
}

/// `a=1 b=-2`.
fn pairs(text: &str) -> Option<Vec<(String, i64)>> {
    text.split_whitespace()
        .map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect()
}

/// The values, if these are the names, in this order.
fn named<const N: usize>(values: &[(String, i64)], names: [&str; N]) -> Option<[i64; N]> {
    let fit = values.len() == N && values.iter().zip(names).all(|((name, _), n)| name == n);
    fit.then(|| std::array::from_fn(|i| values[i].1))
}

/// A run of the model that has been found, and confirmed by our simulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinTrail {
    /// The configuration and its time.
    pub found: TimedConfiguration,
    /// The index of the configuration in the space.
    pub index: usize,
    /// The schedule; [`Script::FirstCome`] where the problem leaves nothing open.
    pub script: Script,
    /// Steps of the model's run; `None` for a run of SPIN's simulator.
    pub steps: Option<u64>,
    /// The run it comes from, as an index into the log of runs.
    pub run: usize,
    /// Our simulator has run it and takes as many ticks; false if it is too large to simulate.
    pub confirmed: bool,
}

impl SpinSubject<'_> {
    /// The run that these lines tell of, after our simulator has confirmed it; `None` if they do
    /// not tell of an end.
    ///
    /// # Errors
    /// Lines that do not fit the problem, or a time or a schedule that our simulator does not
    /// confirm.
    pub fn confirm(&self, lines: &Lines, run: usize) -> Result<Option<SpinTrail>, SpinError> {
        let Some((time, values)) = &lines.end else { return Ok(None) };
        let (names, values): (Vec<&str>, Vec<i64>) =
            values.iter().map(|(name, value)| (name.as_str(), *value)).unzip();
        if !names.iter().eq(self.model.parameters.iter().map(|name| &name.promela)) {
            let why = format!("it names the parameters `{}`", names.join(" "));
            return Err(SpinError::Trail(why));
        }
        let index = self.space.bound.iter().position(|b| b.configuration.0 == values);
        let Some(index) = index else {
            let why = format!("its parameters {values:?} are no configuration of the space");
            return Err(SpinError::Trail(why));
        };
        let bound = &self.space.bound[index];
        let script = self.script(lines)?;
        let confirmed = self.agrees(bound, &script, *time)?;
        let found = TimedConfiguration { configuration: bound.configuration.clone(), time: *time };
        Ok(Some(SpinTrail { found, index, script, steps: lines.steps, run, confirmed }))
    }

    fn script(&self, lines: &Lines) -> Result<Script, SpinError> {
        if !self.model.open_schedule {
            return Ok(Script::FirstCome);
        }
        let why = || SpinError::Trail(format!("its groups are placed as {:?}", lines.places));
        let units = lines.units().ok_or_else(why)?;
        Ok(Script::Starts { starts: lines.starts.clone(), units })
    }

    /// True if the simulator takes as long, false if it cannot say because the run is too large.
    fn agrees(&self, bound: &Bound, script: &Script, time: i64) -> Result<bool, SpinError> {
        let disagreement = |simulator: String| {
            let configuration = self.problem.name_values(&bound.configuration);
            let what =
                format!("{configuration}: SPIN takes {time} ticks, the simulator {simulator}");
            SpinError::Disagreement(what)
        };
        match script.run(self.problem, bound, &Default::default()) {
            Ok(Some(run)) if run.time == time => Ok(true),
            Ok(Some(run)) => Err(disagreement(format!("{} ticks", run.time))),
            Ok(None) => {
                let schedule: String = format!("{script:?}").chars().take(SHOWN).collect();
                Err(disagreement(format!("cannot follow the schedule {schedule}")))
            }
            Err(e) if e.is_too_large() => Ok(false),
            Err(e) => Err(disagreement(e.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = [
            "pan: ltl formula OverTime",
            "MSC: ~G 12",
            "      tickbound: place group=1 unit=0",
            "tickbound: place group=0 unit=1",
            "tickbound: start time=0 group=0 warp=1",
            "\t\ttickbound: start time=12 group=1 warp=0",
            "tickbound: time=44 WG=4 TS=-2",
            "pan:1: assertion violated  !( !(( !(FIN)||(time>43)))) (at depth 89)",
            "spin: trail ends after 89 steps",
            "\tint    time:\t44",
        ];
        let read = Lines::parse(&text).unwrap();
        assert_eq!(read.end, Some((44, vec![("WG".into(), 4), ("TS".into(), -2)])));
        assert_eq!(read.starts, [(0, 0, 1), (12, 1, 0)]);
        assert_eq!(read.units(), Some(vec![1, 0]));
        assert_eq!(read.steps, Some(89));
    }

    #[test]
    fn lines_without_an_end_or_without_parameters() {
        assert_eq!(Lines::parse(&["spin: cannot find trail"]).unwrap(), Lines::default());
        let read = Lines::parse(&["tickbound: time=7"]).unwrap();
        assert_eq!(read.end, Some((7, vec![])));
    }

    #[test]
    fn lines_that_are_nearly_ours_are_refused() {
        let cases = [
            "tickbound:",
            "tickbound: times=3",
            "tickbound: WG=3 time=2",
            "tickbound: time=3 WG",
            "tickbound: time=3 WG=x",
            "tickbound: time=99999999999999999999",
            "tickbound: start time=3 warp=1 group=0",
            "tickbound: start time=3 group=0",
            "tickbound: place group=0 unit=1 more=2",
            "tickbound: out of memory",
        ];
        for line in cases {
            assert_eq!(Lines::parse(&[line]), Err(line.to_owned()), "{line}");
        }
    }

    #[test]
    fn groups_are_placed_once_each() {
        let placed =
            |places: &[(i64, i64)]| Lines { places: places.to_vec(), ..Lines::default() }.units();
        assert_eq!(placed(&[(1, 5), (0, 4)]), Some(vec![4, 5]));
        assert_eq!(placed(&[(0, 1), (2, 1)]), None);
        assert_eq!(placed(&[(0, 1), (0, 2)]), None);
    }
}
