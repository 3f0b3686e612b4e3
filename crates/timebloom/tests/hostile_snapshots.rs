//! Snapshots that were cut, damaged, or made to deceive: an error, or a filter that works. Never a panic.

use std::path::PathBuf;
use std::time::Duration;

use timebloom::{CountBloom, DecodeError, TimeBloom, Timestamp};
use timebloom_testkit::{exercise_count, exercise_time, head_bytes, reseal};

fn golden_files() -> Vec<Vec<u8>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("the golden files").flatten().map(|entry| entry.path()).collect();
    // the order of a directory is not the same everywhere
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a golden file")).collect()
}

/// Decodes as both kinds and uses what comes out; tells whether anything did.
fn decode_and_use(bytes: &[u8], random: &mut fastrand::Rng) -> bool {
    let time = TimeBloom::from_bytes(bytes);
    let count = CountBloom::from_bytes(bytes);
    let works = time.is_ok() || count.is_ok();
    if let Ok(filter) = time {
        exercise_time(filter, || random.u64(..));
    }
    if let Ok(filter) = count {
        exercise_count(filter, || random.u64(..));
    }
    works
}

#[test]
fn every_beginning_of_a_snapshot_is_cut_off() {
    for file in golden_files() {
        let is_time = TimeBloom::from_bytes(&file).is_ok();
        for length in 0..file.len() {
            let error = if is_time {
                TimeBloom::from_bytes(&file[..length]).unwrap_err()
            } else {
                CountBloom::from_bytes(&file[..length]).unwrap_err()
            };
            assert!(matches!(error, DecodeError::Truncated { offset } if offset == length as u64), "{length}: {error}");
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for mut file in golden_files() {
        for bit in 0..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(TimeBloom::from_bytes(&file).is_err() && CountBloom::from_bytes(&file).is_err(), "bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// An item of a generation that ends between ticks would be held longer than the bound on overstay says. No filter makes such
/// a generation, and none that claims to have one is loaded.
#[test]
fn generations_that_end_between_ticks_are_errors() {
    const TICK: u64 = 1 << 14; // of windows of an hour
    let hour = Duration::from_secs(3_600);
    let mut filter = TimeBloom::builder(hour).hashes_and_aging(9, 31).seed(1).build().unwrap();
    let start = Timestamp::from_nanos(1 << 60);
    let end = start.as_nanos() + u64::try_from(hour.as_nanos()).unwrap() / 31 - 1;
    let last_tick = Timestamp::from_nanos(end - end % TICK);
    assert!(last_tick.as_nanos() < end, "there are times between the last tick and the end");
    filter.insert_at("a", start).unwrap();
    assert!(!filter.is_shift_due_at(last_tick));
    filter.insert_at("b", last_tick).unwrap();
    let later_by = |nanos: u64| {
        let mut bytes = filter.to_bytes();
        // the time of the last insertion, and the clock
        for place in [56, 104] {
            bytes[place..place + 8].copy_from_slice(&(last_tick.as_nanos() + nanos).to_le_bytes());
        }
        reseal(&mut bytes);
        TimeBloom::from_bytes(&bytes)
    };
    assert!(later_by(0).is_ok(), "as it was");
    for nanos in [1, end % TICK, end % TICK + 1] {
        let error = later_by(nanos).expect_err("beyond the last tick");
        assert!(error.to_string().contains("after the end of its generation"), "{error}");
    }
}

/// One damage, of the kinds that storage and transfers do.
fn damage(file: &mut Vec<u8>, others: &[Vec<u8>], random: &mut fastrand::Rng) {
    match random.u32(..6) {
        0 => {
            let at = random.usize(..file.len());
            file[at] = random.u8(..);
        }
        1 => {
            let at = random.usize(..file.len());
            file[at] ^= 1 << random.u32(..8);
        }
        2 => {
            // a piece is missing
            let from = random.usize(..file.len());
            let to = random.usize(from..=file.len().min(from + 64));
            file.drain(from..to);
        }
        3 => {
            // a piece is there twice
            let from = random.usize(..file.len());
            let to = random.usize(from..=file.len().min(from + 64));
            file.extend_from_within(from..to);
        }
        4 => {
            // the rest is from another file
            let other = &others[random.usize(..others.len())];
            let at = random.usize(..file.len().min(other.len()));
            file.truncate(at);
            file.extend_from_slice(&other[at..]);
        }
        _ => {
            let from = random.usize(..file.len());
            let to = random.usize(from..=file.len().min(from + 64));
            file[from..to].fill(if random.bool() { 0 } else { 0xff });
        }
    }
    if file.is_empty() {
        file.push(0);
    }
}

/// One lie: a field of the header or the table, or a word of the bits, says something else.
fn lie(file: &mut [u8], random: &mut fastrand::Rng) {
    let head = head_bytes(file).unwrap_or(0).clamp(24, file.len());
    let end = if random.u32(..8) == 0 { file.len() } else { head };
    // all fields are in places that are a multiple of four; those of eight bytes mostly of eight
    let at = random.usize(8..end - 8) / 4 * 4;
    let word = |at: usize| u64::from_le_bytes(*file[at..].first_chunk().expect("at least eight bytes"));
    let old = word(at);
    let new = match random.u32(..10) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << random.u32(..64),
        3 => old.wrapping_add(random.u64(..3)).wrapping_sub(1),
        4 => old ^ 1 << random.u32(..64),
        5 => random.u64(..) >> random.u32(..64),
        6 => (random.f64() * 10_f64.powf(random.f64() * 40.0 - 20.0)).to_bits(),
        7 => u64::from(random.u32(..70)),
        8 => old.wrapping_mul(random.u64(..4)),
        _ => word(random.usize(..head - 8)),
    };
    let bytes = if random.bool() { 4 } else { 8 };
    file[at..at + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
}

#[test]
fn damaged_snapshots_are_errors() {
    const SEED: u64 = 0x5eed_0001;
    let files = golden_files();
    let mut random = fastrand::Rng::with_seed(SEED);
    for round in 0..60_000 {
        let original = &files[random.usize(..files.len())];
        let mut file = original.clone();
        for _ in 0..random.u32(1..4) {
            damage(&mut file, &files, &mut random);
        }
        if decode_and_use(&file, &mut random) {
            // splicing equal pieces, or writing the byte that was there
            assert!(files.contains(&file), "seed {SEED:#x}, round {round}: damage went unnoticed");
        }
    }
}

#[test]
fn lies_are_errors_or_filters_that_work() {
    const SEED: u64 = 0x5eed_0002;
    const ROUNDS: u32 = 100_000;
    let files = golden_files();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut worked = 0;
    for _ in 0..ROUNDS {
        let mut file = files[random.usize(..files.len())].clone();
        for _ in 0..random.u32(1..4) {
            lie(&mut file, &mut random);
        }
        reseal(&mut file);
        worked += u32::from(decode_and_use(&file, &mut random));
    }
    println!("{worked} of {ROUNDS} lies gave a filter");
    assert!((ROUNDS / 20..ROUNDS / 2).contains(&worked), "{worked}: the test must see both outcomes, often");
}

/// Ages that fall towards the older slices could pass what a slot can count.
#[test]
fn ages_in_no_order_are_errors() {
    let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build().expect("legal");
    for item in 0_u64..5_000 {
        filter.insert_at(item.to_le_bytes(), Timestamp::from_millis(1_000 + 20 * item)).expect("no limit");
    }
    let bytes = filter.to_bytes();
    let slices = filter.slices().count();
    let table = head_bytes(&bytes).expect("a whole snapshot") - 12 * slices;
    for slice in 1..slices - filter.plan().hashes() {
        let mut forged = bytes.clone();
        forged[table + 12 * slice..][..4].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
        reseal(&mut forged);
        let error = TimeBloom::from_bytes(&forged).expect_err("ages that fall");
        assert!(matches!(error, DecodeError::Inconsistent { .. }), "slice {slice}: {error}");
    }
}
