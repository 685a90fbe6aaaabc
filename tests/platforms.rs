//! The shipped platforms: every one can be read, says what it should, and names its sources.

use serde_json::Value;
use tickbound_model::{AccessKind, Platform, platforms};

fn load(name: &str) -> Platform {
    let json = platforms::find(name).unwrap_or_else(|e| panic!("{e}"));
    Platform::from_json(name, &json).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn key_numbers() {
    // units, elements per unit, ticks of a global, a local access and an operation
    for (name, units, elements, global, local, compute) in [
        ("abstract-2023", 1, 4, 4, 1, 1),
        ("fermi-2021", 16, 32, 100, 1, 1),
        ("gtx-570", 15, 32, 600, 6, 1),
        ("p104-100", 15, 128, 486, 25, 6),
        ("a100", 108, 64, 466, 29, 4),
        ("h200", 132, 128, 479, 29, 4),
        ("gtx-680", 8, 192, 500, 33, 9),
        ("rtx-2080-ti", 68, 64, 500, 23, 4),
        ("titan-rtx", 72, 64, 500, 23, 4),
        ("rtx-3090", 82, 128, 500, 23, 4),
        ("rtx-a4000", 48, 128, 500, 23, 4),
        ("rtx-a6000", 84, 128, 500, 23, 4),
        ("h100", 132, 128, 479, 29, 4),
        ("mi250x", 110, 64, 600, 64, 4),
        ("radeon-w6600", 14, 128, 600, 64, 5),
        ("radeon-w7800", 35, 128, 600, 64, 5),
        ("pocl-xeon", 2, 1, 5, 5, 1),
    ] {
        let p = load(name);
        assert_eq!(p.name, name);
        assert_eq!((p.units(), p.elements_per_unit()), (units, elements), "{name}");
        let prices =
            [AccessKind::Global, AccessKind::Local, AccessKind::Compute].map(|a| p.price(a));
        assert_eq!(prices, [global, local, compute], "{name}");
    }
    assert_eq!(platforms::names().count(), 17);
    let warps = load("fermi-2021").warps().expect("warps");
    assert_eq!((warps.width, warps.dispatchers), (16, 2));
}

/// Open schedules are asked for by a problem, not by choosing a device.
#[test]
fn devices_have_no_warps() {
    for name in platforms::names().filter(|n| !["abstract-2023", "fermi-2021"].contains(n)) {
        let p = load(name);
        assert_eq!(p.warps(), None, "{name}");
        let resources = p.resources();
        let (width, items) = match name {
            "mi250x" => (64, 1024),
            "pocl-xeon" => (1, 4096),
            _ => (32, 1024),
        };
        assert_eq!(resources.warp_width, Some(width), "{name}");
        let rates = [resources.real_lanes, resources.l2_bytes_per_clock, resources.l2_latency];
        assert!(rates.iter().all(Option::is_some), "{name}");
        assert_eq!(p.max_group_size(), Some(items), "{name}");
    }
}

#[test]
fn every_number_has_a_unit_and_a_source() {
    fn check(path: &str, value: &Value) -> usize {
        let mut numbers = 0;
        for (key, field) in value.as_object().expect("an object") {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "$schema" | "name" | "tick" | "notes" => assert!(field.is_string(), "{path}"),
                "warps" | "resources" => numbers += check(&path, field),
                _ => {
                    numbers += 1;
                    assert!(field["value"].is_i64(), "{path}");
                    for text in ["unit", "source"] {
                        let text = field[text].as_str().unwrap_or_default();
                        assert!(!text.trim().is_empty(), "{path} says neither unit nor source");
                    }
                }
            }
        }
        numbers
    }
    for name in platforms::names() {
        let json = platforms::find(name).unwrap_or_else(|e| panic!("{e}"));
        assert!(check(name, &json) >= 6, "{name}");
    }
    assert!(load("h200").source("global_access").is_some_and(|s| s.contains("Luo")));
}

#[test]
fn resources_are_read_and_refused() {
    let read = |resources: Value, warps: Value| {
        let mut json = serde_json::json!({ "units_per_device": 2, "elements_per_unit": 4,
            "global_access": 5, "resources": resources });
        if !warps.is_null() {
            json["warps"] = warps;
        }
        Platform::from_json("p", &json).map_err(|e| e.to_string())
    };
    let sourced =
        serde_json::json!({ "warp_width": { "value": 16, "unit": "items", "source": "s" } });
    let p = read(sourced.clone(), Value::Null).unwrap();
    assert_eq!((p.resources().warp_width, p.source("warp_width")), (Some(16), Some("s")));
    assert_eq!(p.warps(), None);
    let both = read(sourced, serde_json::json!({ "width": 16, "dispatchers": 2 })).unwrap_err();
    assert_eq!(both, "p.resources.warp_width: is given by `warps` too; keep one of them");
    let unknown = read(serde_json::json!({ "warp_widht": 16 }), Value::Null).unwrap_err();
    assert_eq!(unknown, "p.resources.warp_widht: unknown field; did you mean `warp_width`?");
    let least = read(serde_json::json!({ "banks": 0 }), Value::Null).unwrap_err();
    assert!(least.contains("write the banks of local memory, from 1 to"), "{least}");
}

#[test]
fn names_that_are_wrong() {
    for (name, message) in [
        ("H200", "platform: no platform is called `H200`; did you mean `h200`?"),
        ("gtx570", "platform: no platform is called `gtx570`; did you mean `gtx-570`?"),
        ("a10", "platform: no platform is called `a10`; did you mean `a100`?"),
        (
            "cray",
            "platform: no platform is called `cray`; write one of abstract-2023, fermi-2021, \
             gtx-570, gtx-680, p104-100, rtx-2080-ti, titan-rtx, a100, rtx-3090, rtx-a4000, \
             rtx-a6000, radeon-w6600, mi250x, h100, radeon-w7800, h200, pocl-xeon, or the path of \
             a \
             platform file",
        ),
        (
            "",
            "platform: no platform is called ``; write one of abstract-2023, fermi-2021, \
             gtx-570, gtx-680, p104-100, rtx-2080-ti, titan-rtx, a100, rtx-3090, rtx-a4000, \
             rtx-a6000, radeon-w6600, mi250x, h100, radeon-w7800, h200, pocl-xeon, or the path of \
             a \
             platform file",
        ),
    ] {
        let error = platforms::find(name).expect_err(name);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn platforms_in_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.json");
    let text = r#"{ "units_per_device": 2, "elements_per_unit": 4, "global_access": 9 }"#;
    std::fs::write(&path, text).expect("written");
    let name = path.to_str().expect("a name");
    assert_eq!(load(name).units(), 2);

    std::fs::write(&path, "{ units: 2 }").expect("written");
    let error = platforms::find(name).expect_err("not JSON");
    assert!(error.to_string().contains("not JSON"), "{error}");

    for missing in ["no/such/platform", "missing.json"] {
        let error = platforms::find(missing).expect_err(missing);
        assert!(error.to_string().starts_with(&format!("{missing}: cannot be read")), "{error}");
        assert!(!error.to_string().contains('\n'));
    }
}
