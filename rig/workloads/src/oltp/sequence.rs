//! What one transaction does: a flat list of steps, and the inputs that each step draws.
//!
//! Nothing here talks to a server: the same seed gives the same statements with the same inputs, whatever the server
//! answers, and a test can read them.

use super::mix::{Count, Group, Mix};
use super::rows::{self, Row};
use super::settings::{self, Schema};
use super::statement::Statement;
use crate::distribution::Distribution;
use crate::options::{OptionError, Options};
use crate::random::Random;

/// Lengths that the statements' texts and inputs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Ids in a range select.
    pub range_size: u64,
    /// Numbers in an IN list.
    pub random_points: usize,
    /// Terms joined by OR.
    pub ranges: usize,
    /// End less beginning of such a term.
    pub delta: u64,
}

/// One statement of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What runs.
    pub statement: Statement,
    /// Which inputs are drawn for it.
    pub draw: Draw,
    /// Whether the table is drawn anew: at the head of a group.
    pub new_table: bool,
}

/// The inputs that a step draws from the session's generator, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// None: a statement without parameters, or one that goes on with the row of the step before.
    Nothing,
    /// An id.
    Id,
    /// An id, then a text for `c`.
    IdAndText,
    /// `k`, `c` and `pad` for the id of the step before.
    Row,
    /// A new id from the session's own numbers, then `k`, `c` and `pad`.
    NewRow,
    /// Numbers for an IN list.
    Points,
    /// Beginnings and ends for a list of ranges.
    Ranges,
}

/// Where the inputs of one session are drawn to. Reused from statement to statement.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Index of the table; the first is 0.
    pub table: usize,
    /// The id a statement is about.
    pub id: i64,
    /// Content for it; `k` and `pad` of INSERT, `c` of INSERT and of the update without index.
    pub row: Row,
    /// Inputs of the statements with lists, in the order of their parameters.
    pub numbers: Vec<u64>,
    /// Which of the session's new ids is next.
    pub new_ids: NewIds,
}

/// The ids that one session inserts: no other session's, drawn without asking anyone.
#[derive(Clone, Copy, Debug)]
pub struct NewIds {
    next: u64,
    step: u64,
}

impl NewIds {
    /// The ids of session number `session` (the first is 0) of `sessions`.
    #[must_use]
    pub const fn new(session: u64, sessions: u64) -> Self {
        Self {
            next: session,
            step: sessions,
        }
    }

    /// A negative id, far from the last one: new rows fall all over the index, as sysbench's do, and never on the rows
    /// that the build made.
    fn take(&mut self) -> i64 {
        let id = -1 - scatter::<31>(self.next).cast_signed();
        self.next += self.step;
        id
    }
}

/// A fixed permutation of the numbers below 2^BITS; larger ones wrap around.
const fn scatter<const BITS: u32>(number: u64) -> u64 {
    let mask = (1_u64 << BITS) - 1;
    let mut x = number & mask;
    // each step can be undone: an odd factor modulo a power of two, and a shift by more than half
    x = (x * 0x9E37_79B1) & mask;
    x ^= x >> (BITS / 2 + 1);
    x = (x * 0x85EB_CA6B) & mask;
    x ^ (x >> (BITS / 2 + 1))
}

/// A mix with its options applied.
#[derive(Clone, Debug)]
pub struct Sequence {
    steps: Vec<Step>,
    shape: Shape,
    tables: u64,
    ids: Distribution,
    auto_inc: bool,
}

impl Sequence {
    /// The steps of one transaction of `mix` under these options.
    pub fn new(mix: &Mix, options: &Options) -> Result<Self, OptionError> {
        let steps = steps(mix, options);
        if !steps.iter().any(|step| step.statement.has_table()) {
            return Err(OptionError::Empty {
                workload: mix.name.to_owned(),
                hint: "set at least one of its statement counts above 0".to_owned(),
            });
        }
        let schema = Schema::from(options);
        let length =
            |name| usize::try_from(options.integer(name).unwrap_or(0)).unwrap_or(usize::MAX);
        let shape = Shape {
            range_size: options.integer("range_size").unwrap_or(1),
            random_points: length("random_points"),
            ranges: length("number_of_ranges"),
            delta: options.integer("delta").unwrap_or(0),
        };
        let ids = settings::distribution(options);
        Ok(Self {
            steps,
            shape,
            tables: schema.tables,
            ids,
            auto_inc: schema.auto_inc,
        })
    }

    /// The steps, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The lengths that statements depend on.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Each statement once, in the order of the enumeration.
    #[must_use]
    pub fn statements(&self) -> Vec<Statement> {
        let mut statements: Vec<Statement> = self.steps.iter().map(|step| step.statement).collect();
        statements.sort_unstable();
        statements.dedup();
        statements
    }

    /// A place for the inputs of one session.
    #[must_use]
    pub fn inputs(&self, new_ids: NewIds) -> Inputs {
        let numbers = Vec::with_capacity(self.shape.random_points.max(2 * self.shape.ranges));
        Inputs {
            table: 0,
            id: 0,
            row: Row::blank(),
            numbers,
            new_ids,
        }
    }

    /// Draws what `step` needs.
    #[inline]
    pub fn draw(&self, step: Step, random: &mut impl Random, inputs: &mut Inputs) {
        if step.new_table {
            inputs.table = usize::try_from(random.below(self.tables)).unwrap_or(0);
        }
        match step.draw {
            Draw::Nothing => {}
            Draw::Id => inputs.id = self.id(random),
            Draw::IdAndText => {
                inputs.id = self.id(random);
                rows::draw_digit_groups(&mut inputs.row.c, random);
            }
            Draw::Row => inputs.row.draw(&self.ids, random),
            Draw::NewRow => {
                // 0 asks the server for the next number of its own
                inputs.id = if self.auto_inc {
                    0
                } else {
                    inputs.new_ids.take()
                };
                inputs.row.draw(&self.ids, random);
            }
            Draw::Points => self.points(random, &mut inputs.numbers),
            Draw::Ranges => self.ranges(random, &mut inputs.numbers),
        }
    }

    /// The last id of the range that begins at `id`.
    #[must_use]
    pub fn range_end(&self, id: i64) -> i64 {
        id.saturating_add_unsigned(self.shape.range_size - 1)
    }

    fn id(&self, random: &mut impl Random) -> i64 {
        i64::try_from(self.ids.sample(random)).unwrap_or(i64::MAX)
    }

    fn points(&self, random: &mut impl Random, numbers: &mut Vec<u64>) {
        numbers.clear();
        numbers.extend((0..self.shape.random_points).map(|_| self.ids.sample(random)));
    }

    fn ranges(&self, random: &mut impl Random, numbers: &mut Vec<u64>) {
        numbers.clear();
        for _ in 0..self.shape.ranges {
            let begin = self.ids.sample(random);
            numbers.extend([begin, begin.saturating_add(self.shape.delta)]);
        }
    }
}

fn steps(mix: &Mix, options: &Options) -> Vec<Step> {
    let mut steps = Vec::new();
    let bare = |statement| Step {
        statement,
        draw: Draw::Nothing,
        new_table: false,
    };
    let transaction = mix.transaction && !options.is_on("skip_trx");
    if transaction {
        steps.push(bare(Statement::Begin));
    }
    for &(group, count) in mix.groups {
        if group.is_range_select() && !options.is_on("range_selects") {
            continue;
        }
        let times = match count {
            Count::Once => 1,
            Count::By(option, _) => options.integer(option.name).unwrap_or(0),
        };
        let head = steps.len();
        for _ in 0..times {
            for &(statement, draw) in statements_of(group) {
                let new_table = steps.len() == head && !group.is_on_first_table();
                steps.push(Step {
                    statement,
                    draw,
                    new_table,
                });
            }
        }
    }
    if transaction {
        steps.push(bare(Statement::Commit));
    }
    steps
}

const fn statements_of(group: Group) -> &'static [(Statement, Draw)] {
    match group {
        Group::PointSelects => &[(Statement::PointSelect, Draw::Id)],
        Group::SimpleRanges => &[(Statement::SimpleRange, Draw::Id)],
        Group::SumRanges => &[(Statement::SumRange, Draw::Id)],
        Group::OrderRanges => &[(Statement::OrderRange, Draw::Id)],
        Group::DistinctRanges => &[(Statement::DistinctRange, Draw::Id)],
        Group::IndexUpdates => &[(Statement::IndexUpdate, Draw::Id)],
        Group::NonIndexUpdates => &[(Statement::NonIndexUpdate, Draw::IdAndText)],
        Group::DeleteInserts => &[
            (Statement::Delete, Draw::Id),
            (Statement::Insert, Draw::Row),
        ],
        Group::Deletes => &[(Statement::Delete, Draw::Id)],
        Group::Inserts => &[(Statement::Insert, Draw::NewRow)],
        Group::RandomPoints => &[(Statement::RandomPoints, Draw::Points)],
        Group::RandomRanges => &[(Statement::RandomRanges, Draw::Ranges)],
    }
}

#[cfg(test)]
#[path = "sequence_tests.rs"]
mod tests;
