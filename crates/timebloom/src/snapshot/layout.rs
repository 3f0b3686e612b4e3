//! Where things stand in a snapshot: the constants of FORMAT.md.

use super::error::SnapshotKind;
use crate::policy::{OnFull, Policy};

/// The first bytes. Not text, and with both kinds of line ends: a transfer that rewrites text spoils it here.
pub(super) const MAGIC: [u8; 8] = *b"\x89tblm\r\n\x1a";

/// The version that is written, and the newest that is read. A change to anything below is a new version.
pub(super) const VERSION: u16 = 1;

/// Magic, version, kind, a zero, and the numbers of slices and panels: what must be known to read on.
pub(super) const OPENING_BYTES: usize = 20;

/// The fields that every kind has.
pub(super) const COMMON_BYTES: usize = 60;

/// The fields of a count window.
pub(super) const COUNT_BYTES: usize = 40;

/// The fields of a time window.
pub(super) const TIME_BYTES: usize = 128;

/// One panel in its table: id, width, seats, lines.
pub(super) const PANEL_BYTES: usize = 8;

/// One slice in its table: age, count, fill, panel.
pub(super) const SLICE_BYTES: usize = 12;

pub(super) const CHECKSUM_BYTES: usize = 4;

impl SnapshotKind {
    pub(super) fn code(self) -> u8 {
        match self {
            SnapshotKind::Count => 1,
            SnapshotKind::Time => 2,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        [SnapshotKind::Count, SnapshotKind::Time].into_iter().find(|kind| kind.code() == code)
    }

    /// The bytes from the start to the panel table.
    pub(super) fn header_bytes(self) -> usize {
        let own = match self {
            SnapshotKind::Count => COUNT_BYTES,
            SnapshotKind::Time => TIME_BYTES,
        };
        OPENING_BYTES + COMMON_BYTES + own
    }
}

impl Policy {
    pub(super) fn code(self) -> u8 {
        match self {
            Policy::Guarded => 0,
            Policy::Paper => 1,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        [Policy::Guarded, Policy::Paper].into_iter().find(|policy| policy.code() == code)
    }
}

impl OnFull {
    pub(super) fn code(self) -> u8 {
        match self {
            OnFull::Reject => 0,
            OnFull::Shorten => 1,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        [OnFull::Reject, OnFull::Shorten].into_iter().find(|on_full| on_full.code() == code)
    }
}
