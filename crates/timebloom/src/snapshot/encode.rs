//! Writing a filter.

use std::io::{self, Write};

use super::Stored;
use super::layout::{CHECKSUM_BYTES, MAGIC, RECORD_BYTES, VERSION};
use super::stream::Sink;
use crate::count_bloom::CountBloom;
use crate::sizing::Plan;
use crate::slices::Slices;
use crate::slices::stored::{RowRecord, SliceRecord};
use crate::time_bloom::TimeBloom;
use crate::window::{Config, Counters, Window};

/// What the snapshot of `filter` will take.
pub(super) fn size<F: Stored>(filter: &F) -> u64 {
    let slices = filter.slices();
    let words: usize = slices.stored().map(|(_, words)| words.len()).sum();
    let records = slices.len() * RECORD_BYTES;
    (F::KIND.header_bytes() + records + CHECKSUM_BYTES + words * size_of::<u64>() + CHECKSUM_BYTES) as u64
}

pub(super) fn write<F: Stored>(filter: &F, output: impl Write) -> io::Result<()> {
    let slices = filter.slices();
    let mut sink = Sink::new(output);
    sink.put(&MAGIC)?;
    sink.put(&VERSION.to_le_bytes())?;
    sink.put(&[F::KIND.code(), 0])?;
    let count = u32::try_from(slices.len()).expect("I2: at most MAX_SLICES slices");
    sink.put(&count.to_le_bytes())?;
    filter.write_own(&mut sink)?;
    for (record, _) in slices.stored() {
        let SliceRecord { bits, newest, items, last_generation } = record;
        sink.put(&bits.to_le_bytes())?;
        sink.put(&newest.as_nanos().to_le_bytes())?;
        sink.put(&items.to_le_bytes())?;
        sink.put(&last_generation.to_le_bytes())?;
    }
    sink.put_checksum()?;
    for (_, words) in slices.stored() {
        sink.put_words(words)?;
    }
    sink.put_checksum()?;
    sink.finish()
}

/// The fields that every kind has; `choices` are codes that only some kinds use.
fn write_common(
    sink: &mut Sink<impl Write>,
    plan: &Plan,
    seed: u64,
    slices: &Slices,
    choices: [u8; 4],
) -> io::Result<()> {
    let RowRecord { hashes, generation_items, opened, newest } = slices.record();
    let aging_slices = u32::try_from(plan.aging_slices()).expect("at most MAX_AGING_SLICES by Plan");
    sink.put(&plan.false_positive_rate().to_le_bytes())?;
    sink.put(&hashes.to_le_bytes())?;
    sink.put(&aging_slices.to_le_bytes())?;
    sink.put(&seed.to_le_bytes())?;
    sink.put(&opened.to_le_bytes())?;
    sink.put(&newest.as_nanos().to_le_bytes())?;
    sink.put(&generation_items.to_le_bytes())?;
    sink.put(&choices)
}

pub(super) fn write_count(filter: &CountBloom, sink: &mut Sink<impl Write>) -> io::Result<()> {
    let CountBloom { slices, plan, seed, capacity, inserted, shifts, retired, worst_rate } = filter;
    write_common(sink, plan, *seed, slices, [0; 4])?;
    for number in [capacity, inserted, shifts, retired] {
        sink.put(&number.to_le_bytes())?;
    }
    sink.put(&worst_rate.to_le_bytes())
}

pub(super) fn write_time(filter: &TimeBloom, sink: &mut Sink<impl Write>) -> io::Result<()> {
    let Window { config, slices, clock, generation_started, oldest_bound, inserts_until_shift, rate, counters } =
        &filter.window;
    let Config { plan, seed, span, expected_items, max_bytes, policy, on_full } = config;
    let Counters { inserted, shifts, retired, fresh_starts, shortened, rejected, worst_rate } = counters;
    let choices = [policy.code(), on_full.code(), u8::from(max_bytes.is_some()), 0];
    write_common(sink, plan, *seed, slices, choices)?;
    for number in [*span, *expected_items, max_bytes.unwrap_or(0)] {
        sink.put(&number.to_le_bytes())?;
    }
    for time in [clock, generation_started, oldest_bound] {
        sink.put(&time.as_nanos().to_le_bytes())?;
    }
    sink.put(&inserts_until_shift.to_le_bytes())?;
    sink.put(&rate.to_le_bytes())?;
    for count in [inserted, shifts, retired, fresh_starts, shortened, rejected] {
        sink.put(&count.to_le_bytes())?;
    }
    sink.put(&worst_rate.to_le_bytes())
}
