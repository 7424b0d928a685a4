//! The driver: one connection on one socket of this thread's reactor.

use std::ops::Range;
use std::time::Duration;

use crate::columns::Columns;
use crate::compress::Codec;
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::frame::{self, PacketBuffer};
use crate::handshake::{CapabilityFlags, Handshake};
use crate::options::ConnectOptions;
use crate::response::{
    ERR, OK, Outcome, Response, STATUS_NO_BACKSLASH_ESCAPES, Step, parse_error, unexpected,
};
use crate::row::{BinaryRow, Spans, TextRow};
use crate::sql::Template;
use crate::statement::{BoundStatement, Statement};
use crate::tls::Session;
use crate::transport::Transport;
use crate::value::Value;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_RESET_CONNECTION: u8 = 0x1f;

/// What was agreed when connecting, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// `tcp` or `unix`.
    pub transport: String,
    /// The authentication plugin that the login ended with.
    pub auth_plugin: String,
    /// Names of the capabilities that both sides have.
    pub capabilities: Vec<String>,
    /// TLS version and cipher suite; none in plain text.
    pub tls: Option<String>,
    /// Compression algorithm; none without.
    pub compression: Option<String>,
}

/// A whole result as text, for cold uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Values row by row; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Ready for a command.
    Idle,
    /// An answer is being read. When its future was dropped, or the answer was broken, it stays so: nobody knows where
    /// the next answer begins.
    Busy,
}

/// A connection that is logged in. Dropping it closes the socket; [`Connection::quit`] says goodbye first.
///
/// One command at a time. A future that is dropped before it is ready leaves the connection closed.
pub struct Connection {
    transport: Transport,
    buffer: PacketBuffer,
    out: Vec<u8>,
    sequence: u8,
    state: State,
    deprecate_eof: bool,
    backslash_escapes: bool,
    local_infile: bool,
    columns: Columns,
    spans: Spans,
    statements: Vec<Option<BoundStatement>>,
    handshake: Handshake,
    info: ConnectionInfo,
}

/// What happens to the rows of an answer.
trait Sink {
    const WANTS_ROWS: bool;
    fn row(&mut self, packet: &[u8], columns: &Columns, spans: &mut Spans) -> Result<()>;
}

struct Skip;

impl Sink for Skip {
    const WANTS_ROWS: bool = false;
    #[inline]
    fn row(&mut self, _: &[u8], _: &Columns, _: &mut Spans) -> Result<()> {
        Ok(())
    }
}

struct Text<F>(F);

impl<F: FnMut(TextRow<'_>) -> Result<()>> Sink for Text<F> {
    const WANTS_ROWS: bool = true;
    #[inline]
    fn row(&mut self, packet: &[u8], columns: &Columns, spans: &mut Spans) -> Result<()> {
        (self.0)(TextRow::decode(packet, columns, spans)?)
    }
}

struct Binary<F>(F);

impl<F: FnMut(BinaryRow<'_>) -> Result<()>> Sink for Binary<F> {
    const WANTS_ROWS: bool = true;
    #[inline]
    fn row(&mut self, packet: &[u8], columns: &Columns, spans: &mut Spans) -> Result<()> {
        (self.0)(BinaryRow::decode(packet, columns, spans)?)
    }
}

/// Where LOAD DATA LOCAL gets its data from.
type Chunks<'a> = &'a mut dyn FnMut(&mut Vec<u8>) -> bool;

/// The public commands.
impl Connection {
    /// Run a text statement. Rows are counted and skipped; all result sets are read to their end.
    pub async fn query(&mut self, sql: &[u8]) -> Result<Outcome> {
        self.send_query(sql).await?;
        self.answer(&mut Skip, None).await
    }

    /// Run a text statement and visit its rows. An error of `on_row` is returned after the rest was read; the
    /// connection can go on.
    pub async fn query_rows(
        &mut self,
        sql: &[u8],
        on_row: impl FnMut(TextRow<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        self.send_query(sql).await?;
        self.answer(&mut Text(on_row), None).await
    }

    /// Run a text statement and collect the rows as text. Bytes that are not UTF-8 are replaced.
    pub async fn query_strings(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        Ok(self.query_table(sql).await?.rows)
    }

    /// The same, with the names of the columns.
    pub async fn query_table(&mut self, sql: &str) -> Result<Table> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut table = Table::default();
        let rows = &mut table.rows;
        self.query_rows(sql.as_bytes(), |row| {
            let values = (0..row.len()).map(|column| Ok(row.get_bytes(column)?.map(text)));
            rows.push(values.collect::<Result<_>>()?);
            Ok(())
        })
        .await?;
        table.columns = (0..self.columns.len())
            .filter_map(|index| self.columns.name(index))
            .map(text)
            .collect();
        Ok(table)
    }

    /// Run a text statement whose parameters are written into it as literals. Rows are counted and skipped.
    pub async fn query_template(
        &mut self,
        template: &Template,
        params: &[Value<'_>],
    ) -> Result<Outcome> {
        self.send_template(template, params).await?;
        self.answer(&mut Skip, None).await
    }

    /// The same, visiting the rows.
    pub async fn query_template_rows(
        &mut self,
        template: &Template,
        params: &[Value<'_>],
        on_row: impl FnMut(TextRow<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        self.send_template(template, params).await?;
        self.answer(&mut Text(on_row), None).await
    }

    /// Prepare a statement on the server.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.begin(COM_STMT_PREPARE)?;
        self.out.extend_from_slice(sql.as_bytes());
        self.send().await?;
        let packet = self.next_packet().await?;
        let (id, columns, params) = match self.parse_prepared(packet) {
            Err(error @ Error::Server(_)) => return self.finish(Err(error)),
            other => other?,
        };
        self.skip_definitions(params).await?;
        self.skip_definitions(columns).await?;
        let bound = BoundStatement::new(id, params);
        let free = self.statements.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.statements.len());
        match free {
            Some(slot) => self.statements[slot] = Some(bound),
            None => self.statements.push(Some(bound)),
        }
        let slot = u32::try_from(slot).map_err(|_| Error::Usage("too many statements".into()))?;
        self.finish(Ok(Statement {
            id,
            params,
            columns,
            slot,
        }))
    }

    /// Execute a prepared statement. Rows are counted and skipped: nothing looks at the values in them, so a row whose
    /// values do not add up to its packet goes unnoticed.
    pub async fn execute(
        &mut self,
        statement: &Statement,
        params: &[Value<'_>],
    ) -> Result<Outcome> {
        self.send_execute(statement, params).await?;
        let result = self.answer(&mut Skip, None).await;
        self.executed(statement, result)
    }

    /// Execute a prepared statement and visit its rows. An error of `on_row` is returned after the rest was read; the
    /// connection can go on.
    pub async fn execute_rows(
        &mut self,
        statement: &Statement,
        params: &[Value<'_>],
        on_row: impl FnMut(BinaryRow<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        self.send_execute(statement, params).await?;
        let result = self.answer(&mut Binary(on_row), None).await;
        self.executed(statement, result)
    }

    /// Let the server forget a statement. It does not answer.
    pub async fn close_statement(&mut self, statement: Statement) -> Result<()> {
        self.begin(COM_STMT_CLOSE)?;
        self.bound(&statement)?;
        self.statements[statement.slot as usize] = None;
        self.out.extend_from_slice(&statement.id.to_le_bytes());
        self.send().await?;
        self.finish(Ok(()))
    }

    /// Reset the session: open transaction, variables, temporary tables and prepared statements are gone.
    pub async fn reset(&mut self) -> Result<()> {
        self.begin(COM_RESET_CONNECTION)?;
        self.send().await?;
        self.answer(&mut Skip, None).await?;
        self.statements.clear();
        Ok(())
    }

    /// Ask whether the server is there.
    pub async fn ping(&mut self) -> Result<()> {
        self.begin(COM_PING)?;
        self.send().await?;
        self.answer(&mut Skip, None).await.map(drop)
    }

    /// Say goodbye and close, so that the server counts no aborted connection.
    pub async fn quit(mut self) -> Result<()> {
        self.begin(COM_QUIT)?;
        self.send().await
    }

    /// Run a LOAD DATA LOCAL statement. `next_chunk` is called with an empty buffer until it returns false; what it
    /// appends is sent. The file that the statement names is not looked at. Needs `local_infile` in the options.
    pub async fn load_local(
        &mut self,
        sql: &[u8],
        mut next_chunk: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Outcome> {
        if !self.local_infile {
            let reason =
                "the connection was opened without local_infile, or the server does not have it";
            return Err(Error::Unsupported(reason.into()));
        }
        self.send_query(sql).await?;
        self.answer(&mut Skip, Some(&mut next_chunk)).await
    }
}

/// Facts about the connection.
impl Connection {
    /// The server's version, equal to its own `VERSION()`.
    #[must_use]
    pub fn server_version(&self) -> &str {
        &self.handshake.server_version
    }

    /// Whether the server is a MariaDB.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.handshake.is_mariadb()
    }

    /// The server's number for this connection, as in SHOW PROCESSLIST.
    #[must_use]
    pub fn connection_id(&self) -> u32 {
        self.handshake.connection_id
    }

    /// What was agreed when connecting.
    #[must_use]
    pub fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    /// Whether the connection can take a command.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.state == State::Idle
    }

    /// Limit how long the server may leave a read or write waiting.
    pub fn set_io_timeout(&mut self, limit: Option<Duration>) {
        self.transport.set_timeout(limit);
    }
}

/// What `connect` needs.
impl Connection {
    pub(crate) fn new(transport: Transport, options: &ConnectOptions) -> Self {
        Self {
            transport,
            buffer: PacketBuffer::new(options.packet_bytes_max),
            out: Vec::with_capacity(1024),
            sequence: 0,
            state: State::Busy,
            deprecate_eof: false,
            backslash_escapes: true,
            local_infile: false,
            columns: Columns::default(),
            spans: Spans::new(),
            statements: Vec::new(),
            handshake: Handshake {
                server_version: String::new(),
                connection_id: 0,
                capabilities: CapabilityFlags::empty(),
                nonce: Vec::new(),
                auth_plugin: Vec::new(),
            },
            info: ConnectionInfo {
                transport: String::new(),
                auth_plugin: String::new(),
                capabilities: Vec::new(),
                tls: None,
                compression: None,
            },
        }
    }

    pub(crate) fn logged_in(
        &mut self,
        handshake: Handshake,
        capabilities: CapabilityFlags,
        info: ConnectionInfo,
        io_timeout: Option<Duration>,
    ) {
        self.handshake = handshake;
        self.info = info;
        self.deprecate_eof = capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        self.local_infile = capabilities.contains(CapabilityFlags::CLIENT_LOCAL_FILES);
        self.state = State::Idle;
        self.transport.set_timeout(io_timeout);
    }

    /// Go on under TLS. Nothing may have arrived in plain text after the greeting: it would not be the server's.
    pub(crate) async fn encrypt(mut self, session: Session) -> Result<(Self, String)> {
        if !self.buffer.is_empty() {
            return Err(Error::protocol("data between the greeting and TLS"));
        }
        let (transport, description) = self.transport.encrypt(session).await?;
        self.transport = transport;
        Ok((self, description))
    }

    /// Go on compressed.
    pub(crate) fn compress(mut self, codec: Codec) -> Self {
        self.transport = self.transport.compress(codec);
        self.buffer.ignore_numbers();
        self
    }

    pub(crate) fn payload(&self, packet: Range<usize>) -> &[u8] {
        self.buffer.payload(packet)
    }

    /// Send one packet of a conversation, numbered after the last one received.
    pub(crate) async fn send_payload(&mut self, payload: &[u8]) -> Result<()> {
        frame::begin(&mut self.out);
        self.out.extend_from_slice(payload);
        self.sequence = frame::finish(&mut self.out, self.sequence);
        self.transport.write_all(&self.out).await
    }

    pub(crate) async fn next_packet(&mut self) -> Result<Range<usize>> {
        loop {
            if let Some(packet) = self.buffer.next(&mut self.sequence)? {
                return Ok(packet);
            }
            self.fill().await?;
        }
    }

    /// Read once. Storage is taken when there is something to put into it, not while waiting.
    #[inline]
    async fn fill(&mut self) -> Result<()> {
        self.transport.readable().await?;
        let count = self.transport.read(self.buffer.spare()).await?;
        self.buffer.filled(count);
        Ok(())
    }
}

/// Sending and answering.
impl Connection {
    /// Begin a command in the write buffer.
    #[inline]
    fn begin(&mut self, command: u8) -> Result<()> {
        if self.state != State::Idle {
            return Err(Error::Closed);
        }
        frame::begin(&mut self.out);
        self.out.push(command);
        Ok(())
    }

    /// Send the command in the write buffer.
    #[inline]
    async fn send(&mut self) -> Result<()> {
        self.state = State::Busy;
        self.buffer.rest();
        self.transport.begin_command();
        self.sequence = frame::finish(&mut self.out, 0);
        match self.transport.write_now(&self.out) {
            Ok(count) if count == self.out.len() => Ok(()),
            started => self.send_rest(started).await,
        }
    }

    /// Send what did not go at once.
    #[cold]
    async fn send_rest(&mut self, started: Result<usize>) -> Result<()> {
        let result = match started {
            Ok(count) => self.transport.write_all(&self.out[count..]).await,
            Err(error) => Err(error),
        };
        match result {
            Err(error) if error.is_hang_up() => Err(self.last_words().await.unwrap_or(error)),
            result => result,
        }
    }

    /// What a server that no longer listens said before it hung up.
    #[cold]
    async fn last_words(&mut self) -> Option<Error> {
        self.sequence = 0;
        let packet = self.next_packet().await.ok()?;
        let packet = self.buffer.payload(packet);
        let said = (packet.first() == Some(&ERR)).then(|| parse_error(packet).ok())?;
        said.map(Error::ClosedBy)
    }

    async fn send_query(&mut self, sql: &[u8]) -> Result<()> {
        self.begin(COM_QUERY)?;
        self.out.extend_from_slice(sql);
        self.send().await
    }

    async fn send_template(&mut self, template: &Template, params: &[Value<'_>]) -> Result<()> {
        self.begin(COM_QUERY)?;
        template.render(params, self.backslash_escapes, &mut self.out)?;
        self.send().await
    }

    #[inline]
    async fn send_execute(&mut self, statement: &Statement, params: &[Value<'_>]) -> Result<()> {
        if self.state != State::Idle {
            return Err(Error::Closed);
        }
        frame::begin(&mut self.out);
        let bound = self
            .statements
            .get_mut(statement.slot as usize)
            .and_then(Option::as_mut);
        let bound = bound
            .filter(|bound| bound.id() == statement.id)
            .ok_or_else(not_prepared)?;
        bound.put_execute(&mut self.out, params)?;
        self.send().await
    }

    fn bound(&self, statement: &Statement) -> Result<&BoundStatement> {
        let bound = self
            .statements
            .get(statement.slot as usize)
            .and_then(Option::as_ref);
        bound
            .filter(|bound| bound.id() == statement.id)
            .ok_or_else(not_prepared)
    }

    fn executed(&mut self, statement: &Statement, result: Result<Outcome>) -> Result<Outcome> {
        if result.is_err()
            && let Some(Some(bound)) = self.statements.get_mut(statement.slot as usize)
        {
            bound.forget_types();
        }
        result
    }

    /// The connection is ready for the next command.
    fn finish<T>(&mut self, result: Result<T>) -> Result<T> {
        self.state = State::Idle;
        result
    }

    /// Read an answer to its end. Everything that one read brought is handled before the next.
    async fn answer<S: Sink>(
        &mut self,
        sink: &mut S,
        mut chunks: Option<Chunks<'_>>,
    ) -> Result<Outcome> {
        let mut response = Response::new(self.deprecate_eof, S::WANTS_ROWS);
        let mut failed = None;
        loop {
            while let Some(packet) = self.buffer.next(&mut self.sequence)? {
                let packet = self.buffer.payload(packet);
                match response.step(packet, &mut self.columns) {
                    Ok(Step::Row) if S::WANTS_ROWS && failed.is_none() => {
                        failed = sink.row(packet, &self.columns, &mut self.spans).err();
                    }
                    Ok(Step::More | Step::Row) => {}
                    Ok(Step::Done) => {
                        let outcome = response.outcome();
                        self.backslash_escapes = outcome.status & STATUS_NO_BACKSLASH_ESCAPES == 0;
                        return self.finish(failed.map_or(Ok(outcome), Err));
                    }
                    Ok(Step::LocalInfile) => {
                        let refused = self.send_local(chunks.take()).await?;
                        failed = failed.or(refused);
                    }
                    Err(error @ Error::Server(_)) => {
                        return self.finish(Err(failed.unwrap_or(error)));
                    }
                    Err(error) => return Err(error),
                }
            }
            self.fill().await?;
        }
    }

    /// Send the data of LOAD DATA LOCAL, or nothing when nobody offered any.
    async fn send_local(&mut self, chunks: Option<Chunks<'_>>) -> Result<Option<Error>> {
        let Some(next_chunk) = chunks else {
            self.send_payload(&[]).await?;
            let reason =
                "the server asked for a local file in answer to a statement that offered none";
            return Ok(Some(Error::Unsupported(reason.into())));
        };
        let mut chunk = Vec::new();
        while next_chunk(&mut chunk) {
            // An empty packet would end the data.
            if !chunk.is_empty() {
                self.send_payload(&chunk).await?;
                chunk.clear();
            }
        }
        self.send_payload(&[]).await?;
        Ok(None)
    }

    /// The numbers in the answer to a preparation: id, columns, parameters.
    fn parse_prepared(&self, packet: Range<usize>) -> Result<(u32, u16, u16)> {
        let packet = self.buffer.payload(packet);
        let mut cursor = Cursor::new(packet);
        match cursor.u8("the answer to a preparation")? {
            OK => {
                let id = cursor.u32("the id of a statement")?;
                let columns = cursor.u16("the number of columns of a statement")?;
                Ok((
                    id,
                    columns,
                    cursor.u16("the number of parameters of a statement")?,
                ))
            }
            ERR => Err(Error::Server(parse_error(packet)?)),
            _ => Err(unexpected(packet, "the answer to a preparation")),
        }
    }

    async fn skip_definitions(&mut self, count: u16) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let end = u32::from(!self.deprecate_eof);
        for _ in 0..u32::from(count) + end {
            self.next_packet().await?;
        }
        Ok(())
    }
}

#[cold]
fn not_prepared() -> Error {
    Error::Usage("the statement was not prepared on this connection, or was closed".into())
}
