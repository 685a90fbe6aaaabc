//! What a dataset says of itself: `manifest.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tickbound_reo::product::dense::{Block, Checksum, Stream, Tally};

use crate::error::DatasetError;
use crate::file::Written;
use crate::format::{FORMAT, VERSION, name};

/// What is known of a dataset before any block is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// The connector's name.
    pub connector: String,
    /// Names of the connector; bit i of a label is the i-th.
    pub names: Vec<String>,
    /// States of the product, numbered from 0; that of (p, q) in two factors is p times the states of the second, plus q.
    pub states: u64,
    /// States that a run may begin in.
    pub initial: Vec<u32>,
    /// The columns of each file, with their types.
    pub columns: Vec<[String; 2]>,
    /// Steps of the product, idle loops among them, as the factors say.
    pub steps: u64,
    /// [`Checksum::sum`] over the product, in hexadecimal, as the factors say.
    pub sum: String,
    /// States of each block but the last.
    pub block_states: u64,
    /// Blocks of the product.
    pub blocks: usize,
}

impl Head {
    /// Of the blocks of a product whose names are called `names`.
    #[must_use]
    pub fn new(connector: &str, names: Vec<String>, stream: &Stream) -> Head {
        let plan = stream.plan();
        let Checksum { steps, sum } = plan.checksum();
        Head {
            format: FORMAT.into(),
            version: VERSION,
            connector: connector.into(),
            names,
            states: plan.shape().states() as u64,
            initial: plan.initial().to_vec(),
            columns: crate::file::COLUMNS
                .iter()
                .map(|[name, kind]| [(*name).into(), (*kind).into()])
                .collect(),
            steps,
            sum: hex(sum),
            block_states: stream.blocks().next().map_or(0, |block| block.rows as u64),
            blocks: stream.len(),
        }
    }

    /// What differs from another one.
    pub(crate) fn difference(&self, other: &Head) -> Option<&'static str> {
        let parts = [
            ("the connector's name", self.connector == other.connector),
            ("the names", self.names == other.names),
            ("the number of states", self.states == other.states),
            ("the size of a block", self.block_states == other.block_states),
            ("what the product comes to", self == other),
        ];
        parts.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
    }
}

/// One block that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number.
    pub block: usize,
    /// Its file.
    pub file: String,
    /// Its first state.
    pub first: usize,
    /// How many states it has.
    pub states: u64,
    /// Its steps, idle loops among them: the rows of its file.
    pub steps: u64,
    /// [`Checksum::sum`] over it, in hexadecimal.
    pub sum: String,
    /// [`Tally::digest`] over it, in hexadecimal.
    pub digest: String,
    /// States that nothing but their idle loop leaves.
    pub stuck: u64,
    /// The first of them.
    pub first_stuck: Option<u32>,
    /// Bytes of its file.
    pub bytes: u64,
    /// CRC-32 of its file, that of gzip and zlib, in hexadecimal.
    pub crc32: String,
}

impl Record {
    pub(crate) fn new(block: Block, file: String, tally: &Tally, written: Written) -> Record {
        Record {
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

    /// What it comes to; nothing if its sums are no numbers.
    pub(crate) fn tally(&self) -> Option<Tally> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(Tally {
            states: self.states,
            checksum: Checksum { steps: self.steps, sum: number(&self.sum)? },
            digest: number(&self.digest)?,
            stuck: self.stuck,
            first_stuck: self.first_stuck,
            ..Tally::default()
        })
    }
}

/// The whole manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What was known before.
    #[serde(flatten)]
    pub head: Head,
    /// Whether every block is there.
    pub complete: bool,
    /// [`Tally::digest`] over all blocks that are there, in hexadecimal.
    pub checksum: String,
    /// The blocks that are there, in order.
    pub written: Vec<Record>,
}

impl Manifest {
    pub(crate) fn new(head: Head) -> Manifest {
        let mut new =
            Manifest { head, complete: false, checksum: String::new(), written: Vec::new() };
        new.settle();
        new
    }

    /// What all blocks that are there come to.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.written.iter().filter_map(Record::tally).sum()
    }

    /// Puts a block in its place.
    pub(crate) fn add(&mut self, record: Record) {
        let place = self.written.partition_point(|other| other.block < record.block);
        self.written.insert(place, record);
        self.settle();
    }

    /// Brings what follows from the blocks up to date.
    pub(crate) fn settle(&mut self) {
        self.complete = self.written.len() == self.head.blocks;
        self.checksum = hex(self.tally().digest);
    }

    /// Reads a manifest.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Manifest, DatasetError> {
        let wrong = |why: String| DatasetError::Manifest { path: path.to_owned(), why };
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        if value["format"] != FORMAT {
            return Err(wrong(format!("`format` is not `{FORMAT}`")));
        }
        match value["version"].as_u64() {
            Some(VERSION) => {}
            Some(found) => return Err(DatasetError::Version { path: path.to_owned(), found }),
            None => return Err(wrong("`version` is no number".into())),
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    /// Whether its parts agree.
    fn check(&self) -> Result<(), String> {
        let ordered = self.written.windows(2).all(|two| two[0].block < two[1].block);
        for record in &self.written {
            let number = record.block;
            let named = record.file == name(number);
            if !named || number >= self.head.blocks || record.tally().is_none() {
                return Err(format!("block {number} is not one of this dataset"));
            }
        }
        let mut settled = self.clone();
        settled.settle();
        if !ordered || settled != *self {
            return Err("what it says of all blocks does not follow from the blocks".into());
        }
        let Checksum { steps, sum } = self.tally().checksum;
        if self.complete && (steps, hex(sum)) != (self.head.steps, self.head.sum.clone()) {
            return Err("its blocks do not come to the product".into());
        }
        Ok(())
    }
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}
