//! Ctrl-C: the first drops the call, so that its temporary files go away; the second ends the process there and then.

/// Resolves at the first signal that asks the process to end, with the exit status that says so. Where signals cannot
/// be listened to, they end the process, as they always do.
pub(super) async fn interrupted() -> u8 {
    #[cfg(unix)]
    if let Ok(signals) = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ]) && let Ok(status) = listen(signals).await
    {
        return status;
    }
    std::future::pending().await
}

#[cfg(unix)]
fn listen(mut signals: signal_hook::iterator::Signals) -> tokio::sync::oneshot::Receiver<u8> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut sender = Some(sender);
        for signal in signals.forever() {
            let status = 128 + u8::try_from(signal).unwrap_or(0);
            // Nobody listens any more when the call is done; then the answer is being written.
            let heard = sender.take().is_some_and(|sender| sender.send(status).is_ok());
            if !heard {
                std::process::exit(i32::from(status));
            }
        }
    });
    receiver
}
