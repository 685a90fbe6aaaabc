//! Facts about the machine, for a report: figures mean little without them.

use serde::{Deserialize, Serialize};

/// What figures were measured on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    /// Model of the processor; its architecture where the system does not tell.
    pub processor: String,
    /// Cores that the program may use.
    pub cores: usize,
    /// Bytes of memory, where the system reports it.
    pub memory: Option<u64>,
    /// Operating system and architecture.
    pub system: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Machine {
            processor: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: field(&read("/proc/meminfo"), "MemTotal").as_deref().and_then(kilobytes),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// The first value of a field in a file of lines `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = values.filter(|(n, _)| n.trim() == name).map(|(_, v)| v.trim().to_owned());
    values.next().filter(|v| !v.is_empty())
}

fn kilobytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: another\n";
        assert_eq!(field(text, "model name").as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(field(text, "vendor"), None);
        assert_eq!(kilobytes("2048 kB"), Some(2 << 20));
        assert_eq!(kilobytes("much"), None);
    }
}
