//! Values in RDB files, in the payloads of DUMP, and on their way to a replica.
//!
//! ```text
//! length (unsigned) | pieces of 256 KiB, the last one shorter (strings)
//! ```
//!
//! The pieces make up the bytes of [`encoding`]. A payload may come from anyone who can say RESTORE, so each step is
//! checked before the next, and a filter that could outgrow the limit is refused.
#![allow(unsafe_code, reason = "functions that C calls")]

use std::ffi::{c_int, c_void};
use std::io::{self, Read};
use std::ptr;

use redis_module::raw;

use super::filter;
use crate::config;
use crate::encoding::{self, CEILING_BYTES, CHUNK_BYTES, VERSION};
use crate::filter::Filter;
use crate::observe::TOTALS;
use crate::server::entry::guard;
use crate::server::{server, warn};

pub(super) unsafe extern "C" fn save(rdb: *mut raw::RedisModuleIO, value: *mut c_void) {
    guard(c"RDB save", || {
        // SAFETY: a value of our type, which the server leaves alone while it is written.
        let filter = unsafe { filter(value) };
        // SAFETY: the stream is alive.
        unsafe { server!(RedisModule_SaveUnsigned(rdb, encoding::length(filter))) };
        encoding::write_chunks(filter, |_, piece| {
            // SAFETY: the stream is alive, and the server copies the bytes.
            unsafe { server!(RedisModule_SaveStringBuffer(rdb, piece.as_ptr().cast(), piece.len())) };
        });
    });
}

pub(super) unsafe extern "C" fn load(rdb: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    guard(c"RDB load", || match read(rdb, version) {
        Ok(filter) => Box::into_raw(Box::new(filter)).cast(),
        Err(why) => {
            TOTALS.refused_payloads.add(1);
            warn(&format!("timebloom: a payload was refused: {why}"));
            ptr::null_mut()
        }
    })
    .unwrap_or(ptr::null_mut())
}

fn read(rdb: *mut raw::RedisModuleIO, version: c_int) -> Result<Filter, String> {
    if version != c_int::from(VERSION) {
        return Err(format!("version {version} is not known: {VERSION} is"));
    }
    // SAFETY: the stream is alive.
    let length = unsafe { server!(RedisModule_LoadUnsigned(rdb)) };
    if is_broken(rdb) {
        return Err("it ends before the length".to_owned());
    }
    let pieces = Pieces { rdb, left: length, piece: Piece::EMPTY };
    encoding::read(pieces, length, limit()).map_err(|error| error.to_string())
}

/// What a filter may grow to. A file that the server loads, and what a primary sends, is not refused for being larger
/// than allowed here and now.
fn limit() -> u64 {
    // SAFETY: the server takes calls without a context.
    let flags = unsafe { server!(RedisModule_GetContextFlags(ptr::null_mut())) }.cast_unsigned();
    let trusted = raw::REDISMODULE_CTX_FLAGS_LOADING
        | raw::REDISMODULE_CTX_FLAGS_ASYNC_LOADING
        | raw::REDISMODULE_CTX_FLAGS_SLAVE;
    if flags & trusted == 0 { config::max_filter_bytes() } else { CEILING_BYTES }
}

fn is_broken(rdb: *mut raw::RedisModuleIO) -> bool {
    // SAFETY: the stream is alive.
    unsafe { server!(RedisModule_IsIOError(rdb)) != 0 }
}

/// A string from the stream, given back to the server at its end.
struct Piece {
    start: *mut u8,
    length: usize,
    read: usize,
}

impl Piece {
    const EMPTY: Piece = Piece { start: ptr::null_mut(), length: 0, read: 0 };
}

impl Drop for Piece {
    fn drop(&mut self) {
        if !self.start.is_null() {
            // SAFETY: the server gave it to us to free.
            unsafe { server!(RedisModule_Free(self.start.cast())) };
        }
    }
}

/// The strings of a payload as one stream of bytes.
struct Pieces {
    rdb: *mut raw::RedisModuleIO,
    /// Bytes of pieces that have not been loaded.
    left: u64,
    piece: Piece,
}

impl Pieces {
    fn next(&mut self) -> io::Result<()> {
        let mut length = 0;
        // SAFETY: the stream is alive.
        let start = unsafe { server!(RedisModule_LoadStringBuffer(self.rdb, &raw mut length)) };
        let piece = Piece { start: start.cast(), length, read: 0 };
        if start.is_null() || is_broken(self.rdb) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the payload ends early"));
        }
        let expected = self.left.min(CHUNK_BYTES as u64);
        if length as u64 != expected {
            let text = format!("a piece of {length} bytes where {expected} belong");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        self.left -= expected;
        self.piece = piece;
        Ok(())
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.read == self.piece.length {
            if self.left == 0 {
                return Ok(0);
            }
            self.next()?;
        }
        let amount = buffer.len().min(self.piece.length - self.piece.read);
        // SAFETY: the piece has `length` bytes, of which `amount` from `read` on are not read yet.
        let bytes = unsafe { std::slice::from_raw_parts(self.piece.start.add(self.piece.read), amount) };
        buffer[..amount].copy_from_slice(bytes);
        self.piece.read += amount;
        Ok(amount)
    }
}
