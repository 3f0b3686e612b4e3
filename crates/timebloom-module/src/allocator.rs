//! Memory from the server, so that `used_memory`, `maxmemory` and eviction know about every byte of a filter.
//!
//! Outside a server (unit tests, tools that link this crate) the system's allocator serves. The switch happens once,
//! when the server hands over its functions, which is the first thing a module does: nothing is allocated before.
//!
//! The server promises no more than the alignment of a pointer. Larger alignments get a block with room to move: the
//! address of the block is kept in the word before the one that is handed out.
#![allow(unsafe_code, reason = "an allocator is unsafe by contract")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use redis_module::raw;

/// The alignment that every block of the server has.
pub(crate) const PLAIN_ALIGN: usize = align_of::<usize>();

/// Bytes asked for and not given back.
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// How many bytes this module holds, as asked for: everything but the allocator's own rounding.
pub(crate) fn live_bytes() -> usize {
    LIVE_BYTES.load(Ordering::Relaxed)
}

/// The server's allocator, or the system's where there is no server.
pub(crate) struct ServerAllocator;

#[global_allocator]
static ALLOCATOR: ServerAllocator = ServerAllocator;

/// A block from the server; `zeroed` says whether it is to be cleared.
///
/// # Safety
/// `size` is not zero.
unsafe fn plain(size: usize, zeroed: bool) -> *mut u8 {
    // SAFETY: set once, before the first allocation, and never changed; the functions take any size.
    unsafe {
        if zeroed {
            raw::RedisModule_Calloc.map_or(ptr::null_mut(), |calloc| calloc(1, size).cast())
        } else {
            raw::RedisModule_Alloc.map_or(ptr::null_mut(), |alloc| alloc(size).cast())
        }
    }
}

/// Whether there is a server to ask.
fn has_server() -> bool {
    // SAFETY: a plain read of a pointer that is written once, while the module is loaded by the only thread that uses it.
    unsafe { matches!((raw::RedisModule_Alloc, raw::RedisModule_Calloc), (Some(_), Some(_))) }
}

/// A block of any alignment.
///
/// # Safety
/// As for [`GlobalAlloc::alloc`].
unsafe fn allocate(layout: Layout, zeroed: bool) -> *mut u8 {
    LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
    if layout.align() <= PLAIN_ALIGN {
        // SAFETY: the caller's layout has a size.
        return unsafe { plain(layout.size(), zeroed) };
    }
    let Some(size) = layout.size().checked_add(layout.align() + size_of::<usize>()) else { return ptr::null_mut() };
    // SAFETY: `size` is not zero.
    let block = unsafe { plain(size, zeroed) };
    if block.is_null() {
        return block;
    }
    let first = block.addr() + size_of::<usize>();
    let offset = first.next_multiple_of(layout.align()) - block.addr();
    // SAFETY: `offset` is at least a word and at most a word and the alignment, so the word before it and `layout.size()`
    // bytes from it on are inside the block.
    unsafe {
        let start = block.add(offset);
        start.cast::<*mut u8>().sub(1).write_unaligned(block);
        start
    }
}

// SAFETY: blocks come from the server or the system, which keep the contract for plain alignments; larger ones are
// aligned inside a larger block, whose address is kept for `dealloc`. Neither `layout` nor the source of a block changes
// between its allocation and its end.
unsafe impl GlobalAlloc for ServerAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !has_server() {
            // SAFETY: the caller's contract is the same.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: the caller's contract is the same.
        unsafe { allocate(layout, false) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !has_server() {
            // SAFETY: the caller's contract is the same.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's contract is the same.
        unsafe { allocate(layout, true) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if !has_server() {
            // SAFETY: without a server, `start` came from the system.
            return unsafe { System.dealloc(start, layout) };
        }
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        let block = if layout.align() <= PLAIN_ALIGN {
            start
        } else {
            // SAFETY: `allocate` put the address of the block there.
            unsafe { start.cast::<*mut u8>().sub(1).read_unaligned() }
        };
        // SAFETY: `block` is what the server gave, and is given back once.
        unsafe {
            if let Some(free) = raw::RedisModule_Free {
                free(block.cast());
            }
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !has_server() {
            // SAFETY: without a server, `start` came from the system.
            return unsafe { System.realloc(start, layout, new_size) };
        }
        if layout.align() <= PLAIN_ALIGN {
            LIVE_BYTES.fetch_add(new_size, Ordering::Relaxed);
            LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
            // SAFETY: `start` is a block of the server.
            return unsafe {
                raw::RedisModule_Realloc.map_or(ptr::null_mut(), |realloc| realloc(start.cast(), new_size).cast())
            };
        }
        // SAFETY: the caller promises that `new_size`, rounded up to the alignment, does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: the new block has `new_size` bytes and the old one `layout.size()`; they do not overlap; the old one is
        // given back once.
        unsafe {
            let moved = self.alloc(new_layout);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(start, moved, layout.size().min(new_size));
                self.dealloc(start, layout);
            }
            moved
        }
    }
}
