//! Calls: functions of the file are walked where they are called.

use super::builtins::Call;
use super::scan::Loop;
use super::value::{ReadState, ReadValue};
use super::{Read, Reader, nodes, scan};
use crate::ast::{CFunction, CStmt, SourcePlace};
use crate::error::ReadError;
use crate::preprocess::DECLARED;
use crate::steps::Dependence;

const DEEPEST: usize = 64;

impl<'a> Reader<'a> {
    pub fn call(&mut self, call: Call<'a>) -> Read<ReadValue> {
        let (unit, Call { name, arguments, e }) = (self.unit, call);
        let Some(function) = unit.functions.get(name) else {
            return self.builtin(call);
        };
        self.check_depth(&function.name, &e.at)?;
        let mut values = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            let feeds = self.feeding.contains(&parameter.id);
            let value =
                self.index_if(feeds, |r| r.value_as(argument, &parameter.ty, &argument.at))?;
            values.push((parameter.id, value));
        }
        self.state.values.extend(values);
        let outer = self.state.returned.take();
        if &*function.at.file == DECLARED {
            let walked = self.capture(|r| r.run_function(function));
            let ((), mut nodes) = walked.map_err(|error| match error {
                ReadError::Source { what, fix, .. } => ReadError::at(&e.at, what, fix),
                error => error,
            })?;
            nodes::put_at(&mut nodes, &e.at);
            self.append(nodes);
        } else {
            self.run_function(function)?;
        }
        let result = std::mem::replace(&mut self.state.returned, outer);
        Ok(match result {
            Some(value) if !returns_from_loop(&function.body) => value,
            _ => self.unknown(&function.result, Dependence::Data),
        })
    }

    /// Walks a function's body; its parameters have their values.
    pub fn run_function(&mut self, function: &'a CFunction) -> Read<()> {
        self.calls.push(&function.name);
        let bounded = std::mem::take(&mut self.bounded);
        let result = self.run(&function.body, None);
        self.bounded = bounded;
        self.calls.pop();
        let ReadState { values, .. } = &mut self.state;
        scan::declared(function, &mut |variable| drop(values.remove(&variable.id)));
        result
    }

    fn check_depth(&self, name: &str, at: &SourcePlace) -> Read<()> {
        if let Some(first) = self.calls.iter().position(|call| *call == name) {
            let mut cycle: Vec<&str> = self.calls[first..].to_vec();
            cycle.push(name);
            return Err(ReadError::at(
                at,
                format!("functions call themselves: {}", cycle.join(" -> ")),
                "write a loop",
            ));
        }
        if self.calls.len() >= DEEPEST {
            return Err(ReadError::at(
                at,
                format!("calls are nested deeper than {DEEPEST}"),
                "write fewer functions",
            ));
        }
        Ok(())
    }
}

fn returns_from_loop(body: &[CStmt]) -> bool {
    let mut found = false;
    scan::statements(body, &mut |stmt| {
        found |= Loop::of(stmt).is_some_and(|l| scan::returns(l.body));
    });
    found
}
