//! The TPC-C-derived workload, as the driver runs it.

use super::draw::{Constants, between};
use super::inputs::{NewOrder, Terminal};
use super::mix::{Mix, Type};
use super::pacing::Pacing;
use super::schema::DISTRICTS;
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
        let warehouses = options.integer("warehouses").unwrap_or(1);
        let pacing = Pacing::from(&options);
        check_load(&spec.load, &options, pacing, warehouses)?;
        let mut random = RowRandom::new(RowRandom::table_key(spec.seed, u64::MAX), 0);
        Ok(Self {
            shape: Shape::named(options.word("shape")),
            pacing,
            seed: spec.seed,
            servers: spec.connection.targets.len().max(1),
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
        let index = session_index as u64;
        let home = match self.options.word("home") {
            Some("random") => None,
            Some("uniform") => {
                let key = RowRandom::table_key(self.seed, u64::MAX - 1);
                Some(between(&mut RowRandom::new(key, index), 1, self.warehouses))
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

/// Fails when the load does not go with the options.
fn check_load(
    load: &Load,
    options: &Options,
    pacing: Pacing,
    warehouses: u64,
) -> Result<(), OptionError> {
    let sessions = load.sessions();
    if options.word("home") == Some("exclusive") && sessions as u64 > warehouses {
        return Err(OptionError::Conflict {
            workload: settings::NAME.to_owned(),
            what: format!("home = exclusive with {sessions} sessions on {warehouses} warehouses"),
            hint: "each session needs a warehouse of its own: build more, or take home = bound"
                .to_owned(),
        });
    }
    if pacing.is_on() && matches!(load, Load::Open(_)) {
        return Err(OptionError::Conflict {
            workload: settings::NAME.to_owned(),
            what:
                "keying and think times in an open loop, whose arrivals are a schedule of their own"
                    .to_owned(),
            hint: "take a closed loop, or leave keying and think off".to_owned(),
        });
    }
    Ok(())
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

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        _: usize,
    ) -> Result<Session, Error> {
        if session_index < self.servers {
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
