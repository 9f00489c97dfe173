//! Ctrl-C and SIGTERM: a request to stop first, and the end where nobody hears it in time.
//!
//! A command that publishes or simulates stops at its next good place. One that waits for a file, makes up inputs or
//! writes has none, so the process ends after a moment; outputs appear by renaming, and survive that. Unaware of what
//! is being done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::output::say;
use crate::status::Status;

/// How long a request to stop may take. A person takes 0.2 s for at once.
const PATIENCE: Duration = Duration::from_millis(150);

static STOP: AtomicBool = AtomicBool::new(false);
static HEARERS: Mutex<Vec<Box<dyn Fn() + Send>>> = Mutex::new(Vec::new());
static UNLESS: Mutex<Option<Box<dyn Fn() -> bool + Send>>> = Mutex::new(None);

/// Listens for the rest of the process. Where that is not possible a signal ends the process at once.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if UNLESS.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|is_meant| is_meant()) {
            return;
        }
        STOP.store(true, Ordering::SeqCst);
        HEARERS.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|hearer| hearer());
        std::thread::sleep(PATIENCE);
        say("stopped\n");
        std::process::exit(Status::Interrupted as i32);
    });
}

/// Set once the process shall stop.
pub fn flag() -> &'static AtomicBool {
    &STOP
}

/// The process does not stop where `is_meant` says that something in it was meant, which it sees to.
pub fn unless(is_meant: impl Fn() -> bool + Send + 'static) {
    *UNLESS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(is_meant));
}

/// Calls `hearer` when the process shall stop.
pub fn on_stop(hearer: impl Fn() + Send + 'static) {
    HEARERS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hearer));
}
