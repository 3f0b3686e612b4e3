//! Giving back the memory of large panels little by little: the system takes a millisecond for some twenty megabytes, and
//! no insertion should wait for that.

use super::Slices;
use super::panel::Panel;

/// Words that are given back at once: 64 KiB.
const WORDS: usize = 1 << 13;

/// The words of large panels whose slices have all gone.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    blocks: Vec<Vec<u64>>,
}

impl Leaving {
    /// Gives back some words of the last block, from its end.
    fn advance(&mut self) {
        let Some(block) = self.blocks.last_mut() else { return };
        let start = block.as_ptr();
        block.truncate(block.len().saturating_sub(WORDS));
        block.shrink_to_fit();
        // an allocator that copies what is left would do so at every step: better all at once
        if block.is_empty() || block.as_ptr() != start {
            self.blocks.pop();
        }
    }

    fn bytes(&self) -> usize {
        let own = size_of::<Self>() + self.blocks.capacity() * size_of::<Vec<u64>>();
        own + self.blocks.iter().map(|block| size_of_val(&block[..])).sum::<usize>()
    }
}

/// A copy of a filter has nothing to give back.
impl Clone for Leaving {
    fn clone(&self) -> Self {
        Leaving::default()
    }
}

impl Slices {
    /// Drops a panel without slices: a large one step by step, with every [`give_back_some`](Self::give_back_some).
    pub(super) fn leave(&mut self, panel: Panel) {
        if panel.is_large() {
            self.leaving.get_or_insert_default().blocks.push(panel.words.into_vec());
        }
    }

    /// Whether there is memory to be given back.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// Gives back some of the memory of slices that have gone.
    pub(crate) fn give_back_some(&mut self) {
        if let Some(leaving) = &mut self.leaving {
            leaving.advance();
            if leaving.blocks.is_empty() {
                self.leaving = None;
            }
        }
    }

    /// Gives back all of it.
    pub(crate) fn give_back_all(&mut self) {
        self.leaving = None;
    }

    /// Bytes that are still to be given back.
    pub(crate) fn leaving_bytes(&self) -> usize {
        self.leaving.as_ref().map_or(0, |leaving| leaving.bytes())
    }
}
