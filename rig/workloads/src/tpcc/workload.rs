//! The TPC-C-derived workload, as the driver runs it.

use super::draw::Constants;
use super::inputs::{Mix, Type};
use super::schema::DISTRICTS;
use super::settings;
use super::statement::{STATEMENTS, Statement, Statements};
use super::transactions::Desk;
use crate::options::{OptionError, Options};
use crate::random::RowRandom;
use dyno_drive::{Client, Error, StatementType, Value, Workload};
use dyno_record::Spec;

/// The workload with its options.
#[derive(Debug)]
pub struct Tpcc {
    options: Options,
    warehouses: u64,
    constants: Constants,
}

/// One session: a terminal that belongs to a warehouse, and for Stock-Level to a district of it.
#[derive(Debug)]
pub struct Session {
    desk: Desk,
    mix: Mix,
    home: Option<u64>,
    district: u64,
}

impl Tpcc {
    /// The workload of a spec, its options checked; the constants of its draws come from the seed.
    pub fn new(spec: &Spec) -> Result<Self, OptionError> {
        let options = settings::resolve(&spec.workload)?;
        let mut random = RowRandom::new(RowRandom::table_key(spec.seed, u64::MAX), 0);
        Ok(Self {
            warehouses: options.integer("warehouses").unwrap_or(1),
            constants: Constants::of_run(&mut random),
            options,
        })
    }

    /// Fails unless every warehouse is there, with the last row of each of its tables that no trial takes away.
    async fn check_tables(
        &self,
        client: &mut Client,
        statements: &Statements,
    ) -> Result<(), Error> {
        let mut found = 0;
        let values = [Value::UInt(self.warehouses)];
        statements
            .read_one(client, Statement::SchemaCheck, &values, |row| {
                found = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                Ok(())
            })
            .await?;
        if found == self.warehouses {
            return Ok(());
        }
        let message = format!(
            "{found} of {} warehouses are there and whole\n\
             hint: prepare the tables anew, with the options of this trial",
            self.warehouses
        );
        Err(Error::workload(message).in_statement(Statement::SchemaCheck as usize))
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
        let named = STATEMENTS.iter().map(|&(name, class, _)| StatementType {
            name: name.to_owned(),
            class,
        });
        named.collect()
    }

    fn statements_per_session(&self) -> usize {
        Statements::COUNT
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        _: usize,
    ) -> Result<Session, Error> {
        let statements = Statements::prepare(client).await?;
        if session_index == 0 {
            self.check_tables(client, &statements).await?;
        }
        let index = session_index as u64;
        let bound = self.options.word("home") != Some("random");
        Ok(Session {
            desk: Desk::new(statements, self.constants, self.warehouses),
            mix: match self.options.word("mix") {
                Some("weighted") => Mix::Weighted,
                _ => Mix::deck(),
            },
            home: bound.then_some(index % self.warehouses + 1),
            district: index / self.warehouses % DISTRICTS + 1,
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let mix = session.mix;
        let kind = session.mix.next(&mut client.rng);
        let home = session
            .home
            .unwrap_or_else(|| client.rng.between(1, self.warehouses));
        let desk = &mut session.desk;
        let result = match kind {
            Type::NewOrder => desk.new_order(client, home).await,
            Type::Payment => desk.payment(client, home).await,
            Type::OrderStatus => desk.order_status(client, home).await,
            Type::Delivery => desk.delivery(client, home).await,
            Type::StockLevel => desk.stock_level(client, home, session.district).await,
        };
        if result.as_ref().is_err_and(|error| !error.is_lost()) {
            // it will be repeated with the same random numbers: the same card must come
            session.mix = mix;
        }
        result.map(|()| kind as usize)
    }
}
