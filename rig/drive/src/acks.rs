//! The log of acknowledged transactions: what the server has promised to keep, written down outside the server.
//!
//! Each line is one `write` to a file, so that it is the operating system's before the session goes on: it outlives the
//! server and the rig, though not the host. That costs a system call a transaction, so a trial that is measured has none.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::Error;

/// How many numbers may name what a transaction wrote.
pub const KEY_MAX: usize = 8;

/// What a transaction wrote, as far as it says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Key {
    numbers: [u64; KEY_MAX],
    length: usize,
}

impl Key {
    pub fn set(&mut self, numbers: &[u64]) {
        self.length = numbers.len();
        self.numbers[..self.length].copy_from_slice(numbers);
    }

    fn numbers(&self) -> &[u64] {
        &self.numbers[..self.length]
    }
}

/// An open log.
#[derive(Debug)]
pub(crate) struct AckLog {
    file: File,
    names: Vec<String>,
}

impl AckLog {
    /// Opens the log at `path`, at its end where it exists; `names` are those of the transaction types.
    pub fn open(path: &Path, names: Vec<String>) -> Result<Self, Error> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| Error::rig(format!("{}: {error}", path.display())))?;
        Ok(Self { file, names })
    }

    /// Writes that a transaction of `session` was acknowledged; nothing when it names nothing that it wrote.
    pub fn write(&self, session: usize, kind: usize, key: &Key) -> Result<(), Error> {
        if key.length == 0 {
            return Ok(());
        }
        let (name, key) = (&self.names[kind], key.numbers());
        let line =
            format!("{{\"session\": {session}, \"transaction\": \"{name}\", \"key\": {key:?}}}\n");
        // appended in one call: lines of several workers do not mix
        (&self.file)
            .write_all(line.as_bytes())
            .map_err(|error| Error::rig(format!("the log of acknowledged transactions: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_its_key_is_logged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acks.ndjson");
        let names = vec!["order".to_owned(), "payment".to_owned()];
        let mut key = Key::default();
        let log = AckLog::open(&path, names.clone()).unwrap();
        log.write(0, 0, &key).unwrap();
        key.set(&[3, 2, 3001]);
        log.write(7, 1, &key).unwrap();
        key.set(&[1]);
        let reopened = AckLog::open(&path, names).unwrap();
        reopened.write(8, 0, &key).unwrap();
        let expected = concat!(
            "{\"session\": 7, \"transaction\": \"payment\", \"key\": [3, 2, 3001]}\n",
            "{\"session\": 8, \"transaction\": \"order\", \"key\": [1]}\n"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert!(AckLog::open(folder.path(), Vec::new()).is_err());
    }
}
