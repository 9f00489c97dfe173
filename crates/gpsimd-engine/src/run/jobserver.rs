//! A share in the jobs of a surrounding `make -j`.
//!
//! Every process of ours that runs at the same time as another one needs a token of the jobserver named by `MAKEFLAGS`;
//! the first needs none, because make gave this process one. Unaware of actions.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::words::disk::locked;

/// How long a worker waits for a token before it looks whether the run is over.
const PATIENCE: Duration = Duration::from_millis(20);

/// A client of a jobserver.
#[derive(Debug)]
pub struct Jobserver {
    /// Asks for tokens in a thread of its own: reading a pipe cannot be given up half-way.
    helper: jobserver::HelperThread,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    tokens: Mutex<Tokens>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Tokens {
    /// Whether the token that this process came with is in use.
    own_is_used: bool,
    waiting: usize,
    /// Tokens that came and that nobody has taken yet, at most one for each who waits.
    arrived: Vec<jobserver::Acquired>,
}

/// The right to run one process; goes back when dropped.
pub(crate) enum Token<'a> {
    /// The one this process came with.
    Own(&'a Shared),
    /// One of the jobserver's.
    Lent { _token: jobserver::Acquired },
}

impl Jobserver {
    /// The jobserver that `MAKEFLAGS` names. Call it before this process opens files.
    pub fn from_env() -> Option<Jobserver> {
        std::env::var_os("MAKEFLAGS")?;
        // SAFETY: the descriptors named by the environment are used only if they are open pipes; this process has
        // opened none of its own yet, so they are those that make left open for it.
        #[allow(unsafe_code)]
        let found = unsafe { jobserver::Client::from_env_ext(true) };
        match found.client {
            Ok(client) => Jobserver::of(client).ok(),
            Err(error) => {
                tracing::debug!("no jobserver: {error}");
                None
            }
        }
    }

    fn of(client: jobserver::Client) -> std::io::Result<Jobserver> {
        let shared = Arc::new(Shared::default());
        let helper = client.into_helper_thread({
            let shared = shared.clone();
            move |token| match token {
                Ok(token) => shared.arrived(token),
                // a make that went away hands out nothing more; the own token still comes back
                Err(error) => tracing::debug!("jobserver: {error}"),
            }
        })?;
        Ok(Jobserver { helper, shared })
    }

    /// Waits for a token; `None` when `is_over` says so first.
    pub(crate) fn token(&self, is_over: impl Fn() -> bool) -> Option<Token<'_>> {
        let mut tokens = locked(&self.shared.tokens);
        if !tokens.own_is_used {
            tokens.own_is_used = true;
            return Some(Token::Own(&self.shared));
        }
        tokens.waiting += 1;
        self.helper.request_token();
        let token = loop {
            if is_over() {
                break None;
            }
            if !tokens.own_is_used {
                tokens.own_is_used = true;
                break Some(Token::Own(&self.shared));
            }
            if let Some(token) = tokens.arrived.pop() {
                break Some(Token::Lent { _token: token });
            }
            let waited = self.shared.wake.wait_timeout(tokens, PATIENCE);
            tokens = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        tokens.waiting -= 1;
        // what came too late goes back
        let waiting = tokens.waiting;
        tokens.arrived.truncate(waiting);
        token
    }
}

impl Shared {
    fn arrived(&self, token: jobserver::Acquired) {
        let mut tokens = locked(&self.tokens);
        if tokens.arrived.len() < tokens.waiting {
            tokens.arrived.push(token);
        }
        drop(tokens);
        self.wake.notify_all();
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        if let Token::Own(shared) = self {
            locked(&shared.tokens).own_is_used = false;
            shared.wake.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_tokens_than_make_gives() {
        let server = Jobserver::of(jobserver::Client::new(1).expect("a jobserver")).expect("a thread");
        let first = server.token(|| false).expect("the own token");
        let second = server.token(|| false).expect("a lent one");
        let tries = std::cell::Cell::new(0);
        let is_over = || tries.replace(tries.get() + 1) > 3;
        assert!(server.token(is_over).is_none(), "make gave two");
        drop(first);
        assert!(matches!(server.token(|| false), Some(Token::Own(_))));
        drop(second);
        let _own = server.token(|| false);
        assert!(server.token(|| false).is_some(), "the lent one came back");
    }
}
