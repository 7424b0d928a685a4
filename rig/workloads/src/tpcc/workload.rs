//! The TPC-C-derived workload, as the driver runs it.

use super::draw::{Constants, between};
use super::inputs::{NewOrder, Terminal};
use super::mix::{Mix, Type};
use super::pacing::Pacing;
use super::schema::DISTRICTS;
use super::settings::Schema;
use super::shapes::{SCHEMA_CHECK, Script, Shape};
use super::{counters, settings};
use crate::options::{OptionError, Options};
use crate::random::RowRandom;
use dyno_drive::{Client, Error, StatementType, Value, Workload};
use dyno_record::{Load, Spec};
use std::time::Duration;

/// The workload with its options.
#[derive(Debug)]
pub struct Tpcc {
    options: Options,
    databases: Vec<String>,
    shape: Shape,
    pacing: Pacing,
    seed: u64,
    /// The first sessions come to one server each, and look whether it is ready.
    servers: usize,
    warehouses: u64,
    constants: Constants,
}

/// One session: a terminal, its deck, and the statements in which it speaks.
#[derive(Debug)]
pub struct Session {
    terminal: Terminal,
    mix: Mix,
    script: Script,
    /// The type of the last transaction, and in a paced trial of the next one.
    last: Option<Type>,
    next: Option<Type>,
}

impl Tpcc {
    /// The workload of a spec, its options checked; the constants of its draws come from the seed.
    pub fn new(spec: &Spec) -> Result<Self, OptionError> {
        let options = settings::resolve(&spec.workload)?;
        let schema = Schema::from(&options);
        let warehouses = schema.warehouses;
        let pacing = Pacing::from(&options);
        check_load(&spec.load, &options, pacing, warehouses * schema.schemas)?;
        let mut random = RowRandom::new(RowRandom::table_key(spec.seed, u64::MAX), 0);
        Ok(Self {
            shape: Shape::named(options.word("shape")),
            pacing,
            seed: spec.seed,
            servers: spec.connection.targets.len().max(1),
            databases: schema.databases(&spec.target.database),
            warehouses,
            constants: Constants::of_run(&mut random),
            options,
        })
    }

    /// Fails unless every warehouse is there and whole.
    async fn check_tables(&self, client: &mut Client) -> Result<(), Error> {
        let mut found = 0;
        let kind = self.shape.list().len();
        let check = client.prepare(kind, SCHEMA_CHECK.2).await?;
        let values = [Value::UInt(self.warehouses)];
        let count = client.execute_rows(&check, &values, |row| {
            found = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        });
        count.await?;
        if found == self.warehouses {
            return Ok(());
        }
        let message = format!(
            "{found} of {} warehouses are there and whole\n\
             hint: prepare the tables anew, with the options of this trial",
            self.warehouses
        );
        Err(Error::workload(message).in_statement(kind))
    }

    fn terminal(&self, session_index: usize) -> Terminal {
        // among the sessions of its database
        let index = (session_index / self.databases.len()) as u64;
        let home = match self.options.word("home") {
            Some("random") => None,
            Some("uniform") => {
                let key = RowRandom::table_key(self.seed, u64::MAX - 1);
                Some(between(
                    &mut RowRandom::new(key, session_index as u64),
                    1,
                    self.warehouses,
                ))
            }
            _ => Some(index % self.warehouses + 1),
        };
        Terminal {
            constants: self.constants,
            warehouses: self.warehouses,
            home,
            district: index / self.warehouses % DISTRICTS + 1,
            order: NewOrder::with_room(),
        }
    }
}

/// Fails when the load does not go with the options, or they with each other.
fn check_load(
    load: &Load,
    options: &Options,
    pacing: Pacing,
    warehouses: u64,
) -> Result<(), OptionError> {
    let sessions = load.sessions();
    let (what, hint) = if options.word("home") == Some("exclusive") && sessions as u64 > warehouses
    {
        (
            format!("home = exclusive with {sessions} sessions on {warehouses} warehouses"),
            "each session needs a warehouse of its own: build more, or take home = bound",
        )
    } else if pacing.is_on() && matches!(load, Load::Open(_)) {
        (
            "keying and think times in an open loop, which has a schedule of its own".to_owned(),
            "take a closed loop, or leave keying and think off",
        )
    } else if !pacing.is_on() && pacing.is_scaled() {
        (
            "pace without keying and think times, on which it is a factor".to_owned(),
            "set keying, think or both to on, or leave pace away",
        )
    } else {
        return Ok(());
    };
    Err(OptionError::Conflict {
        workload: settings::NAME.to_owned(),
        what,
        hint: hint.to_owned(),
    })
}

impl Workload for Tpcc {
    type Session = Session;

    fn transaction_types(&self) -> Vec<String> {
        Type::ALL
            .iter()
            .map(|kind| kind.name().to_owned())
            .collect()
    }

    fn statement_types(&self) -> Vec<StatementType> {
        let all = self.shape.list().iter().chain([&SCHEMA_CHECK]);
        let named = all.map(|&(name, class, _)| StatementType {
            name: name.to_owned(),
            class,
        });
        named.collect()
    }

    fn counters(&self, transaction_type: usize) -> Vec<String> {
        let names = counters::names(Type::ALL[transaction_type]);
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn statements_per_session(&self) -> usize {
        self.shape.prepared()
    }

    fn databases(&self) -> Vec<String> {
        self.databases.clone()
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        _: usize,
    ) -> Result<Session, Error> {
        // the first session of each database of each server
        if session_index < self.servers * self.databases.len() {
            self.check_tables(client).await?;
            self.shape.begin(client).await?;
        }
        Ok(Session {
            terminal: self.terminal(session_index),
            mix: match self.options.word("mix") {
                Some("weighted") => Mix::Weighted,
                _ => Mix::deck(),
            },
            script: Script::open(self.shape, client).await?,
            last: None,
            next: None,
        })
    }

    fn pause(&self, session: &mut Session, client: &mut Client) -> Option<Duration> {
        if !self.pacing.is_on() {
            return None;
        }
        let next = session.mix.next(&mut client.rng);
        session.next = Some(next);
        Some(self.pacing.pause(session.last, next, &mut client.rng))
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let mix = session.mix;
        let kind = match session.next {
            Some(kind) => kind,
            None => session.mix.next(&mut client.rng),
        };
        let request = session.terminal.request(kind, &mut client.rng);
        counters::count(client, &request);
        let result = session.script.run(client, &request).await;
        if result.as_ref().is_err_and(|error| !error.is_lost()) {
            // it will be repeated with the same random numbers: the same card must come
            session.mix = mix;
        }
        result?;
        session.last = Some(kind);
        Ok(kind as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn tpcc(options: &str, load: &str) -> Result<Tpcc, OptionError> {
        let text = format!(
            r#"{{"target": {{"socket": "/s"}}, "load": {load},
                "workload": {{"name": "tpcc", "options": {{"warehouses": 40 {options}}}}}}}"#
        );
        Tpcc::new(&Spec::from_json(&text).unwrap())
    }

    fn homes(options: &str, sessions: usize) -> Vec<Option<u64>> {
        let load = format!(r#"{{"closed": {{"sessions": {sessions}}}}}"#);
        let made = tpcc(options, &load).unwrap();
        (0..sessions)
            .map(|index| made.terminal(index).home)
            .collect()
    }

    #[test]
    fn homes_are_dealt_kept_apart_drawn_or_none() {
        let distinct =
            |homes: &[Option<u64>]| homes.iter().flatten().collect::<BTreeSet<_>>().len();
        let exclusive = homes(r#", "home": "exclusive""#, 40);
        assert_eq!(distinct(&exclusive), 40);
        let bound = homes("", 80);
        assert_eq!(bound[..40], exclusive);
        assert_eq!(bound[40..], exclusive);
        let uniform = homes(r#", "home": "uniform""#, 400);
        assert!(uniform.iter().flatten().all(|home| (1..=40).contains(home)));
        assert!(distinct(&uniform) > 37);
        assert_ne!(uniform[..40], exclusive);
        assert_eq!(homes(r#", "home": "random""#, 3), [None; 3]);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let told = |options, load| tpcc(options, load).unwrap_err().to_string();
        let crowd = told(
            r#", "home": "exclusive""#,
            r#"{"closed": {"sessions": 41}}"#,
        );
        assert!(crowd.contains("41 sessions on 40 warehouses"), "{crowd}");
        let open = told(
            r#", "think": "on""#,
            r#"{"open": {"rate_per_s": 5, "sessions": 1}}"#,
        );
        assert!(open.contains("in an open loop"), "{open}");
        let unused = told(r#", "pace": 2"#, r#"{"closed": {"sessions": 1}}"#);
        assert!(unused.contains("pace without keying"), "{unused}");
    }
}
