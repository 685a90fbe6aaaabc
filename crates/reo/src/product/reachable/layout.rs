//! How many words the vector of a step has: for the label, for the state, for the condition.
//!
//! Nearly all products need one word each. The layout is a type parameter of the engine so that
//! these are compiled with their loops unrolled, and the rest with loops.

/// Numbers of words, and where they stand in a vector: label, state, condition.
pub(super) trait Layout: Copy + Send + Sync {
    fn label(self) -> usize;
    /// Words of the number of a state.
    fn state(self) -> usize;
    /// Words of the number of a condition; 0 if there are no conditions.
    fn condition(self) -> usize;

    /// Words of a whole vector.
    fn all(self) -> usize {
        self.label() + self.state() + self.condition()
    }
}

/// A layout that is known when the program is compiled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed<const L: usize, const S: usize, const C: usize>;

impl<const L: usize, const S: usize, const C: usize> Layout for Fixed<L, S, C> {
    fn label(self) -> usize {
        L
    }
    fn state(self) -> usize {
        S
    }
    fn condition(self) -> usize {
        C
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wide {
    pub label: usize,
    pub state: usize,
    pub condition: usize,
}

impl Layout for Wide {
    fn label(self) -> usize {
        self.label
    }
    fn state(self) -> usize {
        self.state
    }
    fn condition(self) -> usize {
        self.condition
    }
}

#[inline(always)]
pub(super) fn add(sum: &mut [u64], term: &[u64]) {
    sum.iter_mut().zip(term).for_each(|(s, t)| *s = s.wrapping_add(*t));
}

/// Does `$work` with the layout of a plan, compiled once for each layout that most products have.
/// On a thread of the pool: to enter it anew for each block would cost more than small blocks.
macro_rules! with_layout {
    ($plan:expr, $layout:ident => $work:expr) => {
        rayon::scope(|_| match $plan.layout {
            $crate::product::reachable::layout::Wide { label: 1, state: 1, condition: 0 } => {
                let $layout = $crate::product::reachable::layout::Fixed::<1, 1, 0>;
                $work
            }
            $crate::product::reachable::layout::Wide { label: 1, state: 1, condition: 1 } => {
                let $layout = $crate::product::reachable::layout::Fixed::<1, 1, 1>;
                $work
            }
            $layout => $work,
        })
    };
}
pub(super) use with_layout;
