//! What the processes of a job tell each other.

use std::io;

use tickbound_reo::product::dense::CellTally;
use tickbound_reo::product::reachable::{Exchange, total};

use crate::error::JobResult;
use crate::manifest::BlockRecord;

/// The processes that make one product together, or this one alone. The first has the dataset.
pub struct Ranks<'a>(pub Option<&'a mut (dyn Exchange + Send)>);

impl Ranks<'_> {
    pub(crate) fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, |others| others.rank())
    }

    pub(crate) fn size(&self) -> usize {
        self.0.as_ref().map_or(1, |others| others.size())
    }

    /// The sum of what all have counted, for the first; for others, their own count.
    pub(crate) fn total(&mut self, tally: CellTally) -> JobResult<CellTally> {
        let Some(others) = &mut self.0 else { return Ok(tally) };
        Ok(total(&mut **others, tally)?.unwrap_or(tally))
    }

    /// What the first one gives to all.
    pub(crate) fn told_by_first(&mut self, words: Vec<u64>) -> io::Result<Vec<u64>> {
        let Some(others) = &mut self.0 else { return Ok(words) };
        let size = others.size();
        let words = if others.rank() == 0 { vec![words; size] } else { vec![Vec::new(); size] };
        Ok(others.all_to_all(words)?.swap_remove(0))
    }

    /// Gives the record of a block to the first rank; returns all that ranks give to this one.
    pub(crate) fn records(&mut self, record: Option<BlockRecord>) -> io::Result<Vec<BlockRecord>> {
        let Some(others) = &mut self.0 else { return Ok(record.into_iter().collect()) };
        let bytes = record.as_ref().map(serde_json::to_vec).transpose()?.unwrap_or_default();
        let mut words = vec![Vec::new(); others.size()];
        words[0] = bytes.chunks(8).map(word).collect();
        let read = |words: Vec<u64>| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            serde_json::from_slice(bytes.trim_ascii_end()).map_err(io::Error::from)
        };
        let all = others.all_to_all(words)?;
        all.into_iter().filter(|words| !words.is_empty()).map(read).collect()
    }
}

/// Up to eight bytes as a word; spaces behind them, which JSON does not mind.
fn word(bytes: &[u8]) -> u64 {
    let mut whole = [b' '; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(whole)
}
