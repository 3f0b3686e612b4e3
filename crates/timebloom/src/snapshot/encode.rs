//! Writing a filter.

use std::io::{self, Write};
use std::num::NonZeroU64;

use super::Stored;
use super::layout::{CHECKSUM_BYTES, MAGIC, PANEL_BYTES, SLICE_BYTES, VERSION};
use super::stream::Sink;
use crate::count_bloom::CountBloom;
use crate::sizing::Plan;
use crate::slices::Slices;
use crate::slices::stored::{PanelRecord, RowRecord, SliceRecord};
use crate::time_bloom::TimeBloom;
use crate::window::{Config, Counters, Window};

/// What the snapshot of `filter` will take.
pub(super) fn size<F: Stored>(filter: &F) -> u64 {
    let slices = filter.slices();
    let words: u64 = slices.stored_panels().map(|panel| panel.words()).sum();
    let tables = slices.stored_panels().len() * PANEL_BYTES + slices.len() * SLICE_BYTES;
    (F::KIND.header_bytes() + tables + 2 * CHECKSUM_BYTES) as u64 + words * size_of::<u64>() as u64
}

pub(super) fn write<F: Stored>(filter: &F, output: impl Write) -> io::Result<()> {
    let slices = filter.slices();
    let mut sink = Sink::new(output);
    sink.put(&MAGIC)?;
    sink.put(&VERSION.to_le_bytes())?;
    sink.put(&[F::KIND.code(), 0])?;
    for count in [slices.len(), slices.stored_panels().len()] {
        let count = u32::try_from(count).expect("I2, I7: at most MAX_SLICES slices, and no more panels");
        sink.put(&count.to_le_bytes())?;
    }
    filter.write_own(&mut sink)?;
    for PanelRecord { id, lines, width, youngest, base } in slices.stored_panels() {
        sink.put(&id.to_le_bytes())?;
        sink.put(&[width, youngest | base << 4])?;
        sink.put(&lines.to_le_bytes())?;
    }
    for SliceRecord { age, count, fill, panel } in slices.stored_slices() {
        sink.put(&age.to_le_bytes())?;
        sink.put(&count.to_le_bytes())?;
        sink.put(&fill.to_le_bytes())?;
        sink.put(&panel.to_le_bytes())?;
    }
    sink.put_checksum()?;
    for (words, masks) in slices.stored_words() {
        sink.put_words(&words, masks.as_slice())?;
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
    let RowRecord { hashes, generation_items, opened, next_panel, newest, stamp } = slices.record();
    let aging_slices = u32::try_from(plan.aging_slices()).expect("at most MAX_AGING_SLICES by Plan");
    sink.put(&next_panel.to_le_bytes())?;
    sink.put(&[0; 2])?;
    sink.put(&plan.false_positive_rate().to_le_bytes())?;
    sink.put(&u32::from(hashes).to_le_bytes())?;
    sink.put(&aging_slices.to_le_bytes())?;
    sink.put(&seed.to_le_bytes())?;
    sink.put(&opened.to_le_bytes())?;
    sink.put(&newest.as_nanos().to_le_bytes())?;
    sink.put(&stamp.to_le_bytes())?;
    sink.put(&generation_items.to_le_bytes())?;
    sink.put(&choices)
}

pub(super) fn write_count(filter: &CountBloom, sink: &mut Sink<impl Write>) -> io::Result<()> {
    let CountBloom { slices, plan, seed, capacity, generation_size: _, slice_bits: _, shifts, retired, worst_rate } =
        filter;
    write_common(sink, plan, *seed, slices, [0; 4])?;
    for number in [*capacity, filter.inserted(), *shifts, *retired] {
        sink.put(&number.to_le_bytes())?;
    }
    sink.put(&worst_rate.to_le_bytes())
}

pub(super) fn write_time(filter: &TimeBloom, sink: &mut Sink<impl Write>) -> io::Result<()> {
    let window = &filter.window;
    let Window { config, slices, clock, generation_started, ready_until: _, oldest_bound, .. } = window;
    let Window { generation_size: _, rate, steady_rate, counters, .. } = window;
    let Config { plan, seed, span, expected_items, max_bytes, policy, on_full } = config;
    let Counters { inserted: _, shifts, retired, fresh_starts, shortened, rejected, worst_rate } = counters;
    let choices = [policy.code(), on_full.code(), u8::from(max_bytes.is_some()), 0];
    write_common(sink, plan, *seed, slices, choices)?;
    for number in [*span, *expected_items, max_bytes.map_or(0, NonZeroU64::get)] {
        sink.put(&number.to_le_bytes())?;
    }
    for time in [clock, generation_started, oldest_bound] {
        sink.put(&time.as_nanos().to_le_bytes())?;
    }
    sink.put(&window.inserts_until_shift().to_le_bytes())?;
    sink.put(&rate.to_le_bytes())?;
    sink.put(&steady_rate.to_le_bytes())?;
    for count in [window.inserted(), *shifts, *retired, *fresh_starts, *shortened, *rejected] {
        sink.put(&count.to_le_bytes())?;
    }
    sink.put(&worst_rate.to_le_bytes())
}
