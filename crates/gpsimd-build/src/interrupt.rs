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

/// Listens for the rest of the process. Where that is not possible a signal ends the process at once.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
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

/// Calls `hearer` when the process shall stop.
pub fn on_stop(hearer: impl Fn() + Send + 'static) {
    HEARERS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hearer));
}
