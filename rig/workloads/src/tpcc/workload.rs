//! The TPC-C-derived workload, as the driver runs it.

use super::draw::Constants;
use super::inputs::{NewOrder, Terminal};
use super::mix::{Mix, Type};
use super::schema::DISTRICTS;
use super::shapes::{SCHEMA_CHECK, Script, Shape};
use super::{counters, settings};
use crate::options::{OptionError, Options};
use crate::random::RowRandom;
use dyno_drive::{Client, Error, StatementType, Value, Workload};
use dyno_record::Spec;

/// The workload with its options.
#[derive(Debug)]
pub struct Tpcc {
    options: Options,
    shape: Shape,
    warehouses: u64,
    constants: Constants,
}

/// One session: a terminal, its deck, and the statements in which it speaks.
#[derive(Debug)]
pub struct Session {
    terminal: Terminal,
    mix: Mix,
    script: Script,
}

impl Tpcc {
    /// The workload of a spec, its options checked; the constants of its draws come from the seed.
    pub fn new(spec: &Spec) -> Result<Self, OptionError> {
        let options = settings::resolve(&spec.workload)?;
        let mut random = RowRandom::new(RowRandom::table_key(spec.seed, u64::MAX), 0);
        Ok(Self {
            shape: Shape::named(options.word("shape")),
            warehouses: options.integer("warehouses").unwrap_or(1),
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
        let bound = self.options.word("home") != Some("random");
        Terminal {
            constants: self.constants,
            warehouses: self.warehouses,
            home: bound.then_some(index % self.warehouses + 1),
            district: index / self.warehouses % DISTRICTS + 1,
            order: NewOrder::default(),
        }
    }
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
        if session_index == 0 {
            self.check_tables(client).await?;
        }
        Ok(Session {
            terminal: self.terminal(session_index),
            mix: match self.options.word("mix") {
                Some("weighted") => Mix::Weighted,
                _ => Mix::deck(),
            },
            script: Script::open(self.shape, client).await?,
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let mix = session.mix;
        let kind = session.mix.next(&mut client.rng);
        let request = session.terminal.request(kind, &mut client.rng);
        counters::count(client, &request);
        let result = session.script.run(client, &request).await;
        if result.as_ref().is_err_and(|error| !error.is_lost()) {
            // it will be repeated with the same random numbers: the same card must come
            session.mix = mix;
        }
        result.map(|()| kind as usize)
    }
}
