//! Where records go: one line each, whole and flushed, from any thread.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::line::Line;

/// A record could not be written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot write the record stream to {place}: {message}\nhint: {hint}")]
pub struct SinkError {
    place: String,
    message: String,
    hint: &'static str,
}

impl SinkError {
    fn new(place: &str, error: &io::Error) -> Self {
        let hint = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free space on that file system, or write the record elsewhere (--record FILE)"
            }
            io::ErrorKind::BrokenPipe => {
                "the reader of the stream went away; keep it running or use --record FILE"
            }
            io::ErrorKind::NotFound => "make the folder first",
            _ => "a trial without its record is no result; write it elsewhere (--record FILE)",
        };
        Self {
            place: place.to_owned(),
            message: error.to_string(),
            hint,
        }
    }
}

/// One consumer of a record stream.
pub trait Output: Send {
    /// Takes one record and its JSON text (no newline at the end).
    fn line(&mut self, line: &Line, json: &str) -> io::Result<()>;
    /// The name of this consumer in an error message.
    fn place(&self) -> String;
}

/// An [`Output`] that writes NDJSON and flushes after each line.
pub struct LinesTo<W> {
    writer: W,
    place: String,
    buffer: Vec<u8>,
}

impl<W: Write + Send> LinesTo<W> {
    /// Writes to `writer`, called `place` in errors.
    pub fn new(writer: W, place: impl Into<String>) -> Self {
        Self {
            writer,
            place: place.into(),
            buffer: Vec::new(),
        }
    }
}

impl LinesTo<File> {
    /// Creates (or empties) the file.
    pub fn create(path: &Path) -> Result<Self, SinkError> {
        let place = path.display().to_string();
        let file = File::create(path).map_err(|e| SinkError::new(&place, &e))?;
        Ok(Self::new(file, place))
    }
}

impl<W: Write + Send> Output for LinesTo<W> {
    fn line(&mut self, _: &Line, json: &str) -> io::Result<()> {
        // one write a line: a reader of a growing file sees whole lines only
        self.buffer.clear();
        self.buffer.extend_from_slice(json.as_bytes());
        self.buffer.push(b'\n');
        self.writer.write_all(&self.buffer)?;
        self.writer.flush()
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}

/// A thread-safe writer of records; clones share the same outputs.
///
/// The first error sticks: later writes return it again, and [`Sink::check`] shows it to whoever can end the trial,
/// whichever thread met it.
#[derive(Clone)]
pub struct Sink {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    outputs: Vec<Box<dyn Output>>,
    failed: Option<SinkError>,
}

impl Sink {
    /// A sink that gives every line to every output.
    #[must_use]
    pub fn new(outputs: Vec<Box<dyn Output>>) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Inner {
                outputs,
                failed: None,
            })),
        }
    }

    /// Writes one record.
    ///
    /// # Panics
    /// Never: every record has a JSON form.
    pub fn write(&self, line: &Line) -> Result<(), SinkError> {
        let json = serde_json::to_string(line).expect("every record has a JSON form");
        let mut inner = self.lock();
        if let Some(failed) = &inner.failed {
            return Err(failed.clone());
        }
        for output in &mut inner.outputs {
            if let Err(error) = output.line(line, &json) {
                let error = SinkError::new(&output.place(), &error);
                inner.failed = Some(error.clone());
                return Err(error);
            }
        }
        Ok(())
    }

    /// The error that ended this stream, if there was one.
    pub fn check(&self) -> Result<(), SinkError> {
        self.lock().failed.clone().map_or(Ok(()), Err)
    }

    // A panic of another writer leaves whole lines behind, so its lock may be taken over.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Level, Note};

    fn note(text: &str) -> Line {
        Line::Note(Note {
            t_us: 0,
            level: Level::Info,
            text: text.into(),
        })
    }

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_of_many_threads_stay_whole() {
        let shared = Shared::default();
        let sink = Sink::new(vec![Box::new(LinesTo::new(shared.clone(), "memory"))]);
        std::thread::scope(|s| {
            for thread in 0..4 {
                let sink = sink.clone();
                s.spawn(move || {
                    for i in 0..100 {
                        sink.write(&note(&format!("{thread}-{i}"))).unwrap();
                    }
                });
            }
        });
        let text = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 400);
        for line in text.lines() {
            serde_json::from_str::<Line>(line).unwrap();
        }
    }

    #[test]
    fn a_full_disk_is_a_clear_error_that_sticks() {
        let sink = Sink::new(vec![Box::new(
            LinesTo::create(Path::new("/dev/full")).unwrap(),
        )]);
        assert!(sink.check().is_ok());
        let error = sink.write(&note("x")).unwrap_err().to_string();
        assert!(
            error.contains("/dev/full") && error.contains("hint: free space"),
            "{error}"
        );
        assert!(sink.check().is_err());
        assert!(sink.write(&note("y")).is_err());
    }
}
