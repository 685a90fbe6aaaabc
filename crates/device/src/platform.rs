//! Whether a platform is the device that something was measured on, by their names.

use std::collections::BTreeSet;

use tickbound_model::platforms;

/// Words that make another device of the same number.
const VARIANTS: [&str; 7] = ["ti", "super", "xt", "xtx", "laptop", "mobile", "max"];

/// The words and numbers of a name, in small letters.
fn words(name: &str) -> BTreeSet<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// Whether a device can be what a platform is named after: its name has all words of the
/// platform's, and none that makes it another model. `rtx-3090` is an `NVIDIA GeForce RTX 3090` and
/// no `RTX 3090 Ti`.
pub fn is_platform(device: &str, platform: &str) -> bool {
    let (device, platform) = (words(device), words(platform));
    let mut more = device.difference(&platform);
    platform.is_subset(&device) && !more.any(|word| VARIANTS.contains(&word.as_str()))
}

/// The shipped platform that is named after a device.
pub fn shipped(device: &str) -> Option<&'static str> {
    platforms::names().filter(|name| is_platform(device, name)).max_by_key(|name| words(name).len())
}

/// What a user should know who holds times of a device against a model of another platform;
/// nothing if that is the device, or has no name.
pub fn mismatch(device: &str, platform: &str) -> Option<String> {
    if platform.is_empty() || is_platform(device, platform) {
        return None;
    }
    let fix = match shipped(device) {
        Some(own) => format!("take --platform {own}"),
        None => {
            "take its platform file with --platform, or make one with `tickbound calibrate`".into()
        }
    };
    Some(format!("the times are of `{device}`, the model is of the platform {platform}; {fix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_and_platforms() {
        for (device, platform) in [
            ("NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"),
            ("NVIDIA RTX A4000", "rtx-a4000"),
            ("AMD Radeon PRO W6600", "radeon-w6600"),
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA A100-SXM4-40GB", "a100"),
            ("NVIDIA TITAN RTX", "titan-rtx"),
            ("AMD Instinct MI250X", "mi250x"),
            ("GeForce GTX 680", "gtx-680"),
            ("pthread-Intel(R) Xeon(R)", "pthread-Intel(R) Xeon(R)"),
        ] {
            assert!(is_platform(device, platform), "{device} and {platform}");
            assert_eq!(mismatch(device, platform), None);
        }
        for (device, platform) in [
            ("NVIDIA GeForce RTX 3090 Ti", "rtx-3090"),
            ("NVIDIA GeForce RTX 2080", "rtx-2080-ti"),
            ("NVIDIA GeForce RTX 3090 Laptop GPU", "rtx-3090"),
            ("NVIDIA H100 NVL", "h200"),
            ("NVIDIA RTX A4000", "rtx-a6000"),
            ("pthread-haswell", "fermi-2021"),
        ] {
            assert!(!is_platform(device, platform), "{device} and {platform}");
        }
    }

    #[test]
    fn what_is_said() {
        assert_eq!(
            mismatch("NVIDIA RTX A4000", "rtx-3090").unwrap(),
            "the times are of `NVIDIA RTX A4000`, the model is of the platform rtx-3090; take \
             --platform rtx-a4000"
        );
        assert!(
            mismatch("gfx90a", "h200").unwrap().ends_with("or make one with `tickbound calibrate`")
        );
        assert_eq!(mismatch("gfx90a", ""), None);
    }

    /// No platform takes another's device for its own.
    #[test]
    fn shipped_platforms_are_told_apart() {
        for device in platforms::names() {
            for platform in platforms::names() {
                assert_eq!(
                    is_platform(device, platform),
                    device == platform,
                    "{device}, {platform}"
                );
            }
        }
    }
}
