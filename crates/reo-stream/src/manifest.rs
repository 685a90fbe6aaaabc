//! The manifest of a dataset, `manifest.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tickbound_reo::product::dense::{CellTally, Checksum, DenseStream, RowBlock};

use crate::error::{DatasetError, DatasetResult};
use crate::file::Written;
use crate::format::{FORMAT, VERSION, name};

/// Which product a dataset holds, and so what its steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamedProduct {
    /// Every cell of the product of the matrices, idle loops too, in the order of the matrix.
    #[default]
    Dense,
    /// What can be reached: without idle loops, state by state, in the order of the search.
    Reachable,
}

/// What is known of a dataset in advance; of a reachable product some of it only at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ManifestHead {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// Which product it is.
    pub product: StreamedProduct,
    /// The connector's name.
    pub connector: String,
    /// Names of the connector; bit i of a label is the i-th.
    pub names: Vec<String>,
    /// States of the product, numbered from 0. In a dense one that of (p, q) in two factors is p
    /// times the states of the second, plus q; in a reachable one they are numbered breadth first.
    pub states: Option<u64>,
    /// States that a run may begin in.
    pub initial: Vec<u32>,
    /// The columns of each file, with their types.
    pub columns: Vec<[String; 2]>,
    /// Steps of the product; of a dense one as the factors say.
    pub steps: Option<u64>,
    /// Their sum as in [`CellTally::checksum`], in hexadecimal; of a dense product in advance.
    pub sum: Option<String>,
    /// Of a dense product, states of each block but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_states: Option<u64>,
    /// Of a reachable product, steps of a block, which ends with the state that reaches them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_steps: Option<u64>,
    /// Blocks of the product.
    pub blocks: Option<usize>,
    /// The formula that the written steps fulfil; numbers and sums are of the whole product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

impl ManifestHead {
    /// Of the blocks of a dense product whose names are called `names`.
    pub fn dense(connector: &str, names: Vec<String>, stream: &DenseStream) -> ManifestHead {
        let plan = stream.plan();
        let Checksum { steps, sum } = plan.checksum();
        ManifestHead {
            states: Some(plan.sizes.states() as u64),
            initial: plan.initial.to_vec(),
            steps: Some(steps),
            sum: Some(hex(sum)),
            block_states: Some(stream.blocks().next().map_or(0, |block| block.rows as u64)),
            blocks: Some(stream.len()),
            ..ManifestHead::of(StreamedProduct::Dense, connector, names)
        }
    }

    /// Of a reachable product whose names are called `names`, whose first `initial` states a run
    /// may begin in, in blocks of `block_steps` steps or a little more.
    pub fn reachable(
        connector: &str,
        names: Vec<String>,
        initial: u32,
        block_steps: u64,
    ) -> ManifestHead {
        ManifestHead {
            initial: (0..initial).collect(),
            block_steps: Some(block_steps),
            ..ManifestHead::of(StreamedProduct::Reachable, connector, names)
        }
    }

    fn of(product: StreamedProduct, connector: &str, names: Vec<String>) -> ManifestHead {
        let columns = crate::file::COLUMNS.iter();
        ManifestHead {
            format: FORMAT.into(),
            version: VERSION,
            product,
            connector: connector.into(),
            names,
            columns: columns.map(|[name, kind]| [(*name).into(), (*kind).into()]).collect(),
            ..ManifestHead::default()
        }
    }

    /// What differs from another one, where both are known.
    pub(crate) fn difference(&self, other: &ManifestHead) -> Option<&'static str> {
        let size = |head: &ManifestHead| (head.block_states, head.block_steps);
        let known = |head: &ManifestHead| ManifestHead {
            states: other.states.and(head.states),
            steps: other.steps.and(head.steps),
            sum: other.sum.as_ref().and(head.sum.clone()),
            blocks: other.blocks.and(head.blocks),
            ..head.clone()
        };
        let parts = [
            ("the kind of product", self.product == other.product),
            ("the connector's name", self.connector == other.connector),
            ("the names", self.names == other.names),
            ("the number of states", known(self).states == other.states),
            ("the filter", self.filter == other.filter),
            ("the size of a block", size(self) == size(other)),
            ("what the product comes to", known(self) == *other),
        ];
        parts.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
    }
}

/// One block that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Its number.
    pub block: usize,
    /// Its file.
    pub file: String,
    /// Its first state.
    pub first: usize,
    /// How many states it has.
    pub states: u64,
    /// Its steps.
    pub steps: u64,
    /// Rows of its file, where the filter has left out steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Their sum as in [`CellTally::checksum`], in hexadecimal.
    pub sum: String,
    /// [`CellTally::digest`] over it, in hexadecimal.
    pub digest: String,
    /// States that nothing leaves, or nothing but their idle loop.
    pub stuck: u64,
    /// The first of them.
    pub first_stuck: Option<u32>,
    /// Bytes of its file.
    pub bytes: u64,
    /// CRC-32 of its file, that of gzip and zlib, in hexadecimal.
    pub crc32: String,
}

impl BlockRecord {
    /// Of a block whose file has that many `rows`.
    pub(crate) fn new(
        block: RowBlock,
        file: String,
        tally: &CellTally,
        rows: u64,
        written: Written,
    ) -> BlockRecord {
        BlockRecord {
            rows: (rows < tally.checksum.steps).then_some(rows),
            block: block.number,
            file,
            first: block.first,
            states: tally.states,
            steps: tally.checksum.steps,
            sum: hex(tally.checksum.sum),
            digest: hex(tally.digest),
            stuck: tally.stuck,
            first_stuck: tally.first_stuck,
            bytes: written.bytes,
            crc32: format!("{:08x}", written.crc32),
        }
    }

    /// Its sums; nothing if they are no numbers.
    pub(crate) fn tally(&self) -> Option<CellTally> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(CellTally {
            states: self.states,
            checksum: Checksum { steps: self.steps, sum: number(&self.sum)? },
            digest: number(&self.digest)?,
            stuck: self.stuck,
            first_stuck: self.first_stuck,
            ..CellTally::default()
        })
    }
}

/// The whole manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What was known before.
    #[serde(flatten)]
    pub head: ManifestHead,
    /// Whether every block is there.
    pub complete: bool,
    /// [`CellTally::digest`] over all blocks that are there, in hexadecimal.
    pub checksum: String,
    /// The blocks that are there, in order.
    pub written: Vec<BlockRecord>,
}

impl Manifest {
    pub(crate) fn new(head: ManifestHead) -> Manifest {
        let mut new =
            Manifest { head, complete: false, checksum: String::new(), written: Vec::new() };
        new.settle();
        new
    }

    /// What all blocks that are there come to.
    pub fn tally(&self) -> CellTally {
        self.written.iter().filter_map(BlockRecord::tally).sum()
    }

    /// Steps that are in files.
    pub fn rows(&self) -> u64 {
        self.written.iter().map(|record| record.rows.unwrap_or(record.steps)).sum()
    }

    pub(crate) fn add(&mut self, record: BlockRecord) {
        let place = self.written.partition_point(|other| other.block < record.block);
        self.written.insert(place, record);
        self.settle();
    }

    /// All blocks of the product are there.
    pub(crate) fn finish(&mut self) {
        let whole = self.tally();
        self.head.states = Some(whole.states);
        self.head.steps = Some(whole.checksum.steps);
        self.head.sum = Some(hex(whole.checksum.sum));
        self.head.blocks = Some(self.written.len());
        self.settle();
    }

    /// Brings what follows from the blocks up to date.
    pub(crate) fn settle(&mut self) {
        self.complete = self.head.blocks == Some(self.written.len());
        self.checksum = hex(self.tally().digest);
    }

    pub(crate) fn parse(path: &Path, text: &str) -> DatasetResult<Manifest> {
        let wrong = |why: String| DatasetError::manifest(path, &why);
        let value: Value = tickbound_input::json(text).map_err(|e| wrong(e.to_string()))?;
        if value["format"] != FORMAT {
            return Err(wrong(format!("`format` is not `{FORMAT}`")));
        }
        match value["version"].as_u64() {
            Some(VERSION) => {}
            Some(found) => {
                let why = format!(
                    "version {found} of a {FORMAT}; this program reads and writes version \
                     {VERSION}; use the program that made it"
                );
                return Err(DatasetError::unusable(path, why));
            }
            None => return Err(wrong("`version` is no number".into())),
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        let ordered = self.written.windows(2).all(|two| two[0].block < two[1].block);
        for record in &self.written {
            let number = record.block;
            let named = record.file == name(number);
            let outside = self.head.blocks.is_some_and(|blocks| number >= blocks);
            if !named || outside || record.tally().is_none() {
                return Err(format!("block {number} is not one of this dataset"));
            }
        }
        let mut settled = self.clone();
        settled.settle();
        if !ordered || settled != *self {
            return Err("what it says of all blocks does not follow from the blocks".into());
        }
        let Checksum { steps, sum } = self.tally().checksum;
        let whole = (Some(steps), Some(hex(sum)));
        if self.complete && whole != (self.head.steps, self.head.sum.clone()) {
            return Err("its blocks do not come to the product".into());
        }
        Ok(())
    }
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}
