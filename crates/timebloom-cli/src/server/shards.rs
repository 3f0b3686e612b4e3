//! One filter in several keys: which items are whose.
//!
//! The keys are `NAME:{0}`, `NAME:{1}` and so on. An item with the XXH3-64 hash `h` (seed 0) belongs to shard
//! `h * shards / 2^64`. Other programs may go by the same rule: it never changes.

use timebloom::ItemHash;

/// One command's share of a batch: which items, by their place in the batch.
pub(super) struct Share {
    pub(super) shard: usize,
    pub(super) items: Vec<usize>,
}

/// Groups items by shard, in pieces of at most `most` items.
pub(super) fn shares(items: &[&[u8]], shards: usize, most: usize) -> Vec<Share> {
    let mut open: Vec<Option<Share>> = (0..shards).map(|_| None).collect();
    let mut shares = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let shard = shard_of(item, shards);
        let share = open[shard].get_or_insert_with(|| Share { shard, items: Vec::with_capacity(most) });
        share.items.push(index);
        if share.items.len() == most {
            shares.extend(open[shard].take());
        }
    }
    shares.extend(open.into_iter().flatten());
    shares
}

/// The name of a shard; a filter that is not divided has its own.
pub(super) fn shard_key(name: &str, shard: usize, shards: usize) -> String {
    match shards {
        1 => name.to_owned(),
        _ => format!("{name}:{{{shard}}}"),
    }
}

/// The shard that an item belongs to, among 1 or more.
pub(super) fn shard_of(item: &[u8], shards: usize) -> usize {
    let scaled = u128::from(ItemHash::new(item, 0).as_u64()) * shards as u128;
    usize::try_from(scaled >> 64).expect("less than the number of shards")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_never_change() {
        // other programs shard by the same rule: these are facts, not choices
        assert_eq!(shard_of(b"", 1), 0);
        assert_eq!(shard_of(b"", 16), 2); // 0x2d06800538d394c2 is the published hash of nothing
        let mut sizes = [0; 3];
        for item in 0..30_000_u32 {
            sizes[shard_of(item.to_string().as_bytes(), 3)] += 1;
        }
        assert!(sizes.iter().all(|size| (9_700..10_300).contains(size)), "{sizes:?}");
    }

    #[test]
    fn every_item_is_in_one_share_of_its_shard() {
        let names: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        let items: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        for shards in [1, 3] {
            let shares = shares(&items, shards, 64);
            assert!(shares.iter().all(|share| (1..=64).contains(&share.items.len())));
            assert!(shares.iter().all(|share| share.items.is_sorted()), "a repeat comes after what it repeats");
            let mut all: Vec<usize> = shares.iter().flat_map(|share| share.items.clone()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..items.len()).collect::<Vec<_>>());
            for share in &shares {
                assert!(share.items.iter().all(|&item| shard_of(items[item], shards) == share.shard));
            }
        }
    }
}
