//! What a second thread adds to the throughput of a sharded filter.
//!
//! ```console
//! $ cargo bench -p timebloom --bench sharded            # default_shards()
//! $ cargo bench -p timebloom --bench sharded -- 8 64    # these numbers of shards
//! ```
//!
//! Three ways to use two cores take turns in many short visits, so that what else the machine does hits all alike, and the
//! best visit of each counts: one thread; two threads that share the filter; and two threads with a filter each, which
//! is all that the machine has to give. Items are 16 bytes, one a call or many in a batch. `insert_if_new` gets new items
//! only, at the steady rate that the window is built for; `contains` asks for items of the window and for new ones in turn.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use timebloom::{Sharded, TimeBloom, Timestamp, default_shards};

const SPAN: Duration = Duration::from_secs(60);
const VISITS: usize = 200;
/// Of all threads together, per visit.
const OPERATIONS: u64 = 20_000;
/// Items of a batch.
const BATCH: usize = 256;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    One,
    Shared,
    Apart,
}

const MODES: [Mode; 3] = [Mode::One, Mode::Shared, Mode::Apart];

#[derive(Clone, Copy)]
enum Operation {
    Insert,
    InsertBatch,
    Contains,
    ContainsBatch,
}

const KINDS: [(Operation, &str); 4] = [
    (Operation::Insert, "insert_if_new"),
    (Operation::Contains, "contains"),
    (Operation::InsertBatch, "insert_if_new_batch"),
    (Operation::ContainsBatch, "contains_batch"),
];

/// A filter in a stream of `window` items per span.
struct Stream {
    filter: Sharded<TimeBloom>,
    window: u64,
}

fn key(item: u64) -> [u8; 16] {
    let mut bytes = *b"12345678@example";
    bytes[..8].copy_from_slice(&item.to_le_bytes());
    bytes
}

impl Stream {
    /// A filter that has seen the items up to `items`.
    fn new(window: u64, shards: usize, items: u64) -> Self {
        let builder = TimeBloom::builder(SPAN).expected_items(window).seed(1);
        let stream = Stream { filter: builder.build_sharded(shards).expect("legal parameters"), window };
        stream.insert_new(0..items, 1);
        stream
    }

    fn time_of(&self, item: u64) -> Timestamp {
        let nanos = u128::from(item) * SPAN.as_nanos() / u128::from(self.window);
        Timestamp::from_nanos(u64::try_from(nanos).expect("less than 500 years"))
    }

    /// Inserts every `step`-th of the items.
    fn insert_new(&self, items: std::ops::Range<u64>, step: usize) {
        for item in items.step_by(step) {
            let _ = black_box(self.filter.insert_if_new_at(key(item), self.time_of(item)));
        }
    }

    /// The same in batches, each at the time of its last item.
    fn insert_new_batches(&self, items: std::ops::Range<u64>, step: usize) {
        let (mut batch, mut answers) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut items = items.step_by(step).peekable();
        while let Some(item) = items.next() {
            batch.push(key(item));
            if batch.len() == BATCH || items.peek().is_none() {
                self.filter.insert_if_new_batch_at(&batch, self.time_of(item), &mut answers);
                black_box(&answers);
                batch.clear();
            }
        }
    }

    /// Items to ask for when `items` have been seen, in an order that caches cannot guess.
    fn questions(&self, items: u64, operations: u64, place: u64) -> impl Iterator<Item = [u8; 16]> {
        let (mut place, window) = (place, self.window);
        (0..operations).map(move |operation| {
            place = (place + 0x9e37_79b9) % window;
            key(if operation % 2 == 0 { items - 1 - place } else { !place })
        })
    }

    /// Asks for such items.
    fn contains(&self, items: u64, operations: u64, place: u64) {
        let now = self.time_of(items);
        for item in self.questions(items, operations, place) {
            black_box(self.filter.contains_at(item, now));
        }
    }

    /// The same in batches.
    fn contains_batches(&self, items: u64, operations: u64, place: u64) {
        let now = self.time_of(items);
        let (mut batch, mut seen) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut questions = self.questions(items, operations, place);
        loop {
            batch.clear();
            batch.extend(questions.by_ref().take(BATCH));
            if batch.is_empty() {
                return;
            }
            self.filter.contains_batch_at(&batch, now, &mut seen);
            black_box(&seen);
        }
    }
}

/// When a thread began and ended, for each operation and mode of every visit.
type Times = Vec<[[Option<(Instant, Instant)>; 3]; KINDS.len()]>;

/// What one of the two threads does.
fn work(me: usize, streams: &[Stream; 2], items: u64, gate: &Barrier, ready: &AtomicUsize) -> Times {
    // what each of the streams has seen
    let mut items = [items; 2];
    let mut passed = 0;
    // all at the same moment: a barrier wakes threads one after the other
    let mut meet = || {
        gate.wait();
        passed += 2;
        ready.fetch_add(1, Ordering::Relaxed);
        while ready.load(Ordering::Relaxed) < passed {
            std::hint::spin_loop();
        }
    };
    let timed = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        Some((start, Instant::now()))
    };
    let mut times = vec![[[None; 3]; KINDS.len()]; VISITS];
    for visit in &mut times {
        for (place, mode) in MODES.into_iter().enumerate() {
            // in each mode a stream goes on at its rate: threads that share one take every second item
            let (mine, first, step) = match mode {
                Mode::One => (0, 0, 1),
                Mode::Shared => (0, me as u64, 2),
                Mode::Apart => (me, 0, 1),
            };
            let idle = mode == Mode::One && me > 0;
            let share = if mode == Mode::Apart { OPERATIONS / 2 } else { OPERATIONS };
            let questions = if mode == Mode::One { OPERATIONS } else { OPERATIONS / 2 };
            for (kind, (operation, _)) in KINDS.into_iter().enumerate() {
                let before = items[mine];
                if matches!(operation, Operation::Insert | Operation::InsertBatch) {
                    items[0] += share;
                    items[1] += if mode == Mode::Apart { share } else { 0 };
                }
                let (stream, now) = (&streams[mine], items[mine]);
                let from = me as u64 * stream.window / 3;
                meet();
                if !idle {
                    visit[kind][place] = timed(&|| match operation {
                        Operation::Insert => stream.insert_new(before + first..now, step),
                        Operation::InsertBatch => stream.insert_new_batches(before + first..now, step),
                        Operation::Contains => stream.contains(now, questions, from),
                        Operation::ContainsBatch => stream.contains_batches(now, questions, from),
                    });
                }
            }
        }
    }
    times
}

/// Operations a second in each mode, the best of all visits.
fn best(window: u64, shards: usize) -> [[f64; 3]; KINDS.len()] {
    let before = 3 * window;
    let streams = [(); 2].map(|()| Stream::new(window, shards, before));
    let (gate, ready) = (Barrier::new(2), AtomicUsize::new(0));
    let times = thread::scope(|scope| {
        let threads = [0, 1].map(|me| {
            let (streams, gate, ready) = (&streams, &gate, &ready);
            scope.spawn(move || work(me, streams, before, gate, ready))
        });
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let mut best = [[0.0_f64; 3]; KINDS.len()];
    for visit in 0..VISITS {
        for (operation, modes) in best.iter_mut().enumerate() {
            for (mode, best) in modes.iter_mut().enumerate() {
                let ran = || times.iter().filter_map(|thread| thread[visit][operation][mode]);
                let start = ran().map(|(start, _)| start).min().expect("at least one ran");
                let end = ran().map(|(_, end)| end).max().expect("at least one ran");
                *best = best.max(OPERATIONS as f64 / (end - start).as_secs_f64());
            }
        }
    }
    best
}

fn main() {
    // cargo passes `--bench`; numbers are ours
    let mut shard_counts: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if shard_counts.is_empty() {
        shard_counts.push(default_shards());
    }
    println!("Million operations a second by one thread, by two that share the filter, by two with a filter each.\n");
    println!("| operation | window | shards | one | shared | apart | shared / one | shared / apart |");
    println!("|---|---|---|---|---|---|---|---|");
    for window in [10_000, 1_000_000] {
        for &shards in &shard_counts {
            for ((_, operation), modes) in KINDS.into_iter().zip(best(window, shards)) {
                let [one, shared, apart] = modes.map(|per_second| per_second / 1e6);
                println!(
                    "| {operation} | {window} | {shards} | {one:.2} | {shared:.2} | {apart:.2} | {:.2} | {:.2} |",
                    shared / one,
                    shared / apart
                );
            }
        }
    }
}
