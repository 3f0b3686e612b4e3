//! Other ways to remember a window, each a small implementation of the paper it names, behind one face.
//!
//! | file | what it follows | sized by |
//! |---|---|---|
//! | `landmark` | Bloom's filter, emptied at every landmark | the optimal Bloom filter |
//! | `stable` | Stable Bloom Filter: Deng, Rafiei, 2006 | its stable rate, in the memory it is given |
//! | `double_buffering` | Double Buffering: Chang, Feng, Li, 2004 | two optimal Bloom filters of two windows each |
//! | `a2` | A² Buffering: Yoon, 2010 | two optimal Bloom filters of a window each, at about half the rate |
//! | `dcba` | Detached Counting Bloom filter Array: Wei, Jiang, Zhou, Feng, Wang, 2011 | 63 filters that share the rate |
//! | `cuckoo` | Cuckoo filter: Fan, Andersen, Kaminsky, Mitzenmacher, 2014; with stamps | its fingerprint formula, 95% load |
//! | `morton` | Morton filter: Breslow, Jayasena, 2018; with stamps | its block geometry, 95% load |
//! | `swamp`, `tiny_table` | SWAMP: Assaf, Ben Basat, Einziger, Friedman, 2018, on TinyTable | its fingerprint formula, a fifth of slack |
//! | `apbf` | Age-Partitioned Bloom Filter: Shtul, Baquero, Almeida, 2020 | a published pair, slices half full |
//! | `rotating` | what people do with `fastbloom` | two filters of a window each, at half the rate |
//! | `map` | what people do without a filter | exact |
//! | `ours` | this project's filters | by themselves |
//!
//! `hash`, `bits`, `bloom` and `stamps` are what several of them stand on. None of this is part of the library: it is here
//! to be measured.

pub mod a2;
pub mod apbf;
mod bits;
pub mod bloom;
pub mod cuckoo;
pub mod dcba;
pub mod double_buffering;
mod hash;
pub mod landmark;
pub mod map;
pub mod morton;
mod num;
pub mod ours;
pub mod rotating;
pub mod stable;
mod stamps;
pub mod swamp;
#[cfg(test)]
mod testing;
pub mod tiny_table;
mod window;

pub use hash::{Key, key};
pub use window::{Window, Windowed};
