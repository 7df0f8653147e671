//! Errors of object stores as errors of input and output.

use std::error::Error;
use std::io;

/// The error with its message, and with the kind of the system's error that caused it: a full disk is recognized by it.
pub fn io_error(error: object_store::Error) -> io::Error {
    if let object_store::Error::NotFound { .. } = error {
        return io::Error::new(io::ErrorKind::NotFound, error);
    }
    let mut source: Option<&dyn Error> = Some(&error);
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return io::Error::new(cause.kind(), error.to_string());
        }
        source = cause.source();
    }
    io::Error::other(error)
}
