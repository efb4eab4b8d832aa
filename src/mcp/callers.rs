//! Who calls over HTTP: the token, the toolset it opens, and whether the caller is still there.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Toolset;

/// The token opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unauthorized;

impl fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bearer token is missing or wrong")
    }
}

impl std::error::Error for Unauthorized {}

/// A bearer token to compare others with. It keeps no more than a digest, and comparing takes the same time whatever is
/// given.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// The token that callers have to send.
    pub fn new(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Whether this is the token. No token at all never is.
    pub fn is(&self, given: Option<&str>) -> bool {
        given.is_some_and(|given| self.0.ct_eq(&Self::new(given).0).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// Gives a caller's toolset by its bearer token.
pub(super) type Open = Arc<dyn Fn(Option<&str>) -> Result<Toolset, Unauthorized> + Send + Sync>;

/// Stands for a token without being one.
pub(super) type Key = Option<[u8; 32]>;

/// What is known of whoever sent a request; travels with it.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) key: Key,
    /// Opened for this request: a session that starts with it keeps it.
    pub(super) toolset: Toolset,
    /// Cancelled when nobody waits for the answer any more.
    pub(super) gone: CancellationToken,
    runs: Arc<Runs>,
}

impl Caller {
    /// The toolset for a request that belongs to no session: the one that the same token's other such requests use, so
    /// that a run's budget holds for them together.
    pub(super) fn without_session(&self) -> Toolset {
        self.runs.of(self.key, &self.toolset)
    }
}

/// Opens callers and knows how many of them wait for an answer.
pub(super) struct Callers {
    open: Open,
    runs: Arc<Runs>,
    waiting: watch::Sender<usize>,
}

impl Callers {
    /// `idle` is how long requests without a session may pause and still be one run.
    pub(super) fn new(open: Open, idle: Duration) -> Self {
        let runs = Runs { idle, toolsets: Mutex::default() };
        Self { open, runs: Arc::new(runs), waiting: watch::Sender::new(0) }
    }

    /// Whether callers without a token are let in.
    pub(super) fn admits_anyone(&self) -> bool {
        (self.open)(None).is_ok()
    }

    /// Lets a caller in. Dropping the second part says that it no longer waits.
    ///
    /// # Errors
    /// If the token opens nothing.
    pub(super) fn admit(&self, token: Option<&str>) -> Result<(Caller, Waiting), Unauthorized> {
        let toolset = (self.open)(token)?;
        let gone = CancellationToken::new();
        self.waiting.send_modify(|waiting| *waiting += 1);
        let waiting = Waiting { _gone: gone.clone().drop_guard(), waiting: self.waiting.clone() };
        let key = token.map(|token| Sha256::digest(token).into());
        Ok((Caller { key, toolset, gone, runs: Arc::clone(&self.runs) }, waiting))
    }

    /// Resolves when nobody waits for an answer.
    pub(super) async fn all_answered(&self) {
        // Fails only when the sender is gone, and that is here.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting == 0).await;
    }
}

/// A request that has not been answered to its end.
pub(super) struct Waiting {
    _gone: DropGuard,
    waiting: watch::Sender<usize>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

/// The toolsets of requests without a session, one a token. Clients of the protocol from 2026-07-28 on have no sessions;
/// a toolset a request would give each its own run budget.
struct Runs {
    idle: Duration,
    toolsets: Mutex<HashMap<Key, (Toolset, Instant)>>,
}

impl Runs {
    fn of(&self, key: Key, fresh: &Toolset) -> Toolset {
        let now = Instant::now();
        let mut toolsets = self.toolsets.lock().unwrap_or_else(PoisonError::into_inner);
        toolsets.retain(|_, (_, used)| now.duration_since(*used) < self.idle);
        let (toolset, used) = toolsets.entry(key).or_insert_with(|| (fresh.clone(), now));
        *used = now;
        toolset.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn toolset(rows: usize) -> Toolset {
        Toolset::builder().limits(Limits::default().with_max_rows(rows)).build().expect("a toolset")
    }

    #[test]
    fn requests_without_a_session_share_a_toolset_by_token_until_they_pause() {
        let runs = Runs { idle: Duration::from_secs(60), toolsets: Mutex::default() };
        let rows = |key, fresh| runs.of(key, &toolset(fresh)).limits().max_rows();
        assert_eq!((rows(None, 1), rows(None, 2), rows(Some([1; 32]), 3), rows(Some([1; 32]), 4)), (1, 1, 3, 3));
        let runs = Runs { idle: Duration::ZERO, toolsets: Mutex::default() };
        let rows = |fresh| runs.of(None, &toolset(fresh)).limits().max_rows();
        assert_eq!((rows(1), rows(2)), (1, 2));
    }

    #[test]
    fn a_token_is_itself_alone() {
        let token = Token::new("s3cret");
        assert!(token.is(Some("s3cret")));
        assert!([None, Some(""), Some("s3cre"), Some("s3crets"), Some("S3cret")].iter().all(|other| !token.is(*other)));
        assert_eq!(format!("{token:?}"), "Token(***)");
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_is_noticed() {
        let callers = Callers::new(Arc::new(|_| Ok(toolset(1))), Duration::ZERO);
        let (caller, waiting) = callers.admit(None).expect("anyone is let in");
        assert!(!caller.gone.is_cancelled());
        assert_eq!(*callers.waiting.borrow(), 1);
        drop(waiting);
        assert!(caller.gone.is_cancelled());
        callers.all_answered().await;
    }
}
