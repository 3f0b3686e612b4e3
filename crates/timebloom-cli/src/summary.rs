//! What a run tells about itself at its end, for people or for programs.

use std::time::Duration;

use serde_json::{Value, json};
use timebloom::{Stats, Timestamp};

use crate::duration;
use crate::judge::{Filter, Judge, Place};
use crate::output::Counts;
use crate::server::ServerWindow;
use crate::size::{group, show};

/// The figures of a run.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    pub(crate) counts: &'a Counts,
    pub(crate) judge: &'a Judge,
    pub(crate) elapsed: Duration,
    /// Times that the state was saved.
    pub(crate) saves: u64,
}

impl Summary<'_> {
    fn records_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.counts.records as f64 / seconds } else { 0.0 }
    }

    fn filter(&self) -> Option<(&Filter, Stats)> {
        match &self.judge.place {
            Place::Here(filter) => Some((filter, filter.stats(self.judge.now().max(Timestamp::MIN)))),
            Place::There(_) => None,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let counts = self.counts;
        let share = |part: u64| if counts.records > 0 { 100.0 * part as f64 / counts.records as f64 } else { 0.0 };
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| lines.push(format!("{name:<16}{value}"));
        line("lines", format!("{} ({})", group(counts.records), show(counts.bytes)));
        line("unique", format!("{} ({:.1} %)", group(counts.new), share(counts.new)));
        line("suppressed", format!("{} ({:.1} %)", group(counts.seen), share(counts.seen)));
        if counts.unkeyed > 0 {
            line("without key", group(counts.unkeyed));
        }
        if counts.late > 0 {
            line("dropped as late", group(counts.late));
        }
        if self.judge.late_kept > 0 {
            line("late, but kept", group(self.judge.late_kept));
        }
        if self.judge.ahead > 0 {
            line("too far ahead", group(self.judge.ahead));
        }
        line("time", format!("{:.2} s, {:.0} lines/s", self.elapsed.as_secs_f64(), self.records_per_second()));
        if let Some((filter, stats)) = self.filter() {
            match filter {
                Filter::Time(_) => line("window", duration::show(self.judge.window)),
                Filter::Count(filter) => line("window", format!("the last {} lines", group(filter.capacity()))),
            }
            line("in the window", format!("{} items", group(stats.items_in_window)));
            let rates = (stats.false_positive_rate, stats.worst_false_positive_rate);
            line("false positives", format!("{:.6} estimated now, {:.6} at worst", rates.0, rates.1));
            let per_item = stats.bits_per_item().map_or(String::new(), |bits| format!(", {bits:.1} bits an item"));
            line("memory", format!("{}{per_item}", show(stats.memory_bytes as u64)));
            if stats.shortened > 0 {
                line("shortened", format!("{} slices forgotten early, for want of memory", group(stats.shortened)));
            }
        }
        if let Place::There(server) = &self.judge.place {
            line("server", format!("{} {}", server.options().url_without_secrets(), server.options().key));
            if server.reconnections() > 0 {
                line("reconnections", group(server.reconnections()));
                line("uncertain", format!("{} (printed, perhaps again)", group(server.uncertain)));
            }
        }
        if self.saves > 0 {
            line("state saved", format!("{} times", group(self.saves)));
        }
        lines.join("\n")
    }

    pub(crate) fn to_json(&self) -> Value {
        let counts = self.counts;
        let mut summary = json!({
            "lines": counts.records,
            "bytes": counts.bytes,
            "unique": counts.new,
            "suppressed": counts.seen,
            "without_key": counts.unkeyed,
            "dropped_late": counts.late,
            "late_kept": self.judge.late_kept,
            "ahead": self.judge.ahead,
            "seconds": self.elapsed.as_secs_f64(),
            "lines_per_second": self.records_per_second(),
            "saves": self.saves,
        });
        let more = match (&self.judge.place, self.filter()) {
            (Place::There(server), _) => json!({
                "server": server.options().url_without_secrets(),
                "key": server.options().key,
                "shards": server.options().shards,
                "window_ms": match server.options().window {
                    ServerWindow::Time(window) => json!(millis(window)),
                    ServerWindow::Count(_) => Value::Null,
                },
                "reconnections": server.reconnections(),
                "uncertain": server.uncertain,
            }),
            (Place::Here(_), Some((filter, stats))) => {
                let mut figures = filter_json(filter, &stats);
                if matches!(filter, Filter::Time(_)) {
                    // the filter itself remembers longer, for lines out of order
                    figures["window_ms"] = json!(millis(self.judge.window));
                }
                figures
            }
            (Place::Here(_), None) => Value::Null,
        };
        if let (Value::Object(summary), Value::Object(more)) = (&mut summary, more) {
            summary.extend(more);
        }
        summary
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The figures of a filter, as `dedup --stats=json` and `inspect --json` give them.
pub(crate) fn filter_json(filter: &Filter, stats: &Stats) -> Value {
    let (window_ms, last, plan) = match filter {
        Filter::Time(filter) => (json!(millis(filter.span())), Value::Null, filter.plan()),
        Filter::Count(filter) => (Value::Null, json!(filter.capacity()), filter.plan()),
    };
    json!({
        "window_ms": window_ms,
        "last": last,
        "error": plan.false_positive_rate(),
        "hashes": plan.hashes(),
        "aging_slices": plan.aging_slices(),
        "slices": stats.slices,
        "bits": stats.bits,
        "items_in_window": stats.items_in_window,
        "inserted": stats.inserted,
        "false_positive_rate": stats.false_positive_rate,
        "worst_false_positive_rate": stats.worst_false_positive_rate,
        "memory_bytes": stats.memory_bytes,
        "bits_per_item": stats.bits_per_item(),
        "shortened": stats.shortened,
        "rejected": stats.rejected,
    })
}
