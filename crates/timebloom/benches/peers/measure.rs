//! Taking times.
//!
//! All filters of one window and rate are filled first. Then they are visited in turns, several times, and each visit
//! times a number of chunks of each operation. A disturbance of the machine thus meets all of them, and the tenth
//! percentile of all chunks of an operation leaves most of it out. Insertions have a mean too, with all shifts: the least of
//! the means of every third visit, in processor time. Each has many shifts, or what is done in small steps instead of them,
//! and a disturbance that lasts for a visit or two leaves one of them alone.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::clock::{Elapsed, Stopwatch};
use crate::filters::{Filter, Kind, Mode};
use crate::options::{Options, Run};
use crate::report::grouped;
use crate::workload::{CHUNK, Keys, Stream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Of items never seen before.
    Insert,
    /// A query for an item that is held, any of them.
    Hit,
    /// A query for an item that was never inserted.
    Miss,
}

impl Operation {
    pub const ALL: [Operation; 3] = [Operation::Insert, Operation::Hit, Operation::Miss];

    pub fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Hit => "hit",
            Operation::Miss => "miss",
        }
    }
}

/// The times of one operation of one filter, in nanoseconds each.
#[derive(Clone, Debug)]
pub struct Timing {
    pub operation: Operation,
    pub mode: Mode,
    /// The tenth percentile of the chunks' means.
    pub low: f64,
    /// The mean of the chunks of every third visit, in processor time; the least of three.
    pub mean: f64,
}

/// What was found out about one filter.
#[derive(Clone, Debug)]
pub struct Measured {
    pub kind: Kind,
    pub timings: Vec<Timing>,
    pub bits_per_item: f64,
    /// The share of absent items that are reported where the rate peaks.
    pub false_positive_rate: f64,
    /// For our filters, and for the one that they are compared with: it never has anything else to do, so that its longest
    /// ones show what the machine does.
    pub pauses: Option<Pauses>,
}

impl Measured {
    pub fn timing(&self, operation: Operation, mode: Mode) -> Option<&Timing> {
        self.timings.iter().find(|timing| timing.operation == operation && timing.mode == mode)
    }
}

/// The longest insertions of a whole window, each timed by itself, in processor time; the least of three windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    /// Of those that began a generation, in filters that have some.
    pub shift: Option<Duration>,
    /// Of all others.
    pub other: Duration,
}

impl Pauses {
    fn shorter(self, other: Self) -> Self {
        Pauses { shift: self.shift.min(other.shift), other: self.other.min(other.other) }
    }
}

/// All filters at one window and rate.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub window: u64,
    pub eps: f64,
    pub filters: Vec<Measured>,
    /// Filters that were left out, and why.
    pub left_out: Vec<(Kind, String)>,
}

impl Comparison {
    pub fn filter(&self, kind: Kind) -> Option<&Measured> {
        self.filters.iter().find(|measured| measured.kind == kind)
    }
}

/// How much to measure.
struct Effort {
    visits: usize,
    /// Chunks a visit for queries, and at least as many for insertions.
    chunks: u64,
    /// Queries for the false positive rate.
    absent: u64,
}

/// Operations of a kind at the beginning of each visit that are done but not timed: the others have emptied the caches, and
/// a stream in steady state finds in them what they can hold. A quarter of the window, but no more than brings back what
/// could be in a cache, and no less than a few chunks.
fn warm_up_chunks(window: u64) -> u64 {
    (window / 4).clamp(1 << 14, 1 << 18) / CHUNK as u64
}

pub fn measure(window: u64, eps: f64, options: &Options) -> Comparison {
    let effort = match options.run {
        Run::Quick | Run::Curve => Effort { visits: 8, chunks: 256, absent: 1_000_000 },
        Run::Full | Run::Small if window > 10_000_000 => Effort { visits: 12, chunks: 256, absent: 2_000_000 },
        Run::Full | Run::Small => Effort { visits: 12, chunks: 512, absent: 4_000_000 },
    };
    eprint!("window {}, rate {eps}: filling", grouped(window));
    let mut keys = Keys::new();
    let (mut subjects, mut left_out) = (Vec::new(), Vec::new());
    for &kind in &options.filters {
        for &mode in kind.modes() {
            match kind.build(eps, options.pair, Stream::new(window)) {
                Ok(filter) => {
                    progress(&format!(" {}", kind.name()));
                    let mut subject = Subject { kind, mode, filter, next: 0, cells: Vec::new() };
                    subject.fill(window, &mut keys);
                    subjects.push(subject);
                }
                Err(reason) => {
                    progress(&format!(" (not {}: {reason})", kind.name()));
                    left_out.push((kind, reason));
                    break;
                }
            }
        }
    }
    progress("; measuring ");
    for _ in 0..effort.visits {
        progress(".");
        // whoever comes first finds other caches than the rest: let it be another one each time
        subjects.rotate_left(1);
        for subject in &mut subjects {
            subject.visit(window, &effort, &mut keys);
        }
    }
    progress("; counting false positives, timing pauses ");
    let mut filters: Vec<Measured> = Vec::new();
    // what is told besides times is that of single calls
    subjects.sort_by_key(|subject| subject.mode != Mode::Single);
    for mut subject in subjects {
        progress(".");
        if let Some(measured) = filters.iter_mut().find(|measured| measured.kind == subject.kind) {
            measured.timings.extend(subject.cells.iter().map(Cell::timing));
            continue;
        }
        let false_positive_rate = subject.false_positive_rate(window, &effort, &mut keys);
        let bits_per_item = subject.filter.bytes() as f64 * 8.0 / window as f64;
        let has_pauses = subject.kind.is_ours() || subject.kind == Kind::FastBloom;
        let pauses = has_pauses.then(|| subject.pauses(window, &mut keys));
        let timings = subject.cells.iter().map(Cell::timing).collect();
        filters.push(Measured { kind: subject.kind, timings, bits_per_item, false_positive_rate, pauses });
    }
    progress("\n");
    filters.sort_by_key(|measured| Kind::ALL.iter().position(|&kind| kind == measured.kind));
    Comparison { window, eps, filters, left_out }
}

/// Tells those who wait how far things are.
fn progress(text: &str) {
    eprint!("{text}");
    let _ = std::io::stderr().flush(); // nobody may be looking
}

/// A filter in the middle of its stream.
struct Subject {
    kind: Kind,
    /// How it is called: a stream of batches has other times than one of single items, so each has its own filter.
    mode: Mode,
    filter: Box<dyn Filter>,
    /// The next item.
    next: u64,
    cells: Vec<Cell>,
}

/// The chunks of one operation.
struct Cell {
    operation: Operation,
    mode: Mode,
    /// Those of each visit.
    visits: Vec<Vec<Elapsed>>,
}

impl Cell {
    fn timing(&self) -> Timing {
        let mut sorted: Vec<Duration> = self.visits.iter().flatten().map(|chunk| chunk.wall).collect();
        sorted.sort_unstable();
        let nanos = |time: Duration| time.as_secs_f64() * 1e9 / CHUNK as f64;
        let mean_from = |first: usize| {
            let chunks: Vec<Duration> =
                self.visits.iter().skip(first).step_by(3).flatten().map(|chunk| chunk.processor).collect();
            nanos(chunks.iter().sum()) / chunks.len() as f64
        };
        Timing {
            operation: self.operation,
            mode: self.mode,
            low: nanos(sorted[sorted.len() / 10]),
            mean: (0..3).map(mean_from).fold(f64::INFINITY, f64::min),
        }
    }
}

impl Subject {
    fn fill(&mut self, window: u64, keys: &mut Keys) {
        let end = self.kind.items_to_fill(window);
        while self.next < end {
            self.insert(self.mode, keys.of(self.next..end));
        }
    }

    fn insert(&mut self, mode: Mode, keys: &[[u8; 16]]) {
        self.filter.insert(mode, black_box(keys), self.next);
        self.next += keys.len() as u64;
    }

    /// Times every operation.
    fn visit(&mut self, window: u64, effort: &Effort, keys: &mut Keys) {
        if self.cells.is_empty() {
            let mode = self.mode;
            self.cells = Operation::ALL.map(|operation| Cell { operation, mode, visits: Vec::new() }).into();
        }
        for cell in 0..self.cells.len() {
            let Cell { operation, mode, .. } = self.cells[cell];
            // over all visits an eighth of the window: several shifts
            let for_shifts = window / 8 / (CHUNK * effort.visits) as u64;
            let chunks = if operation == Operation::Insert { effort.chunks.max(for_shifts) } else { effort.chunks };
            let warm_up = warm_up_chunks(window);
            let mut timed = Vec::new();
            for chunk in 0..warm_up + chunks {
                let elapsed = match operation {
                    Operation::Insert => self.time_insert(mode, keys),
                    Operation::Hit => self.time_query(mode, keys.among(self.filter.held(self.next)), true),
                    Operation::Miss => self.time_query(mode, keys.absent(), false),
                };
                if chunk >= warm_up {
                    timed.push(elapsed);
                }
            }
            self.cells[cell].visits.push(timed);
        }
    }

    fn time_insert(&mut self, mode: Mode, keys: &mut Keys) -> Elapsed {
        let keys = keys.of(self.next..self.next + CHUNK as u64);
        self.filter.prepare(keys.len() as u64);
        let start = Stopwatch::start();
        self.insert(mode, keys);
        start.elapsed()
    }

    fn time_query(&mut self, mode: Mode, keys: &[[u8; 16]], held: bool) -> Elapsed {
        let start = Stopwatch::start();
        let seen = black_box(self.filter.count_seen(mode, black_box(keys), self.next - 1));
        let elapsed = start.elapsed();
        assert!(!held || seen == keys.len(), "{}: {seen} of {} items found", self.kind.name(), keys.len());
        elapsed
    }

    /// Asks for absent items at moments when the rate peaks, up to eight of them within a quarter of a window.
    fn false_positive_rate(&mut self, window: u64, effort: &Effort, keys: &mut Keys) -> f64 {
        const PEAKS: u64 = 8;
        let begin = self.next;
        let (mut asked, mut reported) = (0, 0);
        for peak in 1..=PEAKS {
            self.go_to_next_peak(keys);
            let is_last = peak == PEAKS || self.next - begin >= window / 4;
            let until = if is_last { effort.absent } else { effort.absent * peak / PEAKS };
            while asked < until {
                let keys = keys.absent();
                reported += self.filter.count_seen(Mode::Single, keys, self.next - 1);
                asked += keys.len() as u64;
            }
            if is_last {
                break;
            }
        }
        reported as f64 / asked as f64
    }

    fn go_to_next_peak(&mut self, keys: &mut Keys) {
        loop {
            self.filter.prepare(1);
            self.insert(Mode::Single, keys.of(self.next..self.next + 1));
            if self.filter.is_at_peak(self.next) {
                return;
            }
        }
    }

    /// Times each insertion of a whole window, three times. What the filter itself does comes again with every window, and
    /// what the machine does seldom: the shortest of the longest pauses counts.
    fn pauses(&mut self, window: u64, keys: &mut Keys) -> Pauses {
        let first = self.pauses_once(window, keys);
        (1..3).fold(first, |shortest, _| shortest.shorter(self.pauses_once(window, keys)))
    }

    fn pauses_once(&mut self, window: u64, keys: &mut Keys) -> Pauses {
        let mut pauses = Pauses::default();
        let end = self.next + window;
        while self.next < end {
            self.filter.prepare(CHUNK as u64);
            let mut longest = Duration::ZERO;
            let chunk = Stopwatch::start();
            for key in keys.of(self.next..end) {
                let key = std::slice::from_ref(black_box(key));
                if self.kind.is_ours() && self.filter.is_at_peak(self.next) {
                    let start = Stopwatch::start();
                    self.insert(Mode::Single, key);
                    pauses.shift = pauses.shift.max(Some(start.elapsed().processor));
                } else {
                    let start = Instant::now();
                    self.insert(Mode::Single, key);
                    longest = longest.max(start.elapsed());
                }
            }
            // time that the thread did not run was most likely inside the insertion that seemed the longest
            let chunk = chunk.elapsed();
            let lost = chunk.wall.saturating_sub(chunk.processor);
            // less than another program takes is what the two clocks differ by
            let lost = if lost < Duration::from_micros(5) { Duration::ZERO } else { lost };
            pauses.other = pauses.other.max(longest.saturating_sub(lost));
        }
        pauses
    }
}
