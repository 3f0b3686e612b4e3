//! Independent runs on all cores, with results in the order of the tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// `work` on each task; `done` hears which share of them is finished. What comes out does not depend on the number of
/// cores.
///
/// # Panics
///
/// If `work` does.
pub fn map<T: Sync, R: Send>(tasks: &[T], done: &mut dyn FnMut(f64), work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((at, task)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    tasks.get(at).map(|task| (at, task))
                } {
                    // nobody listens any more if another worker panicked
                    if sender.send((at, work(task))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut finished = 0;
        for (at, result) in receiver {
            results[at] = Some(result);
            finished += 1;
            done(f64::from(finished) / tasks.len() as f64);
        }
    });
    results.into_iter().map(|result| result.expect("every task was worked on")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_their_tasks() {
        let tasks: Vec<u64> = (0..100).collect();
        let mut shares = Vec::new();
        let squares = map(&tasks, &mut |share| shares.push(share), |task| {
            thread::yield_now();
            task * task
        });
        assert_eq!(squares, tasks.iter().map(|task| task * task).collect::<Vec<_>>());
        assert_eq!(shares.len(), 100);
        assert!(shares.is_sorted() && shares[99] == 1.0);
        assert!(map(&[] as &[u64], &mut |_| (), |task| *task).is_empty());
    }
}
