//! Answers, encoded once and sent many times.

use std::collections::HashMap;
use std::rc::Rc;

use crate::protocol::{Packets, RowFormat};
use crate::shape::{self, Answer};

/// Different statements to remember. More than any workload has; texts that never repeat must not fill memory.
const REMEMBERED: usize = 4096;

/// One statement's answer as bytes, for a client that does or does not want EOF packets.
#[derive(Debug)]
pub(crate) struct Canned {
    /// What a prepare of this statement is answered with, the statement's number left open.
    pub prepared: Vec<u8>,
    /// What executing it is answered with.
    pub executed: Vec<u8>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Done,
    Rows,
    Infile,
}

impl Canned {
    fn new(sql: &[u8], format: RowFormat, deprecate_eof: bool) -> Self {
        let statement = shape::parse(sql);
        let (mut prepared, mut executed) = (Vec::new(), Vec::new());
        let mut answer = Packets::new(&mut executed, 1);
        let (columns, kind) = match statement.answer {
            Answer::Done { affected_rows } => {
                answer.ok(affected_rows);
                (Vec::new(), Kind::Done)
            }
            Answer::Infile { file } => {
                answer.local_infile(&file);
                (Vec::new(), Kind::Infile)
            }
            Answer::Rows { columns, rows } => {
                let row = |row| {
                    columns
                        .iter()
                        .map(|column| shape::cell(column, row))
                        .collect()
                };
                answer.result_set(&columns, (0..rows).map(row), format, deprecate_eof);
                (columns, Kind::Rows)
            }
        };
        Packets::new(&mut prepared, 1).prepared(&columns, statement.params, deprecate_eof);
        Self {
            prepared,
            executed,
            kind,
        }
    }
}

/// Every answer that was needed so far.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    answers: HashMap<(u64, RowFormat, bool), Rc<Canned>>,
}

impl Cache {
    /// The answer to `sql`; texts that differ only in their values share one.
    pub fn get(&mut self, sql: &[u8], format: RowFormat, deprecate_eof: bool) -> Rc<Canned> {
        let key = (shape::fingerprint(sql), format, deprecate_eof);
        if let Some(canned) = self.answers.get(&key) {
            return Rc::clone(canned);
        }
        if self.answers.len() >= REMEMBERED {
            self.answers.clear();
        }
        let canned = Rc::new(Canned::new(sql, format, deprecate_eof));
        self.answers.insert(key, Rc::clone(&canned));
        canned
    }
}
