//! Address to listen on.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Listen {
    Tcp {
        /// Address and port.
        address: SocketAddr,
        /// True if other machines may connect.
        public: bool,
    },
    Unix(PathBuf),
    Nowhere,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    #[error("{0} can be reached from other machines; --public allows that, or listen on 127.0.0.1 or unix:FILE")]
    Public(SocketAddr),
    #[error("{0} cannot be listened on: {1}")]
    Io(String, io::Error),
}

impl ListenError {
    pub(super) fn runtime_error(error: io::Error) -> ListenError {
        ListenError::Io("HTTP".into(), error)
    }
}

/// A text that is no place to listen.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no place to listen; give {places}")]
pub struct ListenPlaceError {
    pub text: String,
    /// The expected forms.
    pub places: String,
}

impl FromStr for Listen {
    type Err = ListenPlaceError;

    fn from_str(text: &str) -> Result<Listen, ListenPlaceError> {
        Listen::parse_among(text, "a port, ADDRESS:PORT, unix:FILE or none")
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp { address, .. } => write!(f, "{address}"),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
            Listen::Nowhere => f.write_str("none"),
        }
    }
}

impl Listen {
    /// Reads a place. An error names `places` as the expected forms.
    ///
    /// # Errors
    /// The text is no place.
    pub fn parse_among(text: &str, places: &str) -> Result<Listen, ListenPlaceError> {
        if text == "none" {
            return Ok(Listen::Nowhere);
        }
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Listen::Unix(path.into()));
        }
        let address = match text.parse::<u16>() {
            Ok(port) => SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port),
            Err(_) => {
                let wrong = |_| ListenPlaceError { text: text.to_string(), places: places.to_string() };
                text.parse().map_err(wrong)?
            }
        };
        Ok(Listen::Tcp { address, public: false })
    }

    /// Returns whether every user of this machine can connect.
    pub fn is_for_all(&self) -> bool {
        matches!(self, Listen::Tcp { .. })
    }

    pub(super) fn open(&self) -> Result<Option<Accepts>, ListenError> {
        let failure = |error| ListenError::Io(self.to_string(), error);
        match self {
            Listen::Nowhere => Ok(None),
            Listen::Tcp { address, public } => {
                if !public && !address.ip().is_loopback() {
                    return Err(ListenError::Public(*address));
                }
                let listener = std::net::TcpListener::bind(address).map_err(failure)?;
                listener.set_nonblocking(true).map_err(failure)?;
                Ok(Some(Accepts::Tcp(listener, *public)))
            }
            Listen::Unix(path) => {
                // A socket that a daemon left behind is in the way.
                use std::os::unix::fs::FileTypeExt;
                if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
                    && std::os::unix::net::UnixStream::connect(path).is_err()
                {
                    let _ = std::fs::remove_file(path);
                }
                let listener = std::os::unix::net::UnixListener::bind(path).map_err(failure)?;
                // For the daemon's user and the group that owns the socket.
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o660);
                std::fs::set_permissions(path, mode).map_err(failure)?;
                listener.set_nonblocking(true).map_err(failure)?;
                Ok(Some(Accepts::Unix(listener, path.clone())))
            }
        }
    }
}

/// A place that is listened on.
pub(super) enum Accepts {
    Tcp(std::net::TcpListener, bool),
    Unix(std::os::unix::net::UnixListener, PathBuf),
}

pub(super) enum Listener {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

pub(super) enum AcceptedStream {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

impl Accepts {
    pub(super) fn address(&self) -> String {
        match self {
            Accepts::Tcp(listener, _) => {
                listener.local_addr().map_or_else(|_| "http".into(), |address| format!("http://{address}/"))
            }
            Accepts::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// Returns whether only this machine is meant to connect over a network.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Accepts::Tcp(_, false))
    }

    pub(super) fn into_listener(self) -> io::Result<Listener> {
        match self {
            Accepts::Tcp(listener, _) => tokio::net::TcpListener::from_std(listener).map(Listener::Tcp),
            Accepts::Unix(listener, _) => tokio::net::UnixListener::from_std(listener).map(Listener::Unix),
        }
    }
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<AcceptedStream> {
        match self {
            Listener::Tcp(listener) => listener.accept().await.map(|(stream, _)| AcceptedStream::Tcp(stream)),
            Listener::Unix(listener) => listener.accept().await.map(|(stream, _)| AcceptedStream::Unix(stream)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_to_listen() {
        let listen = |text: &str| text.parse::<Listen>();
        assert_eq!(listen("9797").map(|l| l.to_string()), Ok("127.0.0.1:9797".into()));
        assert_eq!(listen("unix:/run/x").map(|l| l.to_string()), Ok("unix:/run/x".into()));
        assert_eq!(listen("none"), Ok(Listen::Nowhere));
        assert!(listen("here").is_err() && listen("70000").is_err());
        let open = listen("0.0.0.0:0").expect("a place").open();
        assert!(matches!(open, Err(ListenError::Public(_))));
    }
}
