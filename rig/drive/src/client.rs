//! A session's connection, with a clock on every statement.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use dyno_reactor::now_ns;
use dyno_record::{StatementClass, StatementMode};
use dyno_wire::sql::Template;
use dyno_wire::{BinaryRow, Connection, Error as WireError, Outcome, Statement, TextRow, Value};

use crate::acks::Key;
use crate::dial::Dial;
use crate::recorder::Recorder;
use crate::workload::COUNTERS_MAX;
use crate::{Error, Rng};

/// A statement of a session, ready to be executed in the session's statement mode. It outlives connections.
#[derive(Debug, Clone)]
pub struct Prepared {
    kind: usize,
    slot: usize,
}

/// What a client knows of a statement.
#[derive(Debug)]
struct Slot {
    kind: usize,
    sql: Rc<str>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// To be prepared when it is next executed.
    Absent,
    Binary(Statement),
    Text(Template),
}

/// What the clients of one worker share.
pub(crate) struct Common {
    recorder: Rc<RefCell<Recorder>>,
    classes: Rc<[StatementClass]>,
    mode: StatementMode,
    dial: Arc<Dial>,
    /// Sessions prepare the same statements: one text serves them all.
    texts: RefCell<HashSet<Rc<str>>>,
}

impl Common {
    pub fn new(
        recorder: Rc<RefCell<Recorder>>,
        classes: &[StatementClass],
        mode: StatementMode,
        dial: Arc<Dial>,
    ) -> Self {
        Self {
            recorder,
            classes: classes.into(),
            mode,
            dial,
            texts: RefCell::default(),
        }
    }

    fn text(&self, sql: &str) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        if let Some(known) = texts.get(sql) {
            return Rc::clone(known);
        }
        let text: Rc<str> = sql.into();
        texts.insert(Rc::clone(&text));
        text
    }
}

/// A row of either statement mode, decoded in place; columns count from 0.
pub enum Row<'a> {
    /// Of a prepared statement.
    Binary(BinaryRow<'a>),
    /// Of a statement sent as text.
    Text(TextRow<'a>),
}

impl<'a> Row<'a> {
    /// A column as an integer; `None` for NULL.
    #[inline]
    pub fn get_i64(&self, column: usize) -> Result<Option<i64>, dyno_wire::Error> {
        match self {
            Self::Binary(row) => row.get_i64(column),
            Self::Text(row) => row.get_i64(column),
        }
    }

    /// A column as a floating-point number; `None` for NULL.
    #[inline]
    pub fn get_f64(&self, column: usize) -> Result<Option<f64>, dyno_wire::Error> {
        match self {
            Self::Binary(row) => row.get_f64(column),
            Self::Text(row) => row.get_f64(column),
        }
    }

    /// The bytes of a text or binary column, in place; `None` for NULL.
    #[inline]
    pub fn get_bytes(&self, column: usize) -> Result<Option<&'a [u8]>, dyno_wire::Error> {
        match self {
            Self::Binary(row) => row.get_bytes(column),
            Self::Text(row) => row.get_bytes(column),
        }
    }
}

/// A session's connection, which times each statement into the histogram of its type and counts what it issues. The
/// session keeps its client when it loses a connection and gets another one.
pub struct Client {
    connection: Option<Connection>,
    /// The session's random numbers: every choice of a transaction must come from here.
    pub rng: Rng,
    recorder: Rc<RefCell<Recorder>>,
    classes: Rc<[StatementClass]>,
    common: Rc<Common>,
    session: usize,
    statements: Vec<Slot>,
    last_ns: u64,
    /// What the transaction under way says that it writes.
    key: Key,
    /// What the attempt under way counted.
    counted: [u64; COUNTERS_MAX],
}

impl Client {
    /// A client that is not connected yet.
    pub(crate) fn new(common: Rc<Common>, session: usize, rng: Rng) -> Self {
        Self {
            connection: None,
            rng,
            recorder: Rc::clone(&common.recorder),
            classes: Rc::clone(&common.classes),
            common,
            session,
            statements: Vec::new(),
            last_ns: 0,
            key: Key::default(),
            counted: [0; COUNTERS_MAX],
        }
    }

    /// Connects, logs in and sets the session up. Statements are prepared again when they are next executed.
    pub(crate) async fn connect(&mut self) -> Result<(), Error> {
        let start_ns = now_ns();
        let connected = self.greet().await;
        let now_ns = now_ns();
        self.last_ns = now_ns;
        let mut recorder = self.recorder.borrow_mut();
        match connected {
            Ok(connection) => {
                if let Some(kind) = self.common.dial.connect_kind {
                    recorder.statement(now_ns, kind, now_ns - start_ns, 0);
                }
                self.connection = Some(connection);
                Ok(())
            }
            Err(error) => {
                let local = self.common.dial.options(self.session).address.is_local();
                if let Some(code) = error.code_connecting(local) {
                    recorder.error(now_ns, code);
                }
                Err(match self.common.dial.connect_kind {
                    Some(kind) => error.in_statement(kind),
                    None => error,
                })
            }
        }
    }

    async fn greet(&mut self) -> Result<Connection, Error> {
        let common = Rc::clone(&self.common);
        let mut connection = Connection::connect(common.dial.options(self.session)).await?;
        for init in &common.dial.init {
            self.recorder.borrow_mut().sent(init.class);
            let done = connection.query(init.sql.as_bytes()).await;
            done.map_err(|source| Error::init(&init.sql, source))?;
        }
        Ok(connection)
    }

    /// Closes the connection without a goodbye: the other side is gone, or does not listen.
    pub(crate) fn hang_up(&mut self) {
        self.connection = None;
        for statement in &mut self.statements {
            if matches!(statement.form, Form::Binary(_)) {
                statement.form = Form::Absent;
            }
        }
    }

    /// Says goodbye. The server may be gone already, and nobody would be helped by knowing.
    pub(crate) async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.recorder.borrow_mut().quit();
            let _ = connection.quit().await;
        }
        self.hang_up();
    }

    /// Makes a statement ready; `kind` is the index of its type, `?` are its parameters.
    pub async fn prepare(&mut self, kind: usize, sql: &str) -> Result<Prepared, Error> {
        let slot = self.statements.len();
        let form = match self.common.mode {
            StatementMode::Text => Form::Text(Template::new(sql)),
            StatementMode::Prepared => Form::Absent,
        };
        let sql = self.common.text(sql);
        self.statements.push(Slot { kind, sql, form });
        if !self.common.dial.lazy {
            self.make_ready(slot).await?;
        }
        Ok(Prepared { kind, slot })
    }

    /// Prepares a statement on this connection, unless that is done or not needed.
    async fn make_ready(&mut self, slot: usize) -> Result<(), Error> {
        let statement = &mut self.statements[slot];
        if !matches!(statement.form, Form::Absent) {
            return Ok(());
        }
        let Some(connection) = &mut self.connection else {
            return Err(WireError::Closed.into());
        };
        // counted as the server does: when it is sent, whatever comes of it
        self.recorder.borrow_mut().prepared();
        match connection.prepare(&statement.sql).await {
            Ok(binary) => {
                statement.form = Form::Binary(binary);
                Ok(())
            }
            Err(error) => {
                let kind = statement.kind;
                Err(self.failed(now_ns(), kind, error))
            }
        }
    }

    /// Executes a statement; rows of its result are counted and skipped.
    #[inline]
    pub async fn execute(
        &mut self,
        statement: &Prepared,
        values: &[Value<'_>],
    ) -> Result<Outcome, Error> {
        if matches!(self.statements[statement.slot].form, Form::Absent) {
            self.make_ready(statement.slot).await?;
        }
        let start_ns = self.send(statement.kind);
        let result = match (&mut self.connection, &self.statements[statement.slot].form) {
            (Some(connection), Form::Binary(binary)) => connection.execute(binary, values).await,
            (Some(connection), Form::Text(template)) => {
                connection.query_template(template, values).await
            }
            _ => Err(WireError::Closed),
        };
        self.done(statement.kind, start_ns, result)
    }

    /// Executes a statement and shows each row of its result to `visit`.
    #[inline]
    pub async fn execute_rows(
        &mut self,
        statement: &Prepared,
        values: &[Value<'_>],
        mut visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<Outcome, Error> {
        if matches!(self.statements[statement.slot].form, Form::Absent) {
            self.make_ready(statement.slot).await?;
        }
        let start_ns = self.send(statement.kind);
        let result = match (&mut self.connection, &self.statements[statement.slot].form) {
            (Some(connection), Form::Binary(binary)) => {
                connection
                    .execute_rows(binary, values, |row| visit(Row::Binary(row)))
                    .await
            }
            (Some(connection), Form::Text(template)) => {
                connection
                    .query_template_rows(template, values, |row| visit(Row::Text(row)))
                    .await
            }
            _ => Err(WireError::Closed),
        };
        self.done(statement.kind, start_ns, result)
    }

    /// Sends a statement without parameters as text, whatever the statement mode: BEGIN, COMMIT, SET.
    #[inline]
    pub async fn simple(&mut self, kind: usize, sql: &str) -> Result<Outcome, Error> {
        let start_ns = self.send(kind);
        let result = match &mut self.connection {
            Some(connection) => connection.query(sql.as_bytes()).await,
            None => Err(WireError::Closed),
        };
        self.done(kind, start_ns, result)
    }

    /// Asks the server something of the driver's own and shows the first two columns of each row to `visit`.
    pub(crate) async fn ask(
        &mut self,
        sql: &str,
        mut visit: impl FnMut(&str, &str),
    ) -> Result<(), Error> {
        self.recorder.borrow_mut().sent(StatementClass::Other);
        let Some(connection) = &mut self.connection else {
            return Err(WireError::Closed.into());
        };
        let show = |row: TextRow<'_>| {
            let text = |column| {
                let bytes = row.get_bytes(column)?.unwrap_or_default();
                Ok::<_, WireError>(String::from_utf8_lossy(bytes).into_owned())
            };
            if row.len() >= 2 {
                visit(&text(0)?, &text(1)?);
            }
            Ok(())
        };
        connection.query_rows(sql.as_bytes(), show).await?;
        Ok(())
    }

    /// The connection to the server; none while the session is not connected.
    #[must_use]
    pub fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Adds to a counter of the transaction under way: `counter` is an index into [`Workload::counters`] of its type.
    /// Counts when the transaction succeeds; what an attempt that is repeated counted is forgotten.
    ///
    /// # Panics
    /// When `counter` is not below [`COUNTERS_MAX`].
    ///
    /// [`Workload::counters`]: crate::Workload::counters
    #[inline]
    pub fn count(&mut self, counter: usize, more: u64) {
        self.counted[counter] += more;
    }

    /// What the attempt under way counted.
    pub(crate) fn counted(&self) -> &[u64; COUNTERS_MAX] {
        &self.counted
    }

    /// A new attempt begins.
    pub(crate) fn count_anew(&mut self) {
        self.counted = [0; COUNTERS_MAX];
    }

    /// Names what the transaction under way writes, by at most [`KEY_MAX`] numbers: they stand in the log of acknowledged
    /// transactions when the spec asks for one and the transaction succeeds. The last call counts.
    ///
    /// # Panics
    /// When there are more numbers.
    ///
    /// [`KEY_MAX`]: crate::KEY_MAX
    #[inline]
    pub fn writes(&mut self, numbers: &[u64]) {
        self.key.set(numbers);
    }

    /// What the transaction under way says that it writes.
    pub(crate) fn key(&mut self) -> &mut Key {
        &mut self.key
    }

    #[inline]
    fn send(&mut self, kind: usize) -> u64 {
        self.recorder.borrow_mut().sent(self.classes[kind]);
        now_ns()
    }

    #[inline]
    fn done(
        &mut self,
        kind: usize,
        start_ns: u64,
        result: Result<Outcome, dyno_wire::Error>,
    ) -> Result<Outcome, Error> {
        let now_ns = now_ns();
        self.last_ns = now_ns;
        match result {
            Ok(outcome) => {
                self.recorder
                    .borrow_mut()
                    .statement(now_ns, kind, now_ns - start_ns, outcome.rows);
                Ok(outcome)
            }
            Err(error) => Err(self.failed(now_ns, kind, error)),
        }
    }

    #[cold]
    fn failed(&self, now_ns: u64, kind: usize, error: dyno_wire::Error) -> Error {
        let error = Error::from(error).in_statement(kind);
        if let Some(code) = error.code_counted() {
            self.recorder.borrow_mut().error(now_ns, code);
        }
        error
    }

    /// When the last statement ended.
    pub(crate) fn last_ns(&self) -> u64 {
        self.last_ns
    }
}
