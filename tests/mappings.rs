//! Mappings of matrix products: their least energy, by walking the loops of every mapping.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::verdict::Status;
use tickbound_model::{Problem, platforms};
use tickbound_solver::{SearchOptions, tune};

use crate::mapping::{DIMENSIONS, MATRICES, capacity, energy, problem};

/// A mapping.
struct Mapping {
    /// The tile of each level, from the lowest to the whole product.
    tiles: Vec<[i64; 3]>,
    inner: Vec<usize>,
    keeps: Vec<[bool; 3]>,
}

impl Mapping {
    fn new(size: i64, levels: usize, values: &IndexMap<String, i64>) -> Mapping {
        let at = |name: &str, level: usize| values[&format!("{name}{level}")];
        let each = || 1..=levels;
        let tiles = each().map(|level| DIMENSIONS.map(|d| at(d, level)));
        Mapping {
            tiles: tiles.chain([[size; 3]]).collect(),
            inner: each().map(|level| at("inner", level) as usize).collect(),
            keeps: each().map(|level| MATRICES.map(|(m, ..)| at(m, level) == 1)).collect(),
        }
    }

    /// Whether tiles divide each other, buffers hold what they keep, and neighbours keep all.
    fn is_valid(&self) -> bool {
        let levels = self.keeps.len();
        let nested = |d: usize| self.tiles.iter().tuple_windows().all(|(a, b)| b[d] % a[d] == 0);
        let words = |level: usize| -> i64 {
            (0..3).filter(|m| self.keeps[level][*m]).map(|m| self.words(level, m)).sum()
        };
        let kept = |level: usize| (0..3).all(|m| self.keeps[level][m] || self.keeps[level + 1][m]);
        (0..3).all(nested)
            && (0..levels).all(|level| words(level) <= capacity(level + 1))
            && (0..levels - 1).all(kept)
    }

    /// Words of a matrix in a tile.
    fn words(&self, level: usize, matrix: usize) -> i64 {
        (0..3).filter(|d| *d != MATRICES[matrix].1).map(|d| self.tiles[level][d]).product()
    }

    /// Ticks for a word of a matrix that is used below a level.
    fn source(&self, level: usize, matrix: usize) -> i64 {
        let levels = self.keeps.len();
        let from = (level..levels).find(|l| self.keeps[*l][matrix]).unwrap_or(levels);
        energy(from + 1, levels)
    }

    /// The ticks of all tiles of a level within one of the level above, and of what is below.
    fn walk(&self, level: usize) -> i64 {
        let Some(below) = level.checked_sub(1) else {
            let products: i64 = self.tiles[0].iter().product();
            return (0..3).map(|m| products * self.source(0, m)).sum();
        };
        let inner = self.inner[below];
        let trips = |d: usize| self.tiles[level][d] / self.tiles[below][d];
        let copied = |outside: bool| -> i64 {
            let here =
                (0..3).filter(|m| self.keeps[below][*m] && (MATRICES[*m].1 == inner) == outside);
            here.map(|m| MATRICES[m].2 * self.words(below, m) * self.source(level, m)).sum()
        };
        let mut ticks = 0;
        let outer: i64 = (0..3).filter(|d| *d != inner).map(trips).product();
        for _ in 0..outer {
            ticks += copied(true);
            for _ in 0..trips(inner) {
                ticks += copied(false) + self.walk(below);
            }
        }
        ticks
    }
}

fn read(size: i64, levels: usize) -> Problem {
    let text = problem(size, levels).to_string();
    Problem::from_json(&text, &IndexMap::new(), &platforms::find).expect("it is a problem")
}

#[test]
fn least_energy_of_all_mappings() {
    for (size, levels, wanted) in [(8, 1, (699, 129536)), (2, 2, (6489, 3224))] {
        let problem = read(size, levels);
        let names = || problem.parameters.iter().map(|p| p.name.clone());
        let divisors = (1..=size).filter(|d| size % d == 0).collect_vec();
        let domains = names().map(|name| match &name[..name.len() - 1] {
            "inner" => vec![0, 1, 2],
            "a" | "b" | "c" => vec![0, 1],
            _ => divisors.clone(),
        });
        let (mut valid, mut least) = (0_u32, i64::MAX);
        for values in domains.multi_cartesian_product() {
            let named = names().zip(values).collect();
            let mapping = Mapping::new(size, levels, &named);
            if mapping.is_valid() {
                valid += 1;
                least = least.min(mapping.walk(levels));
            }
        }
        assert_eq!((valid, least), wanted, "size {size}, levels {levels}");
        let options = SearchOptions::default();
        let found = tune(&problem, &options, &false.into(), &|_| {}).expect("it has a least time");
        assert_eq!(found.status, Status::Optimal);
        assert_eq!((found.configurations, found.upper), (Some(valid.into()), Some(least)));
    }
}
