//! Pieces of a program between barriers, and what is known of the threads around them.

use crate::max_plus::MaxPlusTerm;
use crate::plan::AmountId;

#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// What each thread does without a barrier.
    Segment(Vec<Vec<MaxPlusTerm>>),
    /// A barrier and its price.
    Barrier { price: i64, solo: bool },
    /// At least twice; contains a barrier that every iteration reaches.
    Loop { count: AmountId, body: Vec<Piece> },
}

/// What is known of the threads at some place of the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    /// Their clocks may differ.
    pub(super) apart: bool,
    /// Their marks surely do not differ.
    pub(super) equal: bool,
}

impl State {
    pub(super) const EQUAL: State = State { apart: false, equal: true };

    /// What is known after some pieces.
    pub(super) fn after(self, pieces: &[Piece]) -> State {
        pieces.iter().fold(self, |state, piece| match piece {
            Piece::Barrier { .. } => State { apart: false, ..state },
            Piece::Loop { body, .. } => State { apart: false, equal: state.in_loop(body) },
            Piece::Segment(threads) => state.after_segment(threads),
        })
    }

    /// Whether marks are surely equal at the beginning and at the end of each iteration.
    pub(super) fn in_loop(self, body: &[Piece]) -> bool {
        self.equal && State::EQUAL.after(body).equal
    }

    /// Threads that do the same from the same clock stay together, unless they wait for marks that
    /// differ. Threads that are apart, or come apart, set their marks at different times.
    fn after_segment(self, threads: &[Vec<MaxPlusTerm>]) -> State {
        let same = threads.iter().all(|t| *t == threads[0]);
        let waits = threads.iter().any(|t| terms_need_mark(t, false));
        let apart = self.apart || !same || (waits && !self.equal);
        let sets = threads.iter().any(|t| sets_mark(t));
        State { apart, equal: if sets { !apart } else { self.equal } }
    }
}

/// Appends a piece; segments that meet become one.
pub(super) fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Segment(threads)), Piece::Segment(more)) => {
            for (own, rest) in threads.iter_mut().zip(more) {
                own.extend(rest);
            }
        }
        (_, piece) => pieces.push(piece),
    }
}

fn sets_mark(terms: &[MaxPlusTerm]) -> bool {
    terms.iter().any(|term| match term {
        MaxPlusTerm::Mark => true,
        MaxPlusTerm::Work(_) | MaxPlusTerm::Until(_) => false,
        MaxPlusTerm::Seq(parts) | MaxPlusTerm::Join { threads: parts, .. } => sets_mark(parts),
        MaxPlusTerm::Rep(_, body) => sets_mark(std::slice::from_ref(body)),
    })
}

/// True if some path through the pieces waits for the mark before setting it.
pub(super) fn needs_mark(pieces: &[Piece], after: bool) -> bool {
    pieces.iter().rev().fold(after, |after, piece| match piece {
        Piece::Barrier { .. } => after,
        Piece::Loop { body, .. } => needs_mark(body, after),
        Piece::Segment(threads) => threads.iter().any(|t| terms_need_mark(t, after)),
    })
}

fn terms_need_mark(terms: &[MaxPlusTerm], after: bool) -> bool {
    terms.iter().rev().fold(after, |after, term| match term {
        MaxPlusTerm::Work(_) => after,
        MaxPlusTerm::Until(_) => true,
        MaxPlusTerm::Mark => false,
        MaxPlusTerm::Seq(parts) => terms_need_mark(parts, after),
        MaxPlusTerm::Rep(_, body) => terms_need_mark(std::slice::from_ref(body), after),
        MaxPlusTerm::Join { threads, .. } => {
            threads.iter().any(|t| terms_need_mark(std::slice::from_ref(t), after))
        }
    })
}
