//! What exact answers would cost.

use std::collections::HashMap;
use std::hash::BuildHasher;

/// The bytes of a hash map that owns its keys: std's table at its present capacity, a byte of control for each place, and
/// the bytes of the keys. What the allocator adds to each key is left out, so the truth is somewhat more.
pub fn map_bytes<K: AsRef<[u8]>, V, S: BuildHasher>(map: &HashMap<K, V, S>) -> usize {
    // std keeps an eighth of its places free, and their number is a power of two
    let places = (map.capacity() * 8 / 7).next_power_of_two();
    let keys: usize = map.keys().map(|key| key.as_ref().len()).sum();
    size_of_val(map) + places * (size_of::<(K, V)>() + 1) + keys
}
