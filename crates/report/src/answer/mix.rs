//! What `tune --mix` answers.

use serde::{Deserialize, Serialize};
use tickbound_input::message::grouped;

use super::about::About;
use super::data::Values;
use super::words::{PROVED, named, shown};

/// The object that `tune --mix` prints with `--json`: the configuration that takes least over all
/// named sizes, each as often as it is launched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeMix {
    /// What it is about; the inputs are those that are no sizes.
    pub about: About,
    /// The configuration.
    pub configuration: Values,
    /// How many launches there are.
    pub launches: i64,
    /// Ticks of all launches together.
    pub total: i64,
    /// No configuration has a smaller total than this.
    pub lower: i64,
    /// The sizes.
    pub sizes: Vec<SizeOfMix>,
    /// What stopped the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// One size of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeOfMix {
    /// Its name.
    pub name: String,
    /// How often it is launched.
    pub launches: i64,
    /// Ticks of a launch with the configuration.
    pub ticks: i64,
    /// The least ticks of all configurations at this size; 0 where a stop has left it open.
    pub least: i64,
}

impl SizeMix {
    /// Whether it is proved that no configuration has a smaller total.
    pub fn proved(&self) -> bool {
        self.lower == self.total
    }

    /// The lines for people.
    pub fn words(&self) -> String {
        let count = self.sizes.len();
        let launches = grouped(self.launches);
        let mut text = format!("{}, {launches} launches at {count} sizes\n", self.about.name);
        let mut line = |name: &'static str, what: String| text += &shown(&(name, what));
        line("model:", self.about.model().1);
        line("best:", named(&self.configuration));
        line("time:", format!("{} over all launches", self.about.units.time(self.total)));
        for (place, size) in self.sizes.iter().enumerate() {
            line(if place == 0 { "sizes:" } else { "" }, self.size(size));
        }
        match self.proved() {
            true => text += &format!("{PROVED} no configuration takes less over all launches\n"),
            false => {
                let why = self.stopped_by.as_deref().unwrap_or("too many configurations are near");
                let least =
                    format!("no configuration takes less than {} ({why})", grouped(self.lower));
                line("not proved:", least);
            }
        }
        text + &shown(&("in:", format!("{:.3} s", self.seconds)))
    }

    fn size(&self, size: &SizeOfMix) -> String {
        let SizeOfMix { name, launches, ticks, least } = size;
        let over = match least {
            1.. if least < ticks => {
                format!(
                    ", {:.2} % over the least there",
                    (*ticks as f64 / *least as f64 - 1.0) * 100.0
                )
            }
            0 => ", where the least is not known".to_owned(),
            _ => ", the least there".to_owned(),
        };
        let many = if *launches == 1 { "launch" } else { "launches" };
        let time = self.about.units.time(*ticks);
        format!("{name}, {} {many}: {time}{over}", grouped(*launches))
    }
}
