//! Private arrays: registers, or requests and room in memory.

use tickbound_expr::Expr;

use super::super::arrays::{self, Array, Own, Room};
use super::super::batch::Batch;
use super::super::footprint::Axis;
use super::super::number::{ceil_div, choice};
use super::requests::repeated;
use super::{Site, Walk, product};
use crate::error::Read;
use crate::steps::KernelSteps;

impl Walk<'_> {
    /// An access of a private array, which counts if the array lives in memory.
    pub(super) fn private(
        &mut self,
        site: Site<'_>,
        (unrolled, rolled): (&[Axis], &[Axis]),
        batch: &mut Batch,
    ) {
        let Site { access, at, around } = site;
        let bytes = access.bytes();
        let places = arrays::places(rolled);
        let indexed = arrays::indexed(access, places.clone(), self.device);
        let indexed = choice(&around.taken, indexed, 0);
        let (requests, words) = arrays::in_body(bytes, unrolled, self.device);
        if !access.store && indexed != Expr::Int(0) {
            batch.arrays += choice(&indexed, &requests, 0);
        }
        let words = repeated(around, words, Expr::Int((bytes + 3) / 4));
        let own = Own {
            at: at.clone(),
            store: access.store,
            bytes,
            requests: repeated(around, requests, Expr::Int(self.device.vectors.requests(bytes))),
            choices: arrays::choices(places, words.clone()),
            words,
            addresses: around.rolled(),
        };
        self.privates.entry(access.array.clone()).or_default().add(indexed, own);
    }

    /// Private arrays take registers, or requests and room where they live in memory.
    pub(super) fn finish_privates(&mut self, steps: &KernelSteps) -> Read<()> {
        let privates = std::mem::take(&mut self.privates);
        let mut live = Vec::new();
        for array in &steps.privates {
            let bytes = self.names.put_in(&array.bytes, &array.at)?.simplified();
            let words = ceil_div(&bytes, 4);
            let known = privates.get(&array.name);
            let in_memory = known.map_or(Expr::Int(0), |known| known.in_memory.clone());
            let element = known.map_or(0, Array::element);
            let registers = self.device.vectors.registers(bytes, element);
            let registers = choice(&in_memory, 0, registers);
            self.add("registers", Some(&array.at), &array.name, registers);
            let Some(known) = known else { continue };
            for Own { at, choices, .. } in &known.accesses {
                let choices = choice(&in_memory, 0, choices);
                self.add("integer", Some(at), &array.name, choices);
            }
            if in_memory != Expr::Int(0) {
                let words = choice(in_memory, words, 0);
                live.push((array, known, words));
            }
        }
        let Some((first, ..)) = live.first() else { return Ok(()) };
        let groups = product(self.names, "groups", &first.at)?;
        let items = product(self.names, "local", &first.at)?;
        let warp = Expr::Int(self.device.warp);
        let words: Expr = live.iter().map(|(.., words)| words).sum();
        let local = steps.locals.iter().map(|array| self.names.put_in(&array.bytes, &array.at));
        let room = Room {
            device: self.device,
            bytes: 4 * words,
            held: self.held.clone(),
            lanes: ceil_div(items, &warp) * warp,
            at_work: self.at_work.clone(),
            local: local.sum::<Result<_, _>>()?,
        };
        for (array, known, _) in live {
            let (loaded, stored) = self.finish_array(&array.name, known);
            let moved = room.moved(loaded, stored);
            let dram = room.beyond_l2(&groups * &moved);
            self.add("l2_bytes", Some(&array.at), &array.name, moved);
            self.add("dram_bytes", Some(&array.at), &array.name, dram);
        }
        Ok(())
    }

    /// The accesses of an array, if it lives in memory; words that are loaded and stored.
    fn finish_array(&mut self, name: &str, array: &Array) -> (Expr, Expr) {
        let (mut loaded, mut stored) = (Expr::Int(0), Expr::Int(0));
        let lines = Expr::Int((4 * self.device.warp + self.device.line - 1) / self.device.line);
        for Own { at, store, requests, words, addresses, .. } in array.accesses.iter().cloned() {
            let if_so = |count| choice(&array.in_memory, count, 0);
            let words = if_so(words);
            let sum = if store { &mut stored } else { &mut loaded };
            *sum += &words;
            self.add("global_requests", Some(&at), name, if_so(requests));
            self.add("global_lines", Some(&at), name, &lines * &words);
            self.add("global_wavefronts", Some(&at), name, words);
            self.add("integer", Some(&at), name, if_so(addresses));
        }
        (loaded, stored)
    }
}
