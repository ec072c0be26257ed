use std::future::pending;
use std::os::fd::AsFd;

use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

/// Waits until nobody can read any more what is written to `output`: its pipe is closed at the other end. Of what is no
/// pipe that cannot be told, and this waits for ever.
pub(super) async fn until_unread(output: impl AsFd) {
    let watched = output.as_fd().try_clone_to_owned();
    // Unchecked, for a check would let the writes of everybody else who has this pipe fail instead of wait. A file, for
    // instance, cannot be waited for.
    let Ok(watched) = watched.and_then(Sender::from_owned_fd_unchecked) else {
        return pending().await;
    };
    match watched.ready(Interest::ERROR).await {
        Ok(_closed) => {}
        Err(_) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    use futures::FutureExt as _;

    use super::*;

    /// Lets it look, and says whether it has ended.
    async fn has_ended(unread: &mut std::pin::Pin<Box<impl Future<Output = ()>>>) -> bool {
        for _ in 0..10 {
            if unread.as_mut().now_or_never().is_some() {
                return true;
            }
            tokio::task::yield_now().await;
        }
        false
    }

    #[tokio::test]
    async fn a_reader_that_goes_is_noticed_although_nothing_is_written() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut unread = Box::pin(until_unread(writer.try_clone().unwrap()));
        assert!(!has_ended(&mut unread).await);
        let mut byte = [0];
        (&writer).write_all(b"x").unwrap();
        reader.read_exact(&mut byte).unwrap();
        assert!(!has_ended(&mut unread).await);
        drop(reader);
        unread.await;
        // So it is when it was gone before.
        until_unread(writer).await;
    }

    #[tokio::test]
    async fn the_reader_of_a_file_never_goes() {
        let mut unread = Box::pin(until_unread(File::open("/dev/null").unwrap()));
        assert!(!has_ended(&mut unread).await);
    }
}
