//! How the sessions of a trial come to their connections: where to, and what is said first.

use dyno_record::{ConnectionSpec, Spec, StatementClass};
use dyno_wire::ConnectOptions;
use std::time::Duration;

use crate::target::address;

/// A session needs no answer of 16 MiB or more; so its longest packet fits one frame, and a server that announces a
/// longer one is refused before any of it is read.
const PACKET_BYTES_MAX: usize = (1 << 24) - 2;

/// A statement that every session runs after its login.
#[derive(Debug)]
pub(crate) struct Init {
    pub sql: String,
    pub class: StatementClass,
}

/// What all sessions of a trial need to connect.
#[derive(Debug)]
pub(crate) struct Dial {
    /// Every database of the first server, then every one of the next.
    targets: Vec<ConnectOptions>,
    /// How many databases each server has.
    databases: usize,
    pub init: Vec<Init>,
    /// Statements are prepared when they are first executed on a connection, not when the session opens.
    pub lazy: bool,
    /// Statement type of the time that connecting takes, when that counts.
    pub connect_kind: Option<usize>,
}

impl Dial {
    /// The connections of a checked spec; `connect` are the options of its target.
    pub fn new(spec: &Spec, connect: &ConnectOptions, connect_kind: Option<usize>) -> Self {
        let connection = &spec.connection;
        let mut options = connect.clone();
        options.io_timeout = connection.io_timeout_s.map(Duration::from_secs_f64);
        options.packet_bytes_max = PACKET_BYTES_MAX;
        let at = |address| ConnectOptions {
            address,
            ..options.clone()
        };
        let mut targets: Vec<_> = connection
            .targets
            .iter()
            .filter_map(address)
            .map(at)
            .collect();
        if targets.is_empty() {
            targets.push(options);
        }
        Self {
            targets,
            databases: 1,
            init: init(connection),
            lazy: connection.per_transaction,
            connect_kind,
        }
    }

    /// The same, with SQL that comes before the spec's own.
    pub fn beginning_with(mut self, sql: Vec<String>) -> Self {
        let first = sql.into_iter().map(|sql| Init {
            class: class(&sql),
            sql,
        });
        self.init.splice(0..0, first);
        self
    }

    /// The same, with sessions dealt over databases on each server; none: over the servers only.
    pub fn dealt_over(mut self, databases: &[String]) -> Self {
        if databases.is_empty() {
            return self;
        }
        let servers = std::mem::take(&mut self.targets);
        let each = servers.iter().flat_map(|server| {
            databases.iter().map(|name| ConnectOptions {
                database: Some(name.clone()),
                ..server.clone()
            })
        });
        self.targets = each.collect();
        self.databases = databases.len();
        self
    }

    /// How a session connects: sessions are dealt over the databases of the first server, then over those of the next.
    pub fn options(&self, session: usize) -> &ConnectOptions {
        &self.targets[session % self.targets.len()]
    }

    /// How many sessions, the first ones, meet their server first and look at its limits before the others connect:
    /// one for each server and database.
    pub fn scouts(&self, sessions: usize) -> usize {
        self.targets.len().min(sessions)
    }

    /// How many sessions come to the server of this session.
    pub fn sessions_at(&self, session: usize, sessions: usize) -> usize {
        let targets = self.targets.len();
        let server = session % targets / self.databases;
        let first = server * self.databases;
        // whole rounds over all databases of all servers, and what the last round has for this server
        let rest = (sessions % targets).saturating_sub(first);
        sessions / targets * self.databases + rest.min(self.databases)
    }
}

fn init(connection: &ConnectionSpec) -> Vec<Init> {
    let isolation = connection
        .isolation
        .map(|level| format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql()));
    isolation
        .into_iter()
        .chain(connection.init.iter().cloned())
        .map(|sql| Init {
            class: class(&sql),
            sql,
        })
        .collect()
}

/// How a server counts a statement, by its first word.
fn class(sql: &str) -> StatementClass {
    let word: String = sql
        .trim_start()
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect();
    match word.to_ascii_uppercase().as_str() {
        "SET" => StatementClass::Set,
        "SELECT" => StatementClass::Select,
        "INSERT" => StatementClass::Insert,
        "UPDATE" => StatementClass::Update,
        "DELETE" => StatementClass::Delete,
        "CALL" => StatementClass::Call,
        "BEGIN" | "START" => StatementClass::Begin,
        "COMMIT" => StatementClass::Commit,
        "ROLLBACK" => StatementClass::Rollback,
        _ => StatementClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_wire::Address;

    fn dial(connection: &str) -> Dial {
        let text = format!(
            r#"{{"target": {{"host": "a"}}, "workload": {{"name": "w"}}, "connection": {connection}}}"#
        );
        let spec = Spec::from_json(&text).unwrap();
        Dial::new(&spec, &crate::connect_options(&spec).unwrap(), None)
    }

    #[test]
    fn sessions_are_dealt_over_the_targets_in_turn() {
        let dial =
            dial(r#"{"targets": [{"host": "b"}, {"socket": "/c"}, {"host": "d", "port": 9}]}"#);
        let host = |session| match &dial.options(session).address {
            Address::Tcp { host, port } => format!("{host}:{port}"),
            Address::Unix(path) => path.display().to_string(),
        };
        assert_eq!(
            [0, 1, 2, 3, 4].map(host),
            ["b:3306", "/c", "d:9", "b:3306", "/c"]
        );
        assert_eq!([0, 1, 2, 3].map(|s| dial.sessions_at(s, 5)), [2, 2, 1, 2]);
        assert_eq!((dial.scouts(2), dial.scouts(100)), (2, 3));
    }

    #[test]
    fn without_targets_all_go_to_the_one() {
        let dial = dial("{}");
        assert_eq!((dial.sessions_at(7, 64), dial.scouts(64)), (64, 1));
        assert_eq!(dial.options(5).io_timeout, Some(Duration::from_secs(60)));
    }

    #[test]
    fn the_isolation_level_is_set_first() {
        let dial = dial(r#"{"isolation": "read-committed", "init": [" set @a = 1", "DO 1"]}"#);
        let said: Vec<_> = dial
            .init
            .iter()
            .map(|i| (i.sql.as_str(), i.class))
            .collect();
        assert_eq!(
            said,
            [
                (
                    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                    StatementClass::Set
                ),
                (" set @a = 1", StatementClass::Set),
                ("DO 1", StatementClass::Other),
            ]
        );
    }

    #[test]
    fn sessions_are_dealt_over_the_databases_of_each_server() {
        let databases = ["x".to_owned(), "y".to_owned()];
        let dial = dial(r#"{"targets": [{"host": "b"}, {"host": "c"}]}"#).dealt_over(&databases);
        let place = |session| {
            let options = dial.options(session);
            let Address::Tcp { host, .. } = &options.address else {
                return String::new();
            };
            format!("{host}.{}", options.database.as_deref().unwrap_or_default())
        };
        assert_eq!(
            [0, 1, 2, 3, 4].map(place),
            ["b.x", "b.y", "c.x", "c.y", "b.x"]
        );
        assert_eq!([0, 1, 2, 3].map(|s| dial.sessions_at(s, 7)), [4, 4, 3, 3]);
        assert_eq!((dial.scouts(3), dial.scouts(100)), (3, 4));
    }

    #[test]
    fn what_the_workload_says_comes_before_what_the_spec_says() {
        let dial = dial(r#"{"init": ["DO 1"]}"#).beginning_with(vec!["SET autocommit = 0".into()]);
        let said: Vec<_> = dial.init.iter().map(|init| init.sql.as_str()).collect();
        assert_eq!(said, ["SET autocommit = 0", "DO 1"]);
    }
}
