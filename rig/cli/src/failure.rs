//! The one shape of an error on its way to the user, and the exit codes.

use std::fmt::Display;
use std::process::ExitCode;

/// What the process says when it ends badly: `error: …`, then a `hint: …` when there is one.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

/// A trial or a build failed.
const FAILED: u8 = 1;
/// The command line or the spec is wrong.
const USAGE: u8 = 2;
/// A signal ended the trial.
pub const INTERRUPTED: u8 = 3;

impl Failure {
    fn new(message: impl Display, code: u8) -> Self {
        Self {
            message: message.to_string(),
            code,
        }
    }

    /// The work failed. A message brings its own `hint:` line.
    pub fn failed(message: impl Display) -> Self {
        Self::new(message, FAILED)
    }

    /// The user asked for something that cannot be.
    pub fn usage(message: impl Display) -> Self {
        Self::new(message, USAGE)
    }

    /// Says it on standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.message);
        ExitCode::from(self.code)
    }
}

impl From<dyno_record::SpecError> for Failure {
    fn from(error: dyno_record::SpecError) -> Self {
        Self::usage(error)
    }
}

impl From<dyno_record::SinkError> for Failure {
    fn from(error: dyno_record::SinkError) -> Self {
        Self::failed(error)
    }
}
