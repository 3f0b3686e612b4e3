//! Payloads made to harm: an error or a filter that works, the server alive, and its memory back.

use fastrand::Rng;

use crate::client::Client;
use crate::process::{Server, wait_for};

/// The CRC of RDB files and DUMP payloads: the one of Jones, reflected.
fn crc64(bytes: &[u8]) -> u64 {
    const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u64::from(byte), |crc: u64, _| if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 })
    })
}

/// Puts the right checksum at the end of a payload.
fn seal(payload: &mut Vec<u8>) {
    payload.truncate(payload.len() - 8);
    let crc = crc64(payload);
    payload.extend(crc.to_le_bytes());
}

/// A number as RDB files have it, in its longest form.
fn rdb_length(value: u64) -> Vec<u8> {
    let mut bytes = vec![0x81];
    bytes.extend(value.to_be_bytes());
    bytes
}

/// A payload with these bytes as the filter, in pieces of `piece` bytes that together are said to be `length` long. `head`
/// and `tail` are what the server puts around every value of our type.
fn payload(head: &[u8], tail: &[u8], bytes: &[u8], length: u64, piece: usize) -> Vec<u8> {
    let mut payload = head.to_vec();
    payload.push(2); // an unsigned number follows
    payload.extend(rdb_length(length));
    for piece in bytes.chunks(piece.max(1)) {
        payload.push(5); // a string follows
        payload.extend(rdb_length(piece.len() as u64));
        payload.extend(piece);
    }
    payload.extend(tail);
    seal(&mut payload);
    payload
}

/// The server's head and tail around a value, and the filter's bytes in it.
fn take_apart(payload: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let magic = b"\x89tblm\r\n\x1a";
    let snapshot = payload.windows(magic.len()).position(|window| window == magic).expect("not compressed");
    // type, 64-bit id of the module, then ours; at the end: end of the module's data, RDB version, CRC
    let head = payload[..10].to_vec();
    let tail = payload[payload.len() - 11..].to_vec();
    (head, tail, payload[snapshot - 3..payload.len() - 11].to_vec())
}

fn restore(client: &mut Client, payload: &[u8]) -> bool {
    let words: [&[u8]; 5] = [b"RESTORE", b"target", b"0", payload, b"REPLACE"];
    let reply = client.call(&words);
    assert!(reply.is_error() || reply.to_string() == "OK", "{reply}");
    !reply.is_error()
}

/// What a filter that was accepted must be able to do.
fn exercise(client: &mut Client) {
    for command in [
        "APBF.INFO target",
        "APBF.EXISTS target a b c",
        "APBF.CARD target",
        "APBF.MADD target a b c",
        "APBF.ADDNX target a d",
        "MEMORY USAGE target",
        "DUMP target",
        "COPY target copy REPLACE",
        "DEL copy",
    ] {
        let reply = client.send(command);
        assert!(!reply.is_error() || reply.text().contains("the filter is full"), "{command}: {reply}");
    }
}

#[test]
fn no_payload_harms_the_server() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let server = Server::start(&["--rdbcompression", "no", "--timebloom.max-filter-bytes", "4mb"]);
    let mut client = server.client();
    let filters = [
        "empty TIME 2 0 60",
        "time TIME 2 100 60 MAXBYTES 1000000",
        "short TIME 3 50 1 MAXBYTES 30000 ONFULL SHORTEN",
        "paper TIME 2 50 60 LEVEL 2 POLICY PAPER MAXBYTES 500000",
        "count COUNT 2 200 K 7 L 5",
    ];
    let mut originals = Vec::new();
    for filter in filters {
        assert_eq!(client.ask(&format!("APBF.RESERVE {filter}")), "OK");
        let key = filter.split(' ').next().expect("a name");
        if key != "empty" {
            for item in 0..120 {
                client.call(&["APBF.ADD", key, &format!("item-{item}")]);
            }
        }
        originals.push(client.call(&["DUMP", key]).bytes().to_vec());
    }
    client.send("FLUSHALL");
    for original in &originals {
        let (head, tail, bytes) = take_apart(original);
        let again = payload(&head, &tail, &bytes, bytes.len() as u64, 256 << 10);
        assert!(restore(&mut client, original) && restore(&mut client, &again), "the parts make up the whole");
        exercise(&mut client);
    }
    client.send("DEL target");
    let before = client.info_number("memory", "used_memory");
    let (mut accepted, mut tried) = (0, 0);
    while tried < 24_000 {
        let original = &originals[rng.usize(..originals.len())];
        let (head, tail, mut bytes) = take_apart(original);
        let harmful = match rng.u32(..6) {
            // any byte of the whole payload, or a cut
            0 => {
                let mut payload = original.clone();
                if rng.bool() {
                    payload.truncate(rng.usize(11..payload.len()));
                }
                let place = rng.usize(..payload.len() - 10);
                payload[place] = rng.u8(..);
                seal(&mut payload);
                payload
            }
            // sizes and pieces that lie
            1 => {
                let length = match rng.u32(..5) {
                    0 => rng.u64(..),
                    1 => u64::MAX >> rng.u32(..64),
                    2 => 0,
                    3 => bytes.len() as u64 + rng.u64(..20),
                    _ => bytes.len() as u64,
                };
                payload(&head, &tail, &bytes, length, rng.usize(1..bytes.len() + 50))
            }
            // fields of the snapshot, with its checksums right again
            choice => {
                for _ in 0..rng.usize(1..4) {
                    let head_bytes = timebloom_testkit::head_bytes(&bytes[3..]).unwrap_or(0).clamp(8, bytes.len() - 11);
                    let place = if choice == 2 { rng.usize(..bytes.len()) } else { rng.usize(..head_bytes + 3) };
                    let width = [1, 2, 4, 8][rng.usize(..4)].min(bytes.len() - place);
                    let value = match rng.u32(..6) {
                        0 => rng.u64(..),
                        1 => u64::MAX >> rng.u32(..64),
                        2 => 1_u64 << rng.u32(..64),
                        3 => rng.u64(..100),
                        4 => f64::from_bits(rng.u64(..)).to_bits(),
                        _ => 0,
                    };
                    bytes[place..place + width].copy_from_slice(&value.to_le_bytes()[..width]);
                }
                let mut snapshot = bytes[3..].to_vec();
                timebloom_testkit::reseal(&mut snapshot);
                bytes.truncate(3);
                bytes.extend(snapshot);
                payload(&head, &tail, &bytes, bytes.len() as u64, 256 << 10)
            }
        };
        tried += 1;
        if restore(&mut client, &harmful) {
            accepted += 1;
            exercise(&mut client);
            client.send("DEL target");
        }
        client.send("DEL target");
    }
    println!("{accepted} of {tried} describe a filter");
    assert!(accepted > 0 && accepted < tried / 2, "{accepted} of {tried}");
    assert_eq!(client.info("timebloom", "timebloom_filters"), "0");
    assert_eq!(client.info("timebloom", "timebloom_panics"), "0");
    wait_for("memory to come back", || client.info_number("memory", "used_memory") < before + 500_000);
}

#[test]
fn no_damaged_file_harms_the_server() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let mut server = Server::start(&["--rdbcompression", "no", "--dbfilename", "dump.rdb", "--rdbchecksum", "no"]);
    let mut client = server.client();
    client.send("APBF.RESERVE time TIME 2 100 60");
    for item in 0..200 {
        client.call(&["APBF.ADD", "time", &format!("item-{item}")]);
    }
    client.send("SAVE");
    server.kill();
    server.files_are_damaged = true;
    let file = server.dir().join("dump.rdb");
    let bytes = std::fs::read(&file).expect("a file");
    let value = bytes.windows(5).position(|window| window == b"\x89tblm").expect("a filter");
    for _ in 0..12 {
        let mut damaged = bytes.clone();
        let place = rng.usize(value..bytes.len() - 20);
        damaged[place] ^= 1 << rng.u8(..8);
        std::fs::write(&file, damaged).expect("a file");
        // the checksums of the snapshot notice: the server says so and does not start, as with any damaged file
        assert!(!server.tries_to_start(), "seed {seed}, place {place}");
        let log = server.log();
        assert!(log.contains("a payload was refused") && !log.contains("crashed by signal"), "seed {seed}: {log}");
    }
    std::fs::write(&file, bytes).expect("a file");
    server.start_again();
    assert_eq!(server.client().ask("APBF.EXISTS time item-7"), "[1]");
}
