//! What a server allows, against what a trial will ask of it: better one clear error before the load than a refusal
//! in the middle of it.

use dyno_record::{Isolation, Spec, StatementMode};

use crate::{Client, Error};

const QUESTION: &str = "SHOW SESSION VARIABLES WHERE Variable_name IN \
    ('max_connections', 'max_user_connections', 'max_prepared_stmt_count', 'transaction_isolation', 'tx_isolation')";

/// What a trial asks of one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    pub sessions: u64,
    /// Connections besides the sessions'.
    pub others: u64,
    pub statements_per_session: u64,
    pub isolation: Option<Isolation>,
}

impl Demand {
    pub fn new(spec: &Spec, sessions: usize, statements_per_session: usize) -> Self {
        let prepares = spec.statement_mode == StatementMode::Prepared;
        Self {
            sessions: sessions as u64,
            others: u64::from(spec.probe.status),
            statements_per_session: if prepares {
                statements_per_session as u64
            } else {
                0
            },
            isolation: spec.connection.isolation,
        }
    }
}

/// What the server said; what it did not say is not checked.
#[derive(Debug, Default)]
struct Limits {
    connections: Option<u64>,
    user_connections: Option<u64>,
    prepared_statements: Option<u64>,
    isolation: Option<String>,
}

/// Asks the server behind a client for its limits and compares. Returns its isolation level when it tells.
pub(crate) async fn check(client: &mut Client, demand: Demand) -> Result<Option<String>, Error> {
    let mut limits = Limits::default();
    let asked = client
        .ask(QUESTION, |name, value| limits.take(name, value))
        .await;
    match asked {
        Ok(()) => limits.check(demand)?,
        // a server or proxy that refuses the question may still take the load
        Err(error) if error.code().is_some() && !error.is_lost() => {}
        Err(error) => return Err(error),
    }
    Ok(limits.isolation)
}

impl Limits {
    fn take(&mut self, name: &str, value: &str) {
        let number = value.parse().ok();
        match name {
            "max_connections" => self.connections = number,
            // 0 is no limit
            "max_user_connections" => self.user_connections = number.filter(|&n| n > 0),
            "max_prepared_stmt_count" => self.prepared_statements = number,
            "transaction_isolation" | "tx_isolation" => self.isolation = Some(value.to_owned()),
            _ => {}
        }
    }

    fn check(&self, demand: Demand) -> Result<(), Error> {
        let connections = demand.sessions + demand.others;
        for (name, limit) in [
            ("max_connections", self.connections),
            ("max_user_connections", self.user_connections),
        ] {
            if let Some(limit) = limit.filter(|&limit| connections > limit) {
                return Err(Error::workload(format!(
                    "{} need {connections} connections, the server allows {name} = {limit}\n\
                     hint: raise {name} to at least {connections} on the server, or use at most {} sessions",
                    sessions_text(demand),
                    limit.saturating_sub(demand.others)
                )));
            }
        }
        let statements = demand.sessions * demand.statements_per_session;
        if let Some(limit) = self.prepared_statements.filter(|&limit| statements > limit) {
            return Err(Error::workload(format!(
                "{} sessions × {} statements, each for its tables, are {statements} prepared statements, \
                 the server allows max_prepared_stmt_count = {limit}\n\
                 hint: raise max_prepared_stmt_count to at least {statements} on the server, use fewer tables or at most \
                 {} sessions, or statement mode text",
                demand.sessions,
                demand.statements_per_session,
                limit / demand.statements_per_session
            )));
        }
        self.check_isolation(demand.isolation)
    }

    fn check_isolation(&self, asked: Option<Isolation>) -> Result<(), Error> {
        let asked = asked.map(Isolation::variable);
        match (asked, &self.isolation) {
            (Some(asked), Some(told)) if asked != *told => Err(Error::workload(format!(
                "the session's isolation level is {told}, {asked} was asked for\n\
                 hint: does a statement of connection.init set another one?"
            ))),
            _ => Ok(()),
        }
    }
}

fn sessions_text(demand: Demand) -> String {
    match demand.others {
        0 => format!("{} sessions", demand.sessions),
        _ => format!("{} sessions and the probe", demand.sessions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand = Demand {
        sessions: 512,
        others: 1,
        statements_per_session: 40,
        isolation: Some(Isolation::ReadCommitted),
    };

    fn check(variables: &[(&str, &str)], demand: Demand) -> Result<(), String> {
        let mut limits = Limits::default();
        for (name, value) in variables {
            limits.take(name, value);
        }
        limits.check(demand).map_err(|error| error.to_string())
    }

    #[test]
    fn what_just_fits_is_allowed() {
        let fits = [
            ("max_connections", "513"),
            ("max_user_connections", "0"),
            ("max_prepared_stmt_count", "20480"),
            ("transaction_isolation", "READ-COMMITTED"),
        ];
        assert_eq!(check(&fits, DEMAND), Ok(()));
        assert_eq!(check(&[], DEMAND), Ok(()), "what is not known stops nobody");
    }

    #[test]
    fn each_limit_is_an_error_with_its_numbers() {
        for (name, value, parts) in [
            ("max_connections", "512", ["513", "at most 511"]),
            ("max_user_connections", "100", ["513", "at most 99"]),
            ("max_prepared_stmt_count", "16382", ["20480", "at most 409"]),
            (
                "tx_isolation",
                "REPEATABLE-READ",
                ["READ-COMMITTED", "connection.init"],
            ),
        ] {
            let error = check(&[(name, value)], DEMAND).unwrap_err();
            assert!(
                error.contains(value) && error.contains("\nhint: "),
                "{error}"
            );
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn text_prepares_nothing() {
        let text =
            r#"{"target": {"host": "a"}, "workload": {"name": "w"}, "statement_mode": "text"}"#;
        let demand = Demand::new(&Spec::from_json(text).unwrap(), 512, 40);
        assert_eq!((demand.statements_per_session, demand.others), (0, 0));
        assert_eq!(check(&[("max_prepared_stmt_count", "0")], demand), Ok(()));
    }
}
