//! Random kernels, read and run: both must count the same.

use std::collections::HashMap;

use indexmap::IndexMap;
use tickbound_frontend::steps::{count, print};
use tickbound_frontend::{parse, preprocess};
use tickbound_frontend::ast::Unit;

use super::machine::{Item, Machine};
use super::programs::Writer;
use super::random::Random;
use super::support::{Case, case, number};

/// What became of a kernel.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Verdict {
    Agreed(u32),
    Refused,
}

fn program(seed: u64) -> Case {
    let mut case = case(&Writer::new(seed).kernel());
    case.symbols = vec![("N", 0, 6), ("WG", 2, 8)];
    case.arguments = vec![tickbound_frontend::Passed::Memory; 5];
    case.arguments.extend([number(-2, 9), number(0, 5)]);
    case
}

/// Reads and runs the kernel of a seed.
pub fn judge(seed: u64) -> Result<Verdict, String> {
    let case = program(seed);
    let (steps, unit) = match case.read_with_unit() {
        Ok(both) => both,
        Err(error) => {
            if std::env::var("SHOW").is_ok() {
                let place = error.to_string();
                let line = place.split(':').nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
                println!("refused {seed} {error} @@@ {}", case.text.lines().nth(line - 1).unwrap());
            }
            return Ok(Verdict::Refused);
        }
    };
    let mut random = Random(seed ^ 0xABCD);
    let mut compared = 0;
    for _ in 0..12 {
        let wg = [2, 4, 8][random.below(3) as usize];
        let symbols =
            HashMap::from([("N".to_owned(), random.below(7)), ("WG".to_owned(), wg)]);
        let arguments = HashMap::from([
            ("n".to_owned(), random.below(12) - 2),
            ("u".to_owned(), random.below(6)),
        ]);
        let groups = 1 + random.below(3);
        let item = Item {
            lid: [random.below(wg as u64), 0, 0],
            group: [random.below(groups as u64), 0, 0],
            local: [wg, 1, 1],
            groups: [groups, 1, 1],
        };
        let mut machine = Machine::new(&unit, &symbols, item, Random(random.next()));
        if machine.kernel(&arguments).is_err() {
            continue;
        }
        compared += 1;
        let value = |name: &str| match name {
            "$lid_0" => Some(item.lid[0]),
            "$group_0" => Some(item.group[0]),
            "$local_0" => Some(wg),
            "$groups_0" => Some(groups),
            "$global_0" => Some(groups * wg),
            name => match name.strip_prefix('$') {
                Some(argument) => arguments.get(argument).copied(),
                None => symbols.get(name).copied(),
            },
        };
        let counted = count(&steps, &mut |name| value(name));
        if counted.as_ref().ok() != Some(&machine.counts) {
            return Err(format!(
                "seed {seed}\n{}\n{}\n{symbols:?} {arguments:?} {item:?}\nread: {counted:?}\nrun: {:?}",
                case.text,
                print(&steps),
                machine.counts
            ));
        }
    }
    Ok(Verdict::Agreed(compared))
}

fn judge_all(seeds: std::ops::Range<u64>) {
    let (mut refused, mut compared, mut kernels, mut failed) = (0, 0, 0, 0);
    for seed in seeds.clone() {
        match judge(seed) {
            Ok(Verdict::Refused) => refused += 1,
            Ok(Verdict::Agreed(runs)) => {
                kernels += u32::from(runs > 0);
                compared += runs;
            }
            Err(difference) => {
                println!("{difference}");
                failed += 1;
            }
        }
    }
    println!("seeds {seeds:?}: {refused} refused, {kernels} kernels agree in {compared} runs");
    assert_eq!(failed, 0);
    assert!(kernels > 0);
}

#[test]
fn random_kernels_count_as_they_run() {
    let from = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let many = std::env::var("MANY").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    judge_all(from..from + many);
}

impl Case {
    fn read_with_unit(
        &self,
    ) -> Result<(tickbound_frontend::steps::Steps, Unit), tickbound_frontend::FrontendError> {
        self.with_request(|request| {
            let expanded = preprocess::expand(request, &[], &IndexMap::new())?;
            let unit = parse::parse(request, &expanded)?;
            Ok((tickbound_frontend::read::read(request, &unit)?, unit))
        })
    }
}
