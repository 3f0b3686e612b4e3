//! Laws of snapshots of filters that are what they should be.

use std::io::{self, Read, Write};
use std::time::Duration;

use timebloom::{CountBloom, DecodeError, OnFull, Policy, SnapshotKind, TimeBloom, Timestamp};

/// A step of a stream: decided once, then done to the original and to the restored filter.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64, Timestamp),
    InsertIfNew(u64, Timestamp),
    Advance(Timestamp),
    Clear,
}

fn random_steps(random: &mut fastrand::Rng, span: Duration, count: usize) -> Vec<Step> {
    let mut now = Timestamp::from_secs(1_700_000_000);
    let mut gap = span.as_secs_f64() / 200.0;
    (0..count)
        .map(|_| {
            match random.u32(..1_000) {
                // the rate changes, by a lot
                0..5 => gap = span.as_secs_f64() * 10_f64.powf(-4.0 * random.f64() - 0.5),
                // nothing happens for a while
                5..8 => now = now.saturating_add(span.mul_f64(2.0 * random.f64())),
                _ => now = now.saturating_add(Duration::from_secs_f64(gap * 2.0 * random.f64())),
            }
            // clocks step back at times
            let now = if random.u32(..50) == 0 { now.saturating_sub(span / 50) } else { now };
            match random.u32(..1_000) {
                0 => Step::Clear,
                1..10 => Step::Advance(now),
                10..300 => Step::InsertIfNew(random.u64(..500), now),
                _ => Step::Insert(random.u64(..1_000_000), now),
            }
        })
        .collect()
}

/// Does a step, and tells all that can be seen of its outcome.
fn do_time(filter: &mut TimeBloom, step: Step) -> String {
    match step {
        Step::Insert(item, now) => format!("{:?}", filter.insert_at(item.to_le_bytes(), now)),
        Step::InsertIfNew(item, now) => {
            let age = filter.age_at(item.to_le_bytes(), now);
            format!("{age:?} {:?}", filter.insert_if_new_at(item.to_le_bytes(), now))
        }
        Step::Advance(now) => {
            filter.advance_to(now);
            format!("{:?}", filter.stats(now))
        }
        Step::Clear => {
            filter.clear();
            String::new()
        }
    }
}

fn do_count(filter: &mut CountBloom, step: Step) -> String {
    match step {
        Step::Insert(item, _) => {
            filter.insert(item.to_le_bytes());
            String::new()
        }
        Step::InsertIfNew(item, _) => format!("{:?}", filter.insert_if_new(item.to_le_bytes())),
        Step::Advance(_) => format!("{:?}", filter.stats()),
        Step::Clear => {
            filter.clear();
            String::new()
        }
    }
}

fn random_time_filter(random: &mut fastrand::Rng, policy: Policy) -> TimeBloom {
    let span = Duration::from_secs_f64(10_f64.powf(8.0 * random.f64() - 5.0));
    let rate = 10_f64.powf(-0.5 - 4.0 * random.f64());
    let mut builder = TimeBloom::builder(span).false_positive_rate(rate).policy(policy).seed(random.u64(..));
    if random.bool() {
        builder = builder.max_aging_slices(random.u32(1..40));
    }
    if random.bool() {
        builder = builder.expected_items(random.u64(..2_000));
    }
    if random.bool() {
        builder = builder.on_full(if random.bool() { OnFull::Shorten } else { OnFull::Reject });
        let least = match builder.clone().max_bytes(0).build() {
            Err(timebloom::BuildError::MaxBytes { min, .. }) => min,
            other => panic!("no filter takes 0 bytes: {other:?}"),
        };
        builder = builder.max_bytes(least + random.u64(..20_000));
    }
    builder.build().expect("legal choices")
}

#[test]
fn a_restored_time_window_goes_on_as_the_original() {
    for seed in 0..150 {
        for policy in [Policy::Guarded, Policy::Paper] {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut original = random_time_filter(&mut random, policy);
            let steps = random_steps(&mut random, original.span(), 3_000);
            let (before, after) = steps.split_at(random.usize(..steps.len()));
            for &step in before {
                do_time(&mut original, step);
            }
            original.validate().unwrap();
            let mut restored = TimeBloom::from_bytes(&original.to_bytes()).unwrap();
            assert_eq!(restored.plan(), original.plan(), "seed {seed}, {policy:?}");
            for (number, &step) in after.iter().enumerate() {
                let (expected, got) = (do_time(&mut original, step), do_time(&mut restored, step));
                assert_eq!(expected, got, "seed {seed}, {policy:?}, {step:?}, {number} steps after it was restored");
            }
            assert!(original.to_bytes() == restored.to_bytes(), "seed {seed}, {policy:?}");
        }
    }
}

#[test]
fn a_restored_count_window_goes_on_as_the_original() {
    for seed in 0..150 {
        let mut random = fastrand::Rng::with_seed(seed);
        let rate = 10_f64.powf(-0.5 - 4.0 * random.f64());
        let builder = CountBloom::builder(random.u64(1..1_000)).false_positive_rate(rate).seed(seed);
        let mut original = builder.max_aging_slices(random.u32(1..40)).build().unwrap();
        let steps = random_steps(&mut random, Duration::from_secs(1), 3_000);
        let (before, after) = steps.split_at(random.usize(..steps.len()));
        for &step in before {
            do_count(&mut original, step);
        }
        original.validate().unwrap();
        let mut restored = CountBloom::from_bytes(&original.to_bytes()).unwrap();
        assert_eq!(restored.plan(), original.plan(), "seed {seed}");
        for (number, &step) in after.iter().enumerate() {
            let (expected, got) = (do_count(&mut original, step), do_count(&mut restored, step));
            assert_eq!(expected, got, "seed {seed}, {step:?}, {number} steps after it was restored");
        }
        assert!(original.to_bytes() == restored.to_bytes(), "seed {seed}");
    }
}

fn filter_of(items: u64) -> TimeBloom {
    let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(3).build().expect("legal choices");
    for item in 0..items {
        let now = Timestamp::from_millis(1_000_000 + item / 16);
        filter.insert_at(item.to_le_bytes(), now).expect("there is no memory limit");
    }
    filter
}

/// Gives one byte at a time, and is interrupted before each.
struct Dribble<'a>(&'a [u8], bool);

impl Read for Dribble<'_> {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = place.len().min(1);
        self.0.read(&mut place[..count])
    }
}

#[test]
fn every_way_to_write_and_read_is_the_same() {
    // slices smaller and larger than a chunk
    for items in [0, 1, 1_000, 200_000] {
        let filter = filter_of(items);
        let bytes = filter.to_bytes();
        assert_eq!(filter.snapshot_bytes(), bytes.len() as u64);
        let mut written = Vec::new();
        filter.write_to(&mut written).unwrap();
        assert!(written == bytes);
        for restored in [
            TimeBloom::from_bytes(&bytes).unwrap(),
            TimeBloom::read_from(&bytes[..]).unwrap(),
            TimeBloom::read_from(Dribble(&bytes, false)).unwrap(),
        ] {
            assert!(restored.to_bytes() == bytes, "{items} items");
        }
    }
}

#[test]
fn readers_are_left_after_the_snapshot_and_slices_must_end_there() {
    let mut count = CountBloom::builder(10).seed(1).build().unwrap();
    count.insert("a");
    let mut bytes = filter_of(10).to_bytes();
    let first = bytes.len() as u64;
    count.write_to(&mut bytes).unwrap();
    bytes.extend(b"rest");

    let mut input = &bytes[..];
    assert_eq!(TimeBloom::read_from(&mut input).unwrap().stats(Timestamp::MIN).inserted, 10);
    assert!(CountBloom::read_from(&mut input).unwrap().contains("a"));
    assert_eq!(input, b"rest");

    let extra = bytes.len() as u64 - first;
    match TimeBloom::from_bytes(&bytes) {
        Err(DecodeError::TrailingBytes { offset, extra: got }) => assert_eq!((offset, got), (first, extra)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_of_readers_and_writers_come_through() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let filter = filter_of(10);
    let error = filter.write_to(Broken).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let bytes = filter.to_bytes();
    for available in [0, 9, 100, 300, bytes.len() - 1] {
        match TimeBloom::read_from(bytes[..available].chain(Broken)) {
            Err(DecodeError::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
            other => panic!("after {available} bytes: {other:?}"),
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let bytes = filter_of(100).to_bytes();
    let changed = |at: usize, new: &[u8], resealed: bool| {
        let mut bytes = bytes.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        if resealed {
            timebloom_testkit::reseal(&mut bytes);
        }
        TimeBloom::from_bytes(&bytes).expect_err("changed bytes are an error")
    };
    assert!(matches!(TimeBloom::from_bytes(b"hello, world"), Err(DecodeError::NotASnapshot)));
    assert!(matches!(TimeBloom::from_bytes(b"\x89tb"), Err(DecodeError::Truncated { offset: 3 })));
    assert!(matches!(changed(0, b"\x09", true), DecodeError::NotASnapshot));
    assert!(matches!(changed(8, &[2], true), DecodeError::UnsupportedVersion { got: 2, max: 1 }));
    assert!(matches!(changed(8, &[0], true), DecodeError::UnsupportedVersion { got: 0, max: 1 }));
    let wrong_kind = CountBloom::from_bytes(&bytes).unwrap_err();
    let (count, time) = (SnapshotKind::Count, SnapshotKind::Time);
    assert!(matches!(wrong_kind, DecodeError::WrongKind { got, expected } if got == time && expected == count));
    assert_eq!(wrong_kind.to_string(), "the snapshot holds a time window, not a count window");

    // damage is told from nonsense
    let head = timebloom_testkit::head_bytes(&bytes).expect("a whole snapshot");
    assert!(matches!(changed(32, &[200], false), DecodeError::Checksum { offset, .. } if offset == head as u64));
    let end = bytes.len() as u64 - 4;
    assert!(matches!(changed(head + 5, &[0xff], false), DecodeError::Checksum { offset, .. } if offset == end));
    assert_eq!(changed(32, &[200], true).to_string(), "the number of hash functions at byte 32 is 200, not in 1..=64");
    assert!(matches!(changed(76, &[7], true), DecodeError::Invalid { field: "the policy", offset: 76, .. }));
    assert!(matches!(changed(24, &f64::NAN.to_le_bytes(), true), DecodeError::Invalid { offset: 24, .. }));
    assert!(matches!(changed(136, &(-1.0_f64).to_le_bytes(), true), DecodeError::Invalid { offset: 136, .. }));
    assert!(matches!(changed(104, &[0; 8], true), DecodeError::Inconsistent { .. }));
    // the message of a cut says how much there is
    let cut = TimeBloom::from_bytes(&bytes[..100]).unwrap_err();
    assert_eq!(cut.to_string(), "the snapshot is cut off: it goes on after its 100 bytes");
}
