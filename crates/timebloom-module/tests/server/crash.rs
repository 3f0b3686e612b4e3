//! Servers that are killed while they write.

use std::thread;
use std::time::Duration;

use fastrand::Rng;

use crate::client::Client;
use crate::process::Server;

/// Adds items until the server is gone; gives the numbers of those that were acknowledged.
fn add_until_the_end(mut client: Client, first: u64) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    for block in (first..).step_by(20) {
        for item in block..block + 20 {
            let key = ["time", "count"][usize::from(item % 2 == 1)];
            client.queue(&["APBF.ADD", key, &format!("item-{item}")]);
        }
        if client.flush().is_err() {
            return acknowledged;
        }
        for item in block..block + 20 {
            match client.receive() {
                Ok(reply) if reply.to_string() == "OK" => acknowledged.push(item),
                _ => return acknowledged,
            }
        }
    }
    unreachable!("servers end before numbers do")
}

#[test]
fn no_acknowledged_item_is_missing_after_any_of_fifty_kills() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let mut server = Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let mut client = server.client();
    client.send("APBF.RESERVE time TIME 4 1000 3600");
    client.send("APBF.RESERVE count COUNT 4 1000000");
    let mut total = 0;
    for round in 0..50 {
        let (writer, first) = (server.client(), round * 1_000_000);
        let writer = thread::spawn(move || add_until_the_end(writer, first));
        if rng.u8(..5) == 0 {
            let _ = server.client().try_call(&["BGREWRITEAOF"]);
        }
        thread::sleep(Duration::from_millis(rng.u64(5..80)));
        server.kill();
        let acknowledged = writer.join().expect("the writer ends");
        total += acknowledged.len();
        server.start_again();
        let mut client = server.client();
        for numbers in acknowledged.chunks(1_000) {
            for (key, odd) in [("time", 0), ("count", 1)] {
                let items: Vec<String> =
                    numbers.iter().filter(|&number| number % 2 == odd).map(|number| format!("item-{number}")).collect();
                if items.is_empty() {
                    continue;
                }
                let mut words = vec!["APBF.EXISTS", key];
                words.extend(items.iter().map(String::as_str));
                assert!(client.call(&words).bits().into_iter().all(|seen| seen), "seed {seed}, round {round}: {key}");
            }
        }
    }
    println!("{total} acknowledged");
    assert!(total > 5_000, "{total}");
}
