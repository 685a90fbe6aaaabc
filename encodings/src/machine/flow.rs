//! A plan's program as a graph of *points*: the places where a thread can spend time or wait.
//!
//! What lies between two points - loop tests, branches, marks - takes no time and is folded into
//! the [`Exit`]s of the point before it. Exits of one point exclude each other and cover all cases.

use crate::plan::{AmountId, Op};

/// A place where a thread can be.
#[derive(Debug, Clone)]
pub(crate) struct Point<X> {
    pub kind: PointKind<X>,
    pub exits: Vec<Exit>,
}

impl<X> Point<X> {
    /// True if threads wait for each other here.
    pub fn is_barrier(&self) -> bool {
        matches!(self.kind, PointKind::Barrier { .. })
    }
}

/// What happens at a point.
#[derive(Debug, Clone)]
pub(crate) enum PointKind<X> {
    /// Takes `amount * times` ticks.
    Work { amount: AmountId, times: Option<AmountId> },
    /// Waits for the mark plus an amount.
    Until(AmountId),
    /// What only one encoding's programs do.
    Own(X),
    /// Waits for all threads. Point 0 is a barrier of price 0 where everything begins.
    Barrier { price: i64, solo: bool },
    /// Takes no time; keeps loops without time from closing in a single step, and the number of
    /// paths from one point to the next small.
    Nop,
    /// The end of the program.
    End,
}

/// A path from one point to the next.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub guards: Vec<Guard>,
    /// The path passes a mark.
    pub mark: bool,
    /// New values of loop counters.
    pub counters: Vec<(usize, Count)>,
    pub target: usize,
}

/// A condition on the path; it must equal the truth value beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Guard {
    /// The amount is not zero.
    True(AmountId, bool),
    /// The amount is at least 1.
    Positive(AmountId, bool),
    /// The counter is at least 2, so that the loop goes on.
    More(usize, bool),
}

/// A change of a loop counter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Count {
    /// The loop begins with this many iterations to do.
    Begin(AmountId),
    /// One iteration less to do.
    Less,
}

#[derive(Debug, Clone)]
pub(crate) struct Flow<X> {
    pub points: Vec<Point<X>>,
    /// Number of loop counters.
    pub counters: usize,
}

/// Most paths through branches that meet no point; each is its own exit.
const MAX_PATHS: usize = 16;

enum Instruction {
    Point(usize),
    Mark,
    /// Begins a loop, or goes to the label if the count is below 1.
    Enter {
        counter: usize,
        count: AmountId,
        exit: usize,
    },
    /// Goes back to the label while iterations are left.
    Back {
        counter: usize,
        body: usize,
    },
    /// Goes to the label if the amount is zero.
    Unless {
        condition: AmountId,
        target: usize,
    },
    Go(usize),
}

impl<X: Clone> Flow<X> {
    /// The graph of a program.
    pub fn new(code: &[Op<X>]) -> Flow<X> {
        let mut a = Assembler { program: Vec::new(), kinds: Vec::new(), counters: 0 };
        a.point(PointKind::Barrier { price: 0, solo: true });
        a.sequence(code);
        a.point(PointKind::End);
        let positions: Vec<usize> = (0..a.program.len())
            .filter(|i| matches!(a.program[*i], Instruction::Point(_)))
            .collect();
        let points = a
            .kinds
            .iter()
            .zip(positions)
            .map(|(kind, at)| {
                let mut exits = Vec::new();
                if !matches!(kind, PointKind::End) {
                    let path = Exit { guards: vec![], mark: false, counters: vec![], target: 0 };
                    follow(&a.program, at + 1, path, &mut exits);
                }
                Point { kind: kind.clone(), exits }
            })
            .collect();
        Flow { points, counters: a.counters }
    }

    /// Index of the last point, where a thread ends.
    pub fn end(&self) -> usize {
        self.points.len() - 1
    }
}

struct Assembler<X> {
    program: Vec<Instruction>,
    kinds: Vec<PointKind<X>>,
    counters: usize,
}

impl<X: Clone> Assembler<X> {
    fn point(&mut self, kind: PointKind<X>) {
        self.program.push(Instruction::Point(self.kinds.len()));
        self.kinds.push(kind);
    }

    /// Returns how many paths there are through the code that meet no point.
    fn sequence(&mut self, code: &[Op<X>]) -> usize {
        // From the beginning, and since the last place where every path met a point.
        let (mut through, mut since) = (1, 1);
        for op in code {
            let paths = self.operation(op);
            (through, since) = (through * paths, if paths == 0 { 1 } else { since * paths });
            if since > MAX_PATHS {
                self.point(PointKind::Nop);
                (through, since) = (0, 1);
            }
        }
        through
    }

    /// Returns as [`Assembler::sequence`] does.
    fn operation(&mut self, op: &Op<X>) -> usize {
        match op {
            Op::Work { amount, times } => {
                self.point(PointKind::Work { amount: *amount, times: *times });
            }
            Op::Until(amount) => self.point(PointKind::Until(*amount)),
            Op::Own(own) => self.point(PointKind::Own(own.clone())),
            Op::Barrier { price, solo } => {
                self.point(PointKind::Barrier { price: *price, solo: *solo });
            }
            Op::Mark => {
                self.program.push(Instruction::Mark);
                return 1;
            }
            Op::Repeat { count, body } => {
                self.repeat(*count, body);
                return 1;
            }
            Op::If { condition, then, otherwise } => {
                return self.branch(*condition, then, otherwise);
            }
        }
        0
    }

    fn repeat(&mut self, count: AmountId, body: &[Op<X>]) {
        let counter = self.counters;
        self.counters += 1;
        let enter = self.program.len();
        self.program.push(Instruction::Enter { counter, count, exit: 0 });
        if self.sequence(body) > 0 {
            self.point(PointKind::Nop);
        }
        self.program.push(Instruction::Back { counter, body: enter + 1 });
        let exit = self.program.len();
        self.program[enter] = Instruction::Enter { counter, count, exit };
    }

    fn branch(&mut self, condition: AmountId, then: &[Op<X>], otherwise: &[Op<X>]) -> usize {
        let test = self.program.len();
        self.program.push(Instruction::Go(0));
        let paths = self.sequence(then);
        let skip = self.program.len();
        self.program.push(Instruction::Go(0));
        self.program[test] = Instruction::Unless { condition, target: self.program.len() };
        let others = self.sequence(otherwise);
        self.program[skip] = Instruction::Go(self.program.len());
        paths + others
    }
}

/// Follows every path from instruction `at` to the next point.
fn follow(program: &[Instruction], mut at: usize, mut path: Exit, out: &mut Vec<Exit>) {
    loop {
        match &program[at] {
            Instruction::Point(target) => {
                path.target = *target;
                out.push(path);
                return;
            }
            Instruction::Mark => {
                path.mark = true;
                at += 1;
            }
            Instruction::Go(target) => at = *target,
            Instruction::Enter { counter, count, exit } => {
                let mut skip = path.clone();
                skip.guards.push(Guard::Positive(*count, false));
                follow(program, *exit, skip, out);
                path.guards.push(Guard::Positive(*count, true));
                path.counters.retain(|(c, _)| c != counter);
                path.counters.push((*counter, Count::Begin(*count)));
                at += 1;
            }
            Instruction::Back { counter, body } => {
                let mut again = path.clone();
                again.guards.push(Guard::More(*counter, true));
                again.counters.push((*counter, Count::Less));
                follow(program, *body, again, out);
                path.guards.push(Guard::More(*counter, false));
                at += 1;
            }
            Instruction::Unless { condition, target } => {
                let mut other = path.clone();
                other.guards.push(Guard::True(*condition, false));
                follow(program, *target, other, out);
                path.guards.push(Guard::True(*condition, true));
                at += 1;
            }
        }
    }
}
