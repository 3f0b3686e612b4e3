//! What exact answers would cost.

use std::collections::HashMap;

/// The bytes of a hash map: std's table at its present capacity, a byte of control for each place, and what each key owns
/// on the heap. What the allocator adds to each key is left out, so the truth is somewhat more.
pub fn map_bytes<K, V>(map: &HashMap<K, V>, heap_of: impl Fn(&K) -> usize) -> usize {
    // std keeps an eighth of its places free, and their number is a power of two
    let places = (map.capacity() * 8 / 7).next_power_of_two();
    size_of_val(map) + places * (size_of::<(K, V)>() + 1) + map.keys().map(heap_of).sum::<usize>()
}
