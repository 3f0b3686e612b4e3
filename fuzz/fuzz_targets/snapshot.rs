//! Any bytes, decoded as either kind of filter: an error, or a filter that is valid and survives being used.
//!
//! Every input is tried as it is and with its checksums made right, or the fuzzer would hardly get past them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use timebloom::{CountBloom, TimeBloom};
use timebloom_testkit::{exercise_count, exercise_time, reseal};

fuzz_target!(|bytes: &[u8]| {
    decode_and_use(bytes);
    let mut sealed = bytes.to_vec();
    reseal(&mut sealed);
    decode_and_use(&sealed);
});

fn decode_and_use(bytes: &[u8]) {
    // what happens to the filter is part of the input: the same bytes, the same steps
    let mut state = bytes.iter().fold(0, |state: u64, &byte| state.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
    let random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 31
    };
    // either way of reading must come to the same result
    let read = TimeBloom::read_from(bytes).is_ok();
    match (TimeBloom::from_bytes(bytes), CountBloom::from_bytes(bytes)) {
        (Ok(filter), Err(_)) => {
            assert!(read, "what decodes can be read");
            assert!(filter.to_bytes() == bytes, "a filter has one encoding");
            exercise_time(filter, random);
        }
        (Err(_), Ok(filter)) => {
            assert!(filter.to_bytes() == bytes, "a filter has one encoding");
            exercise_count(filter, random);
        }
        (Err(_), Err(_)) => {}
        (Ok(_), Ok(_)) => panic!("bytes are one kind of filter"),
    }
}
