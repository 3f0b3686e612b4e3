//! Taking times: all filters of one kind of window and one rate are filled, and then visited in turns.
//!
//! A disturbance of the machine thus meets all of them, and the tenth percentile of all chunks leaves most of it out. Chunks
//! are of 512 operations, on a steady stream.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::stream::WindowKind;
use super::{Filter, Options, Promise, RATES};
use crate::baselines::{Key, Window, Windowed, key};

const CHUNK: usize = 512;
/// Chunks at the beginning of a visit that are done but not timed: the others have emptied the caches, and so many queries
/// see most lines of a filter of a million items.
const WARM_UP: usize = 64;
/// Keys with numbers from here on are never inserted.
const ABSENT: u64 = 1 << 50;
/// The clock's steps between two items of a time window.
const GAP: u64 = 1_000;

/// Nanoseconds for each operation of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    /// Items in the window.
    pub items: u64,
    pub insert: f64,
    pub hit: f64,
    pub miss: f64,
}

/// The times of all filters.
pub(super) struct Times(Vec<(Filter, WindowKind, f64, Timed)>);

impl Times {
    pub(super) fn of(&self, filter: Filter, kind: WindowKind, eps: f64) -> Timed {
        let found = self.0.iter().find(|&&(f, k, e, _)| f == filter && k == kind && e == eps);
        found.expect("all were timed").3
    }
}

/// How much to measure.
struct Effort {
    items: u64,
    visits: usize,
    /// Chunks of each operation in a visit.
    chunks: usize,
}

pub(super) fn measure(options: &Options, progress: &mut dyn FnMut(&str, f64)) -> Times {
    let effort = if options.quick {
        Effort { items: 100_000, visits: 6, chunks: 12 }
    } else {
        Effort { items: 1_000_000, visits: 16, chunks: 24 }
    };
    let mut times = Vec::new();
    let rounds: Vec<(WindowKind, f64)> =
        [WindowKind::Count, WindowKind::Time].into_iter().flat_map(|kind| RATES.map(|eps| (kind, eps))).collect();
    for (round, &(kind, eps)) in rounds.iter().enumerate() {
        let what = format!("timing {} windows, rate {eps}", kind.name());
        let mut tell = |done: f64| progress(&what, (round as f64 + done) / rounds.len() as f64);
        measure_round(kind, eps, &effort, &mut tell, &mut times);
    }
    Times(times)
}

fn measure_round(
    kind: WindowKind,
    eps: f64,
    effort: &Effort,
    tell: &mut dyn FnMut(f64),
    times: &mut Vec<(Filter, WindowKind, f64, Timed)>,
) {
    let filters: Vec<Filter> = Filter::on(kind).collect();
    let steps = (filters.len() + effort.visits) as f64;
    let mut subjects: Vec<Subject> = Vec::new();
    for filter in filters {
        tell(subjects.len() as f64 / steps);
        subjects.push(Subject::filled(filter, kind, eps, effort.items));
    }
    let built = subjects.len();
    for visit in 0..effort.visits {
        tell((built + visit) as f64 / steps);
        // whoever comes first finds other caches than the rest: let it be another one each time
        subjects.rotate_left(1);
        for subject in &mut subjects {
            subject.visit(effort.chunks);
        }
    }
    times.extend(subjects.iter().map(|subject| (subject.filter, kind, eps, subject.timed())));
}

/// A filter in the middle of a steady stream.
struct Subject {
    filter: Filter,
    set: Box<dyn Windowed>,
    items: u64,
    /// The clock's steps between two items.
    gap: u64,
    /// The next item.
    next: u64,
    /// The next key that is never inserted.
    absent: u64,
    random: fastrand::Rng,
    inserts: Vec<Duration>,
    hits: Vec<Duration>,
    misses: Vec<Duration>,
}

impl Subject {
    fn filled(filter: Filter, kind: WindowKind, eps: f64, items: u64) -> Self {
        let (gap, window) = match kind {
            WindowKind::Count => (1, Window::count(items)),
            // the item of one span ago is in the window, too
            WindowKind::Time => (GAP, Window::time(items + 1, items * GAP)),
        };
        let mut subject = Subject {
            filter,
            set: filter.build(window, eps),
            items,
            gap,
            next: 0,
            absent: ABSENT,
            random: fastrand::Rng::with_seed(1),
            inserts: Vec::new(),
            hits: Vec::new(),
            misses: Vec::new(),
        };
        // those that follow the rate have slices of the beginning for two windows and more
        while subject.next < 4 * items + items / 8 {
            subject.insert_chunk();
        }
        subject
    }

    fn insert_chunk(&mut self) -> Duration {
        let numbers = self.next..self.next + CHUNK as u64;
        let keys: Vec<Key> = numbers.clone().map(key).collect();
        let times: Vec<u64> = numbers.map(|number| number * self.gap).collect();
        self.next += CHUNK as u64;
        let start = Instant::now();
        self.set.insert_all(black_box(&keys), black_box(&times));
        start.elapsed()
    }

    fn query_chunk(&self, keys: &[Key]) -> Duration {
        let now = (self.next - 1) * self.gap;
        let start = Instant::now();
        black_box(self.set.count_contained(black_box(keys), now));
        start.elapsed()
    }

    /// Keys of so many items of the window; of those that are reported, where a filter does not report all.
    fn reported_keys(&mut self, count: usize) -> Vec<Key> {
        let now = (self.next - 1) * self.gap;
        let window = self.next - self.items..self.next;
        let mut keys = Vec::with_capacity(count);
        while keys.len() < count {
            let key = key(self.random.u64(window.clone()));
            if self.filter.promise() != Promise::Never || self.set.contains(&key, now) {
                keys.push(key);
            }
        }
        keys
    }

    fn visit(&mut self, chunks: usize) {
        for chunk in 0..WARM_UP + chunks {
            let time = self.insert_chunk();
            if chunk >= WARM_UP {
                self.inserts.push(time);
            }
        }
        let reported = self.reported_keys((WARM_UP + chunks) * CHUNK);
        for (chunk, keys) in reported.chunks(CHUNK).enumerate() {
            let time = self.query_chunk(keys);
            if chunk >= WARM_UP {
                self.hits.push(time);
            }
        }
        for chunk in 0..WARM_UP + chunks {
            let absent: Vec<Key> = (self.absent..self.absent + CHUNK as u64).map(key).collect();
            self.absent += CHUNK as u64;
            let time = self.query_chunk(&absent);
            if chunk >= WARM_UP {
                self.misses.push(time);
            }
        }
    }

    fn timed(&self) -> Timed {
        Timed { items: self.items, insert: low(&self.inserts), hit: low(&self.hits), miss: low(&self.misses) }
    }
}

/// The tenth percentile of chunks, in nanoseconds an operation.
fn low(chunks: &[Duration]) -> f64 {
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 10].as_secs_f64() * 1e9 / CHUNK as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenth_percentile_leaves_disturbances_out() {
        let chunks: Vec<Duration> =
            (1..=100).map(|i| Duration::from_nanos(512 * if i > 50 { 1_000 } else { i })).collect();
        assert!((low(&chunks) - 11.0).abs() < 1e-9);
    }
}
