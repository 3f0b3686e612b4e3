//! Reading a filter, believing nothing.
//!
//! In this order: the opening, which says how long the header is; the header and the tables; their checksum; the range of
//! every field, and whether slices and panels fit; then the words, for which memory is taken as they come; their
//! checksum; and at last the invariants, which hold between fields.

use std::io::Read;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::Stored;
use super::error::{DecodeError, SnapshotKind};
use super::fields::Fields;
use super::layout::{MAGIC, OPENING_BYTES, PANEL_BYTES, SLICE_BYTES, VERSION};
use super::stream::Source;
use crate::count_bloom::CountBloom;
use crate::num::MAX_STORED_COUNT;
use crate::policy::{OnFull, Policy};
use crate::sizing::{Plan, Planner};
use crate::slices::stored::{MAX_LINES, PanelRecord, RowRecord, SliceRecord};
use crate::slices::{MAX_SLICES, Slices, Tick};
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::window::validate::MAX_MEASURED_RATE;
use crate::window::{Config, Counters, Window};

/// Reads one filter from `input`, which is known to have at least `known` bytes, and tells how many it took.
pub(super) fn read<F: Stored>(input: impl Read, known: u64) -> Result<(F, u64), DecodeError> {
    let mut source = Source::new(input, known);
    let (mut head, counts) = read_opening(&mut source, F::KIND)?;
    let header_bytes = F::KIND.header_bytes();
    let tables = counts.panels as usize * PANEL_BYTES + counts.slices as usize * SLICE_BYTES;
    source.append(&mut head, header_bytes - OPENING_BYTES + tables)?;
    source.expect_checksum()?;

    let mut fields = Fields::new(&head);
    let _opening: [u8; OPENING_BYTES] = fields.take();
    let common = Common::read(&mut fields, counts)?;
    let mut filter = F::read_own(common, &mut fields)?;
    debug_assert_eq!(fields.offset(), header_bytes as u64, "the tables follow the last field");
    let slices = filter.slices_mut();
    for _ in 0..counts.panels {
        slices.restore_panel(read_panel(&mut fields)?);
    }
    for younger in (0..counts.slices as usize).rev() {
        slices.restore_slice(read_slice(&mut fields, counts)?, younger);
    }
    drop(head);
    slices.validate_panels().map_err(|what| DecodeError::Inconsistent { what })?;

    let begin = source.offset();
    slices.restore_words(|words, spare| source.read_words(words, spare))?;
    source.expect_checksum()?;
    if let Some(word) = slices.first_stray_word() {
        let (field, what) = ("a lane without a slice", "it is not clear".to_owned());
        return Err(DecodeError::Invalid { field, what, offset: begin + word * size_of::<u64>() as u64 });
    }
    filter.check().map_err(|what| DecodeError::Inconsistent { what })?;
    Ok((filter, source.offset()))
}

/// How long the tables are.
#[derive(Clone, Copy)]
struct Counts {
    slices: u32,
    panels: u32,
}

/// Reads what says how to read on; returns it, and what it says.
fn read_opening(source: &mut Source<impl Read>, expected: SnapshotKind) -> Result<(Vec<u8>, Counts), DecodeError> {
    let mut opening = [0; OPENING_BYTES];
    // magic and version first: whatever else starts like this may be shorter, or look different from here on
    let (magic, rest) = opening.split_at_mut(MAGIC.len());
    let came = source.read_up_to(magic)?;
    if magic[..came] != MAGIC[..came] {
        return Err(DecodeError::NotASnapshot);
    }
    if came < MAGIC.len() {
        return Err(DecodeError::Truncated { offset: source.offset() });
    }
    let (version, rest) = rest.split_at_mut(size_of_val(&VERSION));
    source.read(version)?;
    let got = u16::from_le_bytes([version[0], version[1]]);
    if !(1..=VERSION).contains(&got) {
        return Err(DecodeError::UnsupportedVersion { got, max: VERSION });
    }
    source.read(rest)?;
    let mut fields = Fields::new(&opening);
    let (_magic, _version): ([u8; MAGIC.len()], u16) = (fields.take(), fields.u16());
    let got = fields.code("the kind of filter", SnapshotKind::from_code)?;
    if got != expected {
        return Err(DecodeError::WrongKind { got, expected });
    }
    fields.zeros::<1>()?;
    let slices = fields.u32_in("the number of slices", 0..=MAX_SLICES)?;
    let panels = fields.u32_in("the number of panels", slices.min(1)..=slices)?;
    Ok((opening.to_vec(), Counts { slices, panels }))
}

/// What every kind has, but for the slices themselves.
pub(super) struct Common {
    plan: Arc<Plan>,
    seed: u64,
    /// Empty, with places for all.
    slices: Slices,
}

impl Common {
    /// Leaves the last four bytes, choices that differ by kind.
    fn read(fields: &mut Fields, counts: Counts) -> Result<Self, DecodeError> {
        let next_panel = fields.u16();
        fields.zeros::<2>()?;
        let offset = fields.offset();
        let rate = fields.f64();
        let hashes = fields.u32_in("the number of hash functions", 1..=Plan::MAX_HASHES)?;
        let aging_slices = fields.u32_in("the number of aging slices", 1..=Plan::MAX_AGING_SLICES)?;
        let plan = Planner::new(rate).hashes_and_aging(hashes, aging_slices).shared().map_err(|error| {
            DecodeError::Invalid { field: "the false positive rate", what: error.to_string(), offset }
        })?;
        let seed = fields.u64();
        let opened = fields.u64_in("the number of slices opened", counts.slices.into()..=MAX_STORED_COUNT)?;
        let newest = Timestamp::from_nanos(fields.u64());
        let stamp = fields.u64();
        let generation_items = fields.u32();
        let hashes = u8::try_from(hashes).expect("at most MAX_HASHES");
        let row = RowRecord { hashes, generation_items, opened, next_panel, newest, stamp };
        let slices = Slices::restore(row, Tick::ONE, counts.panels as usize, counts.slices as usize);
        Ok(Common { plan, seed, slices })
    }
}

pub(super) fn read_count(common: Common, fields: &mut Fields) -> Result<CountBloom, DecodeError> {
    let Common { plan, seed, slices } = common;
    fields.zeros::<4>()?;
    let offset = fields.offset();
    let capacity = fields.u64();
    let empty = CountBloom::with_plan(capacity, plan, seed).map_err(|error| DecodeError::Invalid {
        field: "the capacity",
        what: error.to_string(),
        offset,
    })?;
    let (field, offset) = ("the number of insertions", fields.offset());
    let (inserted, last) = (read_counter(field, fields)?, slices.newest().as_nanos());
    if inserted != last {
        // they are the clock of a count window
        return Err(DecodeError::Invalid {
            field,
            what: format!("{inserted} of them, the last is number {last}"),
            offset,
        });
    }
    Ok(CountBloom {
        slices,
        shifts: read_counter("the number of shifts", fields)?,
        retired: read_counter("the number of retired slices", fields)?,
        worst_rate: fields.f64_in("the worst rate", 0.0..=MAX_MEASURED_RATE)?,
        ..empty
    })
}

pub(super) fn read_time(common: Common, fields: &mut Fields) -> Result<TimeBloom, DecodeError> {
    let Common { plan, seed, mut slices } = common;
    let policy = fields.code("the policy", Policy::from_code)?;
    let on_full = fields.code("what happens at the memory limit", OnFull::from_code)?;
    let is_limited =
        fields.code("whether there is a memory limit", |code| [false, true].get(usize::from(code)).copied())?;
    fields.zeros::<1>()?;
    let span = fields.u64_in("the span", Config::MIN_SPAN..=Config::MAX_SPAN)?;
    slices.set_tick(Tick::for_span(span));
    let expected_items = fields.u64();
    let mut config = Config { plan, seed, span, expected_items, max_bytes: None, policy, on_full };
    if is_limited {
        let max_bytes = fields.u64_in("the memory limit", config.min_bytes()..=u64::MAX)?;
        config.max_bytes = NonZeroU64::new(max_bytes);
    } else {
        fields.zeros::<8>()?;
    }
    let clock = Timestamp::from_nanos(fields.u64());
    let generation_started = Timestamp::from_nanos(fields.u64());
    let items = slices.generation_items();
    let window = Window {
        slices,
        clock,
        generation_started,
        ready_until: if items > 0 { config.end_of_generation(generation_started) } else { Timestamp::MIN },
        oldest_bound: Timestamp::from_nanos(fields.u64()),
        generation_size: items + fields.u64_in("the insertions until a shift", 0..=Slices::MAX_ITEMS)?,
        rate: fields.f64_in("the estimated rate", 0.0..=f64::MAX)?,
        steady_rate: fields.f64_in("the estimated steady rate", 0.0..=f64::MAX)?,
        counters: Counters {
            inserted: fields.u64_in("the number of insertions", items..=MAX_STORED_COUNT)? - items,
            shifts: read_counter("the number of shifts", fields)?,
            retired: read_counter("the number of retired slices", fields)?,
            fresh_starts: read_counter("the number of fresh starts", fields)?,
            shortened: read_counter("the number of slices forgotten early", fields)?,
            rejected: read_counter("the number of rejected insertions", fields)?,
            worst_rate: fields.f64_in("the worst rate", 0.0..=MAX_MEASURED_RATE)?,
        },
        config,
    };
    Ok(TimeBloom::from_window(window))
}

fn read_counter(field: &'static str, fields: &mut Fields) -> Result<u64, DecodeError> {
    fields.u64_in(field, 0..=MAX_STORED_COUNT)
}

fn read_panel(fields: &mut Fields) -> Result<PanelRecord, DecodeError> {
    let id = fields.u16();
    let width = fields.code("the width of a panel", |code| PanelRecord::WIDTHS.contains(&code).then_some(code))?;
    let seats = fields.code("the seats of a panel", |code| (code & 0x88 == 0).then_some(code))?;
    let lines = fields.u32_in("the lines of a panel", 1..=MAX_LINES)?;
    Ok(PanelRecord { id, lines, width, youngest: seats & 7, base: seats >> 4 })
}

/// There is at least one panel if there is a slice.
fn read_slice(fields: &mut Fields, counts: Counts) -> Result<SliceRecord, DecodeError> {
    let (age, count, fill) = (fields.u32(), fields.u32(), fields.u16());
    let last = u16::try_from(counts.panels - 1).expect("at most MAX_SLICES");
    Ok(SliceRecord { age, count, fill, panel: fields.u16_in("the panel of a slice", 0..=last)? })
}
