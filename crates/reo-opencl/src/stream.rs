//! The dense product block by block, made by this machine's threads or by OpenCL devices.
//!
//! [`Maker::run`] makes blocks, has their rows seen in parallel ([`RowsOf`]), and passes what was
//! kept on, block by block, while the next is made. Devices take blocks from one [`Queue`], each
//! when it is done; near the end a device leaves a block to others that are faster.

use std::collections::VecDeque;
use std::slice;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::dense::{
    self, CellTally, Checksum, DenseError, DenseStream, Matrix, RowBlock, RowsOf, SparseForm,
    in_turn,
};

use super::multiplier::{Multiplier, MultiplierError, MultiplierResult, agree};
use super::tally::Clause;
use tickbound_device::Device;

/// Who makes the blocks.
#[derive(Debug, Clone, Copy)]
pub enum Maker<'a> {
    /// This machine's threads.
    Threads,
    /// Devices, one or more; threads see what they have made.
    Devices(&'a [Device]),
}

impl Maker<'_> {
    /// How it is called where results are shown.
    pub fn name(&self) -> String {
        match self {
            Maker::Threads => "cpu".into(),
            Maker::Devices(devices) => {
                let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
                names.join(" + ")
            }
        }
    }

    /// How many blocks it has in memory as cells, at most.
    pub fn blocks(&self) -> usize {
        match self {
            // Rows of a block are seen as they are made.
            Maker::Threads => 0,
            // One that is seen; of each device one that comes back and one in its memory.
            Maker::Devices(devices) => 1 + 2 * devices.len(),
        }
    }

    /// Makes `blocks`, and gives what `see` keeps of the rows of each, in their order, to `take`:
    /// block by block, in the order of `blocks` if no more than one device makes them, else as they
    /// are ready.
    ///
    /// # Errors
    /// A device failed, there is too little memory, it was stopped, or an error of `take`. What was
    /// taken by then are whole blocks.
    pub fn run<T: Send, E: Send + From<MultiplierError>>(
        self,
        stream: &DenseStream,
        blocks: impl IntoIterator<Item = RowBlock>,
        limits: &ProductLimits,
        see: impl Fn(RowsOf) -> T + Sync,
        mut take: impl FnMut(RowBlock, Vec<T>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let dense = |e: DenseError| E::from(e.into());
        let devices = match self {
            Maker::Threads => {
                let make = |block| stream.each(block, limits, &see).map_err(dense);
                return in_turn(blocks, make, take);
            }
            Maker::Devices(devices) => devices,
        };
        // Cells that were seen, to be filled again: fresh memory costs more than the product.
        let seen = Mutex::new(Vec::new());
        let open = |engine: &Multiplier, work: &mut dyn FnMut(Make<Vec<u64>>) -> WorkResult| {
            let rows = engine.rows(stream.plan(), stream.words())?;
            work(&mut |block| {
                let mut cells: Vec<u64> = lock(&seen).pop().unwrap_or_default();
                cells.resize(block.rows * stream.plan().sizes.row(), 0);
                rows.fill(block.first, &mut cells, limits)?;
                Ok(cells)
            })
        };
        shared(devices, blocks, open, |block, cells| {
            let kept = stream.pieces(block, &cells, limits, &see).map_err(dense)?;
            lock(&seen).push(cells);
            take(block, kept)
        })
    }
}

/// The product of any number of matrices as sparse rows, by threads; or a device makes blocks of
/// `bytes` bytes of cells, and threads leave out empty slots while it makes the next.
///
/// # Errors
/// As [`Maker::run`]; or the device gave a wrong product.
pub fn composed(
    device: Option<&Device>,
    parts: &[Matrix],
    form: SparseForm,
    bytes: u64,
    limits: &ProductLimits,
) -> MultiplierResult<Automaton> {
    let Some(device) = device else { return Ok(dense::compose(parts, form, limits)?) };
    let plan = dense::plan(parts, limits)?;
    let stream = DenseStream::new(&plan, bytes);
    let (mut all, mut sum) = (plan.room(form, limits)?, Checksum::default());
    let see = |rows: RowsOf| (rows.checksum(), rows.sparse(form));
    let maker = Maker::Devices(slice::from_ref(device));
    maker.run(&stream, stream.blocks(), limits, see, |_, seen| {
        for (here, rows) in seen {
            sum = sum + here;
            all.append(&rows);
        }
        Ok::<(), MultiplierError>(())
    })?;
    agree(&device.name, plan.checksum(), sum)?;
    Ok(plan.assembled(all)?)
}

/// Totals of the rows of `blocks`, counted by `devices` without a word of them in memory, as
/// [`Maker::run`] gives blocks; `clauses` are those of [`Multiplier::tallies`].
///
/// # Errors
/// As [`Maker::run`].
pub fn tallied<E: Send + From<MultiplierError>>(
    devices: &[Device],
    stream: &DenseStream,
    blocks: impl IntoIterator<Item = RowBlock>,
    clauses: Option<&[Clause]>,
    limits: &ProductLimits,
    take: impl FnMut(RowBlock, CellTally) -> Result<(), E> + Send,
) -> Result<(), E> {
    let open = |engine: &Multiplier, work: &mut dyn FnMut(Make<CellTally>) -> WorkResult| {
        let rows = engine.tallies(stream.plan(), clauses, None)?;
        work(&mut |block| rows.count(block, limits))
    };
    shared(devices, blocks, open, take)
}

/// Makes something of a block.
type Make<'m, M> = &'m mut dyn FnMut(RowBlock) -> MultiplierResult<M>;

type WorkResult = MultiplierResult<()>;

/// Lets devices take blocks from one queue. `open` makes ready what makes something of a block on
/// one device, and gives it to its second argument; `take` gets what was made.
fn shared<M: Send, E: Send + From<MultiplierError>>(
    devices: &[Device],
    blocks: impl IntoIterator<Item = RowBlock>,
    open: impl Fn(&Multiplier, &mut dyn FnMut(Make<M>) -> WorkResult) -> WorkResult + Sync,
    mut take: impl FnMut(RowBlock, M) -> Result<(), E> + Send,
) -> Result<(), E> {
    let queue = Mutex::new(Queue::new(blocks, devices.len()));
    thread::scope(|scope| {
        let (sender, made) = sync_channel(0);
        for (number, device) in devices.iter().enumerate() {
            let (sender, queue, open) = (sender.clone(), &queue, &open);
            scope.spawn(move || {
                // Handles of OpenCL stay with the thread that has them.
                let engine = Multiplier::new(device).map_err(MultiplierError::from);
                let mut work = |make: Make<M>| in_queue(queue, number, &sender, make);
                if let Err(error) = engine.and_then(|engine| open(&engine, &mut work)) {
                    // After another error the receiver has ended.
                    let _ = sender.send(Err(error));
                }
            });
        }
        drop(sender);
        // A device gives up once its blocks are not taken.
        for made in made {
            let (block, made) = made?;
            take(block, made)?;
        }
        Ok(())
    })
}

fn in_queue<M>(
    queue: &Mutex<Queue>,
    number: usize,
    sender: &SyncSender<MultiplierResult<(RowBlock, M)>>,
    make: Make<M>,
) -> WorkResult {
    loop {
        let Some(block) = lock(queue).next(number) else { return Ok(()) };
        let began = Instant::now();
        let made = make(block)?;
        lock(queue).done(number, block, began.elapsed().as_secs_f64());
        if sender.send(Ok((block, made))).is_err() {
            return Ok(());
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Queue {
    blocks: VecDeque<RowBlock>,
    /// Rows of these.
    rows: usize,
    /// Rows a second of each device's last block; `None` before the first and after its last.
    speeds: Vec<Option<f64>>,
}

impl Queue {
    fn new(blocks: impl IntoIterator<Item = RowBlock>, devices: usize) -> Queue {
        let blocks: VecDeque<RowBlock> = blocks.into_iter().collect();
        let rows = blocks.iter().map(|block| block.rows).sum();
        Queue { blocks, rows, speeds: vec![None; devices] }
    }

    /// The next block for a device; none if all are taken, or the others will have made all that
    /// are left before this device would have made one.
    fn next(&mut self, device: usize) -> Option<RowBlock> {
        let block = *self.blocks.front()?;
        if let Some(speed) = self.speeds[device] {
            let others = self.speeds.iter().enumerate().filter(|(other, _)| *other != device);
            let others: f64 = others.filter_map(|(_, speed)| *speed).sum();
            if others * (block.rows as f64 / speed) > self.rows as f64 {
                self.speeds[device] = None;
                return None;
            }
        }
        self.rows -= block.rows;
        self.blocks.pop_front()
    }

    fn done(&mut self, device: usize, block: RowBlock, seconds: f64) {
        self.speeds[device] = Some(block.rows as f64 / seconds.max(1e-9));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: usize) -> RowBlock {
        RowBlock { number, first: 10 * number, rows: 10 }
    }

    #[test]
    fn blocks_in_proportion_to_speed() {
        // Ten, three and one blocks in thirty seconds: the three devices on one clock, in ticks of
        // a second.
        let seconds = [3, 10, 30];
        let mut queue = Queue::new((0..140).map(block), 3);
        let mut works = [None; 3];
        let mut made = [0; 3];
        let mut all = Vec::new();
        let mut last = 0;
        for now in 0..1000 {
            for device in 0..3 {
                if let Some((block, until)) = works[device]
                    && until == now
                {
                    queue.done(device, block, seconds[device] as f64);
                    made[device] += 1;
                    all.push(block.number);
                    works[device] = None;
                    last = now;
                }
                if works[device].is_none() {
                    works[device] = queue.next(device).map(|block| (block, now + seconds[device]));
                }
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..140).collect::<Vec<_>>());
        assert_eq!((made, last), ([100, 30, 10], 301));
    }

    #[test]
    fn the_last_blocks_are_not_for_the_slow() {
        let mut queue = Queue::new((0..4).map(block), 2);
        let (fast, slow) = (queue.next(0).unwrap(), queue.next(1).unwrap());
        queue.done(0, fast, 1.0);
        queue.done(1, slow, 5.0);
        assert_eq!(queue.next(1), None);
        assert_eq!(
            [queue.next(0), queue.next(0), queue.next(0)],
            [Some(block(2)), Some(block(3)), None]
        );
    }
}
