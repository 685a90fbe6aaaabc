//! What the problem file answers for loops and branches that cannot be read.

use tickbound_model::source::{QuestionKey, Side};

use super::Reader;
use super::asked::{QuestionPlace, condition_text, fits};
use super::form::Loop;
use crate::ast::{CExpr, SourcePlace};
use crate::request::{Symbol, bound_name};

impl<'a> Reader<'a> {
    /// Which side the problem file chooses for a branch.
    pub fn chosen_side(&self, at: &SourcePlace, condition: &CExpr) -> Option<Side> {
        let mut answers = self.request.branches.iter();
        answers.find(|(asked, _)| self.is_meant(asked, (at, Some(condition)))).map(|(_, s)| *s)
    }

    /// The name and the range of the most iterations that the problem file gives for a loop.
    pub fn given_bound(&self, l: &Loop<'a>) -> Option<(String, Symbol)> {
        let mut answers = self.request.bounds.iter().enumerate();
        let meant = answers.find(|(_, (asked, _))| self.is_meant(asked, (l.at, l.test)));
        meant.map(|(i, (asked, bound))| (bound_name(i, asked), *bound))
    }

    /// What an answer for a condition in the function at hand is called.
    pub fn key(&self, condition: Option<&CExpr>) -> String {
        let function = self.calls.last().copied().unwrap_or_default();
        format!("{function}: {}", condition_text(condition))
    }

    fn is_meant(&self, asked: &QuestionKey, place: QuestionPlace<'_>) -> bool {
        let function = self.calls.last().and_then(|name| self.unit.functions.get(*name));
        function.is_some_and(|function| fits(asked, function, &self.entry.at.file, place))
    }
}
