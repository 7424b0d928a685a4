//! The SQL in which the transactions are done. What is asked, and the data that results, are the same in every shape.

mod batched;
mod catalog;
mod procedures;
mod statements;
mod step;

use self::batched::Batches;
use self::catalog::{Catalog, Definition};
use self::procedures::{Call, Calls};
use self::statements::Steps;
use self::step::Statement;
use super::inputs::Request;
use dyno_drive::{Client, Error};

pub use self::catalog::{SCHEMA_CHECK, hundredths};
pub use self::procedures::routine;

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One statement a step.
    Statements,
    /// One statement a step, for as many rows as the step has.
    Batched,
    /// One CALL a transaction.
    Procedures,
}

impl Shape {
    /// Names of all shapes, as an option takes them.
    pub const NAMES: &'static [&'static str] = &["statements", "batched", "procedures"];

    /// The shape that an option names.
    pub fn named(name: Option<&str>) -> Self {
        match name {
            Some("batched") => Self::Batched,
            Some("procedures") => Self::Procedures,
            _ => Self::Statements,
        }
    }

    /// Its statements, in the order of the record's statement types; [`SCHEMA_CHECK`] comes after them.
    pub const fn list(self) -> &'static [Definition] {
        match self {
            Self::Statements => Statement::LIST,
            Self::Batched => batched::List::LIST,
            Self::Procedures => Call::LIST,
        }
    }

    /// How many statements a session prepares.
    pub fn prepared(self) -> usize {
        match self {
            Self::Statements => catalog::prepared::<Statement>(),
            Self::Batched => catalog::prepared::<batched::List>(),
            Self::Procedures => catalog::prepared::<Call>(),
        }
    }

    /// What the first session does so that the others can prepare their statements.
    pub async fn begin(self, client: &mut Client) -> Result<(), Error> {
        match self {
            Self::Procedures => procedures::ensure(client).await,
            Self::Statements | Self::Batched => Ok(()),
        }
    }
}

/// The statements of one session.
#[derive(Debug)]
pub enum Script {
    Statements(Steps),
    Batched(Box<Batches>),
    Procedures(Calls),
}

impl Script {
    /// Prepares the statements of a shape.
    pub async fn open(shape: Shape, client: &mut Client) -> Result<Self, Error> {
        Ok(match shape {
            Shape::Statements => Self::Statements(Steps::open(client).await?),
            Shape::Batched => Self::Batched(Box::new(Batches::open(client).await?)),
            Shape::Procedures => Self::Procedures(Calls::open(client).await?),
        })
    }

    /// Does what is asked.
    pub async fn run(&mut self, client: &mut Client, request: &Request<'_>) -> Result<(), Error> {
        match self {
            Self::Statements(steps) => steps.run(client, request).await,
            Self::Batched(batches) => batches.run(client, request).await,
            Self::Procedures(calls) => calls.run(client, request).await,
        }
    }
}
