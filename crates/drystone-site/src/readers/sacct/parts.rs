//! A text read by several threads: each takes a block of whole lines, and what they bring is put
//! together in the order of the blocks, so that nothing depends on how many there are.

use super::SacctReader;
use crate::error::SiteError;
use crate::readers::FileReading;
use crate::readers::lines::{Blocks, LineBlock};
use crate::rows::{FilePlace, IntakeRecipe, RowIntake};
use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

struct BlockPart {
    intake: RowIntake,
    /// The last row, where it is cut off.
    cut: Option<FilePlace>,
    /// Line of the last row that was whole.
    behind: Option<u32>,
    block: LineBlock,
}

/// A block by its number, what its rows go into, and the line that names the columns before it.
type Work = (usize, LineBlock, RowIntake, Arc<[u8]>);

/// By the number of the block; a panic is passed on.
type Brought = (usize, thread::Result<Result<BlockPart, SiteError>>);

/// Reads the blocks that are left, as `reader` does.
pub(super) fn read_parts<R: Read>(
    blocks: &mut Blocks<R>,
    buffer: Vec<u8>,
    reader: &SacctReader,
    job: &mut FileReading<'_>,
) -> Result<(), SiteError> {
    // Most files have one block only, which is read: no thread for nothing.
    let first = match blocks.next(buffer) {
        Ok(Some(block)) => block,
        Ok(None) => return Ok(()),
        Err(error) => return job.note_broken(error, reader.behind.unwrap_or(0)),
    };
    let recipe = job.intake.part_recipe();
    let threads = job.effort.threads();
    let (to_workers, work) = channel::<Work>();
    let (brings, results) = channel::<Brought>();
    let work = Mutex::new(work);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (mut reader, brings) = (reader.new_reader(), brings.clone());
            let work = &work;
            scope.spawn(move || run_worker(&mut reader, work, &brings));
        }
        let order = BlockOrder {
            brought: results,
            next: 0,
            early: BTreeMap::new(),
            behind: reader.behind,
            recipe,
            spare: Vec::new(),
        };
        // Without work, which ends with this call, the workers end.
        drive_workers(first, blocks, (threads, reader.new_reader()), to_workers, order, job)
    })
}

/// Hands blocks out, and takes what they bring in their order.
fn drive_workers<R: Read>(
    first: LineBlock,
    blocks: &mut Blocks<R>,
    (threads, mut ahead): (usize, SacctReader),
    to_workers: Sender<Work>,
    mut order: BlockOrder,
    job: &mut FileReading<'_>,
) -> Result<(), SiteError> {
    let mut sent_count = 0;
    let mut failure = None;
    let mut names: Arc<[u8]> = ahead.header.as_slice().into();
    let mut block = Some((first, order.recipe.part_intake()));
    loop {
        job.watch.check_stop()?;
        match block.take() {
            Some((ready, part)) => {
                let before = Arc::clone(&names);
                ahead.pass_block(&ready);
                if *names != *ahead.header {
                    names = ahead.header.as_slice().into();
                }
                // A worker that is gone has panicked, and that comes back to here.
                let _ = to_workers.send((sent_count, ready, part, before));
                sent_count += 1;
            }
            None if order.next == sent_count => break,
            None => {}
        }
        // One block waits for each worker, so that none waits for a block.
        if failure.is_none() && sent_count - order.next <= threads {
            let (buffer, part) = order.spare.pop().unwrap_or_else(|| (Vec::new(), order.recipe.part_intake()));
            match blocks.next(buffer) {
                Ok(Some(next)) => {
                    block = Some((next, part));
                    continue;
                }
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        if order.next < sent_count {
            order.absorb_block(job)?;
        }
    }
    failure.map_or(Ok(()), |error| job.note_broken(error, order.behind.unwrap_or(0)))
}

/// Reads blocks until there are no more.
fn run_worker(reader: &mut SacctReader, work: &Mutex<Receiver<Work>>, brings: &Sender<Brought>) {
    loop {
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, block, mut intake, names)) = next else { return };
        let part = catch_unwind(AssertUnwindSafe(|| {
            reader.follow_header(&names);
            let cut = reader.take_rows(block.split_lines(), &mut intake)?;
            Ok(BlockPart { intake, cut, behind: reader.behind, block })
        }));
        if brings.send((number, part)).is_err() {
            return;
        }
    }
}

/// Contents of blocks, in their order.
struct BlockOrder {
    brought: Receiver<Brought>,
    /// The block whose turn it is.
    next: usize,
    /// Contents that came before their turn.
    early: BTreeMap<usize, thread::Result<Result<BlockPart, SiteError>>>,
    behind: Option<u32>,
    recipe: IntakeRecipe,
    /// Memory for other blocks and their rows.
    spare: Vec<(Vec<u8>, RowIntake)>,
}

impl BlockOrder {
    /// Takes what the next block brought.
    fn absorb_block(&mut self, job: &mut FileReading<'_>) -> Result<(), SiteError> {
        let part = loop {
            if let Some(part) = self.early.remove(&self.next) {
                break part;
            }
            // Each block that was handed out brings something.
            let Ok((number, part)) = self.brought.recv() else { return Ok(()) };
            self.early.insert(number, part);
        };
        self.next += 1;
        let mut part = part.unwrap_or_else(|panic| resume_unwind(panic))?;
        self.behind = self.behind.max(part.behind);
        job.intake.absorb_part(&mut part.intake);
        self.spare.push((part.block.into_buffer(), part.intake));
        part.cut.map_or(Ok(()), |place| job.note_cut(place))
    }
}
