//! The words with an item's bits.

use std::arch::x86_64::*;

use super::super::panel::{Panel, shared_fields};
use crate::hash::ItemHash;

/// A word for each of eight lanes: with the one bit that is the item's, or a mask.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    /// Lanes 0 to 3.
    pub(super) low: __m256i,
    /// Lanes 4 to 7.
    pub(super) high: __m256i,
}

/// An item, and its fields and bits in panels that share them.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) hash: ItemHash,
    pub(super) fields: u64,
    pub(super) bits: Bits,
}

impl Item {
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of(hash: ItemHash) -> Self {
        let fields = shared_fields(hash);
        Item { hash, fields, bits: bits_of(fields) }
    }

    /// Its bits in a panel of eight lanes, of a row in which all panels share fields or not.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn bits_in<const SHARED: bool>(self, panel: &Panel) -> Bits {
        if SHARED || panel.shares_fields() { self.bits } else { bits_of(panel.own_fields(self.hash)) }
    }
}

/// The bits that an item's fields name.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn bits_of(fields: u64) -> Bits {
    let places = places(fields);
    Bits { low: bits_at(places), high: bits_at(_mm_shuffle_epi32::<1>(places)) }
}

/// The bits that the first four of an item's fields name.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn bits_of_four(fields: u64) -> __m256i {
    bits_at(places(fields))
}

/// What an item's fields say: six bits of each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn places(fields: u64) -> __m128i {
    _mm_cvtsi64_si128((fields & 0x3f3f_3f3f_3f3f_3f3f).cast_signed())
}

/// A word for each of the first four bytes, with the one bit that it names, counted from the highest.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn bits_at(places: __m128i) -> __m256i {
    _mm256_srlv_epi64(_mm256_set1_epi64x(i64::MIN), _mm256_cvtepu8_epi64(places))
}
