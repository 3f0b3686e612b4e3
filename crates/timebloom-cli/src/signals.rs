//! Being asked to stop: Ctrl-C, a polite kill, a terminal that goes away.
//!
//! The first signal lets the run finish what it has and save its state; a second one ends the process at once.

use std::process::ExitCode;
use std::sync::mpsc::Sender;

use crate::reader::Message;

/// Sends the first signal to the run. Without it, a run that cannot be warned still ends the hard way.
#[cfg(unix)]
pub(crate) fn watch(messages: Sender<Message>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        let mut asked = false;
        for signal in signals.forever() {
            if asked || messages.send(Message::Signal(signal)).is_err() {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            asked = true;
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn watch(_messages: Sender<Message>) {}

/// Ends the process as the signal would have, so that a shell script stops too.
#[cfg(unix)]
pub(crate) fn die_of(signal: i32) -> ExitCode {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    ExitCode::FAILURE
}

#[cfg(not(unix))]
pub(crate) fn die_of(_signal: i32) -> ExitCode {
    ExitCode::FAILURE
}
