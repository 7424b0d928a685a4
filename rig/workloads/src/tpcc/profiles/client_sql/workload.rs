//! The sessions, as the driver runs them.

use super::Tool;
use super::inputs::Place;
use super::statements::{STATEMENTS, Statement, Statements};
use super::transactions::Desk;
use crate::options::OptionError;
use crate::random::{Random, RowRandom};
use crate::tpcc::counters;
use crate::tpcc::draw::Constants;
use crate::tpcc::mix::{Mix, Type};
use crate::tpcc::profiles::Profile;
use crate::tpcc::schema::TableSet;
use crate::tpcc::settings::{self, Schema};
use dyno_drive::{Client, Error, StatementType, Value, Workload};
use dyno_record::Spec;

/// The workload of one of the tools with its options.
#[derive(Debug)]
pub struct ClientSql {
    tool: Tool,
    /// How many servers the sessions are dealt over.
    servers: usize,
    databases: Vec<String>,
    sets: Vec<TableSet>,
    warehouses: u64,
    constants: Constants,
}

/// One session.
#[derive(Debug)]
pub struct Session {
    desk: Desk,
    mix: Mix,
}

impl ClientSql {
    /// The workload of a spec, its options checked; the constants of its draws come from the seed, at no distance from the
    /// population's.
    pub fn new(spec: &Spec) -> Result<Self, OptionError> {
        let schema = Schema::from(&settings::resolve(&spec.workload)?);
        let mut random = RowRandom::new(RowRandom::table_key(spec.seed, u64::MAX), 1);
        Ok(Self {
            tool: match schema.profile {
                Profile::SysbenchTpcc => Tool::SysbenchTpcc,
                _ => Tool::TpccMysql,
            },
            servers: spec.connection.targets.len().max(1),
            databases: schema.databases(&spec.target.database),
            sets: schema.table_sets().collect(),
            warehouses: schema.warehouses,
            constants: Constants {
                last: random.below(256),
                customer: random.below(1024),
                item: random.below(8192),
            },
        })
    }

    /// Fails unless every warehouse of every set is there and whole.
    async fn check_tables(&self, client: &mut Client, sets: &[Statements]) -> Result<(), Error> {
        for (set, sql) in self.sets.iter().zip(sets) {
            let mut found = 0;
            let limit = [Value::UInt(self.warehouses)];
            sql.read_some(client, Statement::SchemaCheck, &limit, |row| {
                found = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                Ok(())
            })
            .await?;
            if found != self.warehouses {
                let message = format!(
                    "{found} of {} warehouses are there and whole in {}\n\
                     hint: prepare the tables anew, with the profile and the options of this trial",
                    self.warehouses,
                    set.name("warehouse")
                );
                return Err(Error::workload(message).in_statement(Statement::SchemaCheck as usize));
            }
        }
        Ok(())
    }
}

impl Workload for ClientSql {
    type Session = Session;

    fn transaction_types(&self) -> Vec<String> {
        let names = Type::ALL.iter().map(|kind| kind.name().to_owned());
        names.collect()
    }

    fn statement_types(&self) -> Vec<StatementType> {
        let named = STATEMENTS.iter().map(|&(name, class, _)| StatementType {
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
        Statements::count(self.tool) * self.sets.len()
    }

    fn databases(&self) -> Vec<String> {
        self.databases.clone()
    }

    /// Both tools' connections are without autocommit.
    fn session_init(&self) -> Vec<String> {
        vec!["SET autocommit = 0".to_owned()]
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        _: usize,
    ) -> Result<Session, Error> {
        let mut sets = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            sets.push(Statements::prepare(client, self.tool, *set).await?);
        }
        // the first session of each database of each server
        if session_index < self.servers * self.databases.len() {
            self.check_tables(client, &sets).await?;
        }
        Ok(Session {
            mix: match self.tool {
                Tool::SysbenchTpcc => Mix::Weighted,
                Tool::TpccMysql => Mix::deck(),
            },
            desk: Desk {
                tool: self.tool,
                sets,
                constants: self.constants,
                warehouses: self.warehouses,
                lines: Vec::with_capacity(16),
                // items of twenty orders of at most 15 lines
                ids: Vec::with_capacity(320),
                name: Vec::with_capacity(64),
                text: Vec::with_capacity(64),
                data: Vec::with_capacity(1024),
            },
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let mix = session.mix;
        let kind = session.mix.next(&mut client.rng);
        let place = Place::draw(&mut client.rng, self.sets.len() as u64, self.warehouses);
        let desk = &mut session.desk;
        let result = match kind {
            Type::NewOrder => desk.new_order(client, place).await,
            Type::Payment => desk.payment(client, place).await,
            Type::OrderStatus => desk.order_status(client, place).await,
            Type::Delivery => desk.delivery(client, place).await,
            Type::StockLevel => desk.stock_level(client, place).await,
        };
        if result.as_ref().is_err_and(|error| !error.is_lost()) {
            // it will be repeated with the same random numbers: the same card must come
            session.mix = mix;
        }
        result.map(|()| kind as usize)
    }
}
