//! The mix engine: any of the OLTP workloads, as the driver runs it.

use super::mix::{Group, Mix};
use super::sequence::{Inputs, NewIds, Sequence, Step};
use super::settings::Schema;
use super::statement::{Expected, Statement};
use crate::options::{OptionError, Options};
use crate::random::Random;
use dyno_drive::{
    Client, Error, Outcome, Prepared, Rng, StatementClass, StatementType, Value, Workload,
};
use dyno_record::WorkloadSpec;

impl Random for Rng {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        Self::next_u64(self)
    }
}

/// Rows of each table that are looked for before a trial.
const ROWS_CHECKED: u64 = 50;

/// One of the OLTP workloads with its options.
#[derive(Debug)]
pub struct Oltp {
    mix: &'static Mix,
    options: Options,
    schema: Schema,
    sequence: Sequence,
    statements: Vec<Statement>,
    plan: Vec<Planned>,
}

/// A step, with what does not change from transaction to transaction looked up.
#[derive(Clone, Copy, Debug)]
struct Planned {
    step: Step,
    /// index of its statement type
    kind: usize,
    /// index of its prepared statement for the first table; those for the others follow
    first_prepared: usize,
    expected: Expected,
}

/// One session's statements and inputs.
#[derive(Debug)]
pub struct Session {
    prepared: Vec<Prepared>,
    inputs: Inputs,
    list: Vec<Value<'static>>,
}

impl Oltp {
    /// The workload that `spec` names, with its options checked and its defaults filled in.
    pub fn new(spec: &WorkloadSpec) -> Result<Self, OptionError> {
        let mix =
            Mix::named(&spec.name).ok_or_else(|| OptionError::unknown_workload(&spec.name))?;
        let options = Options::resolve(mix.name, &mix.options(), &spec.options)?;
        let sequence = Sequence::new(mix, &options)?;
        let schema = Schema::from(&options);
        let statements = sequence.statements();
        let plan = plan(&sequence, &statements, &schema);
        Ok(Self {
            mix,
            options,
            schema,
            sequence,
            statements,
            plan,
        })
    }

    /// The definition behind the name.
    #[must_use]
    pub const fn mix(&self) -> &'static Mix {
        self.mix
    }

    /// Every option with its value.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// What the tables look like.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many tables a statement is prepared for.
    fn tables_of(&self, statement: Statement) -> u64 {
        tables_of(statement, &self.schema)
    }

    /// Fails when rows are missing that the workload will look for: statements that find nothing are fast, and prove
    /// nothing. Looks for some rows evenly spread over each table. A workload that looks for none is not checked.
    async fn check_tables(&self, client: &mut Client) -> Result<(), Error> {
        let Schema {
            tables, table_size, ..
        } = self.schema;
        if self
            .mix
            .groups
            .iter()
            .all(|(group, _)| matches!(group, Group::Deletes | Group::Inserts))
        {
            return Ok(());
        }
        let looked_for = table_size.min(ROWS_CHECKED);
        let spread =
            |i: u64| (u128::from(i) * u128::from(table_size) / u128::from(looked_for)).to_string();
        let ids = (1..=looked_for).map(spread).collect::<Vec<_>>().join(",");
        let kind = self.statements.len();
        for table in 1..=tables {
            let sql = format!("SELECT id FROM sbtest{table} WHERE id IN ({ids})");
            let found = client.simple(kind, &sql).await?.rows;
            if found < looked_for {
                let message = format!(
                    "sbtest{table} has {found} of {looked_for} rows that were looked for among ids 1 to {table_size}\n\
                     hint: prepare the tables anew, with the options of this trial"
                );
                return Err(Error::workload(message).in_statement(kind));
            }
        }
        Ok(())
    }

    async fn run(&self, session: &mut Session, client: &mut Client) -> Result<(), Error> {
        for planned in &self.plan {
            self.sequence
                .draw(planned.step, &mut client.rng, &mut session.inputs);
            let outcome = self.execute(planned, session, client).await?;
            if !planned.expected.holds(outcome.rows, outcome.affected_rows) {
                return Err(unexpected(planned, &outcome, &session.inputs));
            }
        }
        Ok(())
    }

    #[inline]
    async fn execute(
        &self,
        planned: &Planned,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<Outcome, Error> {
        let Session {
            prepared,
            inputs,
            list,
        } = session;
        let statement = planned.step.statement;
        match statement {
            Statement::Begin => return client.simple(planned.kind, "BEGIN").await,
            Statement::Commit => return client.simple(planned.kind, "COMMIT").await,
            _ => {}
        }
        let prepared = &prepared[planned.first_prepared + inputs.table];
        let id = Value::Int(inputs.id);
        match statement {
            Statement::Begin
            | Statement::Commit
            | Statement::PointSelect
            | Statement::IndexUpdate
            | Statement::Delete => client.execute(prepared, &[id]).await,
            Statement::SimpleRange
            | Statement::SumRange
            | Statement::OrderRange
            | Statement::DistinctRange => {
                let end = Value::Int(self.sequence.range_end(inputs.id));
                client.execute(prepared, &[id, end]).await
            }
            Statement::NonIndexUpdate => {
                client
                    .execute(prepared, &[Value::Bytes(&inputs.row.c), id])
                    .await
            }
            Statement::Insert => {
                let row = &inputs.row;
                let k = Value::Int(row.k.cast_signed());
                client
                    .execute(
                        prepared,
                        &[id, k, Value::Bytes(&row.c), Value::Bytes(&row.pad)],
                    )
                    .await
            }
            Statement::RandomPoints | Statement::RandomRanges => {
                list.clear();
                list.extend(
                    inputs
                        .numbers
                        .iter()
                        .map(|number| Value::Int(number.cast_signed())),
                );
                client.execute(prepared, list).await
            }
        }
    }
}

impl Workload for Oltp {
    type Session = Session;

    fn transaction_types(&self) -> Vec<String> {
        vec![self.mix.name.to_owned()]
    }

    /// The statements of the mix, then `table_check`, which the first session issues before it begins.
    fn statement_types(&self) -> Vec<StatementType> {
        let of_mix = self
            .statements
            .iter()
            .map(|statement| (statement.name(), class(*statement)));
        of_mix
            .chain([("table_check", StatementClass::Select)])
            .map(|(name, class)| StatementType {
                name: name.to_owned(),
                class,
            })
            .collect()
    }

    fn statements_per_session(&self) -> usize {
        let of_tables = self.statements.iter().filter(|s| s.has_table());
        let count: u64 = of_tables.map(|statement| self.tables_of(*statement)).sum();
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        sessions: usize,
    ) -> Result<Session, Error> {
        if session_index == 0 {
            self.check_tables(client).await?;
        }
        let mut prepared = Vec::new();
        for (kind, statement) in self
            .statements
            .iter()
            .enumerate()
            .filter(|(_, statement)| statement.has_table())
        {
            for table in 1..=self.tables_of(*statement) {
                prepared.push(
                    client
                        .prepare(kind, &statement.sql(table, self.sequence.shape()))
                        .await?,
                );
            }
        }
        let inputs = self
            .sequence
            .inputs(NewIds::new(session_index as u64, sessions as u64));
        let list = Vec::with_capacity(inputs.numbers.capacity());
        Ok(Session {
            prepared,
            inputs,
            list,
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let new_ids = session.inputs.new_ids;
        let result = self.run(session, client).await;
        if result.as_ref().is_err_and(|error| !error.is_lost()) {
            // a repeated transaction inserts the ids that it was rolled back with; whether one that lost its connection
            // was committed nobody knows
            session.inputs.new_ids = new_ids;
        }
        result.map(|()| 0)
    }
}

fn plan(sequence: &Sequence, statements: &[Statement], schema: &Schema) -> Vec<Planned> {
    let planned = |&step: &Step| {
        let kind = statements
            .iter()
            .position(|statement| *statement == step.statement)
            .unwrap_or(0);
        let before = statements[..kind]
            .iter()
            .map(|statement| tables_of(*statement, schema))
            .sum::<u64>();
        // without a primary key nothing keeps ids unique, and every bound on a count rests on that
        let expected = if schema.secondary {
            Expected::Anything
        } else {
            step.statement.expected(sequence.shape())
        };
        Planned {
            step,
            kind,
            first_prepared: usize::try_from(before).unwrap_or(usize::MAX),
            expected,
        }
    };
    sequence.steps().iter().map(planned).collect()
}

const fn tables_of(statement: Statement, schema: &Schema) -> u64 {
    match statement {
        Statement::Begin | Statement::Commit => 0,
        Statement::RandomPoints | Statement::RandomRanges => 1,
        _ => schema.tables,
    }
}

const fn class(statement: Statement) -> StatementClass {
    match statement {
        Statement::Begin => StatementClass::Begin,
        Statement::Commit => StatementClass::Commit,
        Statement::IndexUpdate | Statement::NonIndexUpdate => StatementClass::Update,
        Statement::Delete => StatementClass::Delete,
        Statement::Insert => StatementClass::Insert,
        Statement::PointSelect
        | Statement::SimpleRange
        | Statement::SumRange
        | Statement::OrderRange
        | Statement::DistinctRange
        | Statement::RandomPoints
        | Statement::RandomRanges => StatementClass::Select,
    }
}

#[cold]
fn unexpected(planned: &Planned, outcome: &Outcome, inputs: &Inputs) -> Error {
    let message = format!(
        "{} on sbtest{} (id {}) gave {} rows and changed {}; it must give {}\n\
         hint: were the tables built by prepare, and is nobody else writing to them?",
        planned.step.statement.name(),
        inputs.table + 1,
        inputs.id,
        outcome.rows,
        outcome.affected_rows,
        planned.expected
    );
    Error::workload(message).in_statement(planned.kind)
}
