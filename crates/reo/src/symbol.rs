//! Words as numbers: names, memory cells, constants and functions of one connector.

use std::sync::Arc;

use indexmap::IndexSet;

/// A word of a [`Symbols`] table. Equal words of one table have equal symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// A name of constraint automata: a place where a datum is seen when it fires (Baier, Sirjani,
/// Arbab, Rutten, Modeling component connectors in Reo by constraint automata, 2006, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub SymbolId);

/// A memory cell: holds one datum between steps, such as the content of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub SymbolId);

/// The words of one connector. Everything that is composed or compared must share one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    words: IndexSet<Arc<str>>,
}

impl Symbols {
    /// An empty table.
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// The symbol of `word`, new if need be; memory ends before the 2^32 words of a table.
    pub fn intern(&mut self, word: &str) -> SymbolId {
        if let Some(at) = self.words.get_index_of(word) {
            return SymbolId(at as u32);
        }
        SymbolId(self.words.insert_full(Arc::from(word)).0 as u32)
    }

    /// [`Symbols::intern`], as a name.
    pub fn name(&mut self, word: &str) -> NameId {
        NameId(self.intern(word))
    }

    /// [`Symbols::intern`], as a memory cell.
    pub fn cell(&mut self, word: &str) -> Cell {
        Cell(self.intern(word))
    }

    /// A name that is new: `word`, or `word` with the first free number behind `~`.
    pub fn fresh_name(&mut self, word: &str) -> NameId {
        NameId(self.fresh(word))
    }

    /// A cell that is new, as [`Symbols::fresh_name`].
    pub fn fresh_cell(&mut self, word: &str) -> Cell {
        Cell(self.fresh(word))
    }

    fn fresh(&mut self, word: &str) -> SymbolId {
        if !self.words.contains(word) {
            return self.intern(word);
        }
        // Numbers are tried from the table's size on, so that n fresh words cost O(n).
        let free = (self.words.len()..).map(|k| format!("{word}~{k}"));
        let mut free = free.skip_while(|w| self.words.contains(w.as_str()));
        free.next().map_or(SymbolId(0), |w| self.intern(&w))
    }

    /// The symbol of a word that is already here.
    pub fn find(&self, word: &str) -> Option<SymbolId> {
        self.words.get_index_of(word).map(|at| SymbolId(at as u32))
    }

    /// The word of a symbol; `?` for a symbol of another table.
    pub fn word(&self, symbol: SymbolId) -> &str {
        self.words.get_index(symbol.0 as usize).map_or("?", |w| w)
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}
