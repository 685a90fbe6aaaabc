//! The published spaces of examples/spaces: sizes, lists and draws.

use std::path::Path;

use indexmap::IndexMap;
use tickbound_model::random::SplitMix64;
use tickbound_model::{Configuration, Problem, platforms};

/// Choices and valid configurations; Kernel Tuner 1.5.0 finds the same.
const SIZES: [(&str, u64, u32); 8] = [
    ("dedispersion", 22_272, 11_130),
    ("expdist", 9_732_096, 294_000),
    ("gemm", 663_552, 116_928),
    ("hotspot", 22_200_000, 349_853),
    ("microhh", 1_166_400, 138_600),
    ("prl-2", 36_864, 1_200),
    ("prl-4", 9_437_184, 10_800),
    ("prl-8", 2_415_919_104, 48_720),
];

#[test]
fn are_counted_listed_and_drawn_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/spaces");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), SIZES.len());
    for (name, points, valid) in SIZES {
        let text = std::fs::read_to_string(folder.join(name).with_extension("json")).unwrap();
        let problem = Problem::from_json(&text, &IndexMap::new(), &platforms::find).unwrap();
        assert_eq!(problem.choices().unwrap(), points, "{name}");
        let all = problem.configurations(&Default::default()).unwrap();
        assert_eq!(all.count(), Some(valid.into()), "{name}");

        let space = problem.space().unwrap();
        assert_eq!(space.unlaunchable, 0, "{name}");
        let mut walked: Vec<Configuration> =
            space.bound.into_iter().map(|b| b.configuration).collect();
        let places: Vec<usize> = (0..problem.parameters.len()).collect();
        let mut listed = all.representatives(&places, &Default::default()).unwrap();
        walked.sort_unstable();
        listed.sort_unstable();
        assert!(walked == listed, "{name}: lists of {} and {valid}", walked.len());

        let mut random = SplitMix64(1);
        for _ in 0..1000 {
            let drawn = all.random(&mut || random.draw()).unwrap();
            all.bind(&drawn).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}
