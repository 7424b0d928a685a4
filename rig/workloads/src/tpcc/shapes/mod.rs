//! The SQL in which the transactions are done. What is asked, and the data that results, are the same in every shape.

mod catalog;
mod statements;
mod step;

use self::catalog::{Catalog, Definition, PLAIN};
use self::statements::Steps;
use self::step::Statement;
use super::inputs::Request;
use dyno_drive::{Client, Error};

pub use self::catalog::SCHEMA_CHECK;

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One statement a step.
    Statements,
}

impl Shape {
    /// The shape that an option names.
    pub fn named(_: Option<&str>) -> Self {
        Self::Statements
    }

    /// Its statements, in the order of the record's statement types; [`SCHEMA_CHECK`] comes after them.
    pub fn list(self) -> &'static [Definition] {
        match self {
            Self::Statements => Statement::LIST,
        }
    }

    /// How many statements a session prepares.
    pub fn prepared(self) -> usize {
        self.list().len() + 1 - PLAIN
    }
}

/// The statements of one session.
#[derive(Debug)]
pub enum Script {
    Statements(Steps),
}

impl Script {
    /// Prepares the statements of a shape.
    pub async fn open(shape: Shape, client: &mut Client) -> Result<Self, Error> {
        Ok(match shape {
            Shape::Statements => Self::Statements(Steps::open(client).await?),
        })
    }

    /// Does what is asked.
    pub async fn run(&mut self, client: &mut Client, request: &Request<'_>) -> Result<(), Error> {
        match self {
            Self::Statements(steps) => steps.run(client, request).await,
        }
    }
}
