//! The sessions: virtual users that keep a warehouse, or draw from their share of all of them.

use super::procedures;
use crate::options::OptionError;
use crate::tpcc::counters::{BY_NAME, LINES, REMOTE, ROLLED_BACK, STATUS_BY_NAME};
use crate::tpcc::draw::{between, last_name, nurand};
use crate::tpcc::mix::Type;
use crate::tpcc::profiles::laws::HAMMERDB_LAST;
use crate::tpcc::schema::{CUSTOMERS, DISTRICTS};
use crate::tpcc::settings::{self, Schema};
use dyno_drive::{Client, Error, Prepared, StatementClass, StatementType, Value, Workload};
use dyno_record::Spec;

/// TPROC-C with its options.
#[derive(Debug)]
pub struct HammerDb {
    /// How many servers the sessions are dealt over.
    servers: usize,
    databases: Vec<String>,
    warehouses: u64,
    all_warehouses: bool,
}

/// A virtual user.
#[derive(Debug)]
pub struct Session {
    calls: Vec<Prepared>,
    warehouses: Share,
    district: u64,
    name: Vec<u8>,
}

/// The warehouses of a session: `first`, and every `step`-th after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    first: u64,
    step: u64,
    count: u64,
}

impl Share {
    /// Of session `index` when all warehouses are dealt over `sessions` in turn; more sessions begin again.
    const fn dealt(index: u64, sessions: u64, warehouses: u64) -> Self {
        let first = index % warehouses + 1;
        Self {
            first,
            step: sessions,
            count: (warehouses - first) / sessions + 1,
        }
    }
}

/// Name in records, class and SQL; the calls come first, in the order of [`Type`].
const STATEMENTS: [(&str, StatementClass, &str); 6] = [
    (
        "new_order_call",
        StatementClass::Call,
        "CALL NEWORD(?, ?, ?, ?, ?, NOW())",
    ),
    (
        "payment_call",
        StatementClass::Call,
        "CALL PAYMENT(?, ?, ?, ?, ?, ?, ?, ?, NOW())",
    ),
    (
        "order_status_call",
        StatementClass::Call,
        "CALL OSTAT(?, ?, ?, ?, ?)",
    ),
    (
        "delivery_call",
        StatementClass::Call,
        "CALL DELIVERY(?, ?, NOW())",
    ),
    (
        "stock_level_call",
        StatementClass::Call,
        "CALL SLEV(?, ?, ?)",
    ),
    (
        "schema_check",
        StatementClass::Select,
        "SELECT COUNT(*), (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() \
         AND ROUTINE_NAME IN ('NEWORD', 'PAYMENT', 'DELIVERY', 'SLEV', 'OSTAT')) \
         FROM warehouse JOIN district ON d_w_id = w_id AND d_id = 10 \
         JOIN customer ON c_w_id = w_id AND c_d_id = 10 AND c_id = 3000 \
         JOIN stock ON s_w_id = w_id AND s_i_id = 100000 JOIN item ON i_id = 100000 WHERE w_id <= ?",
    ),
];
const SCHEMA_CHECK: usize = 5;

impl HammerDb {
    /// The workload of a spec, its options checked.
    pub fn new(spec: &Spec) -> Result<Self, OptionError> {
        let options = settings::resolve(&spec.workload)?;
        let schema = Schema::from(&options);
        Ok(Self {
            servers: spec.connection.targets.len().max(1),
            databases: schema.databases(&spec.target.database),
            warehouses: schema.warehouses,
            all_warehouses: options.is_on("all_warehouses"),
        })
    }

    /// Fails unless every warehouse is there and whole, and every procedure.
    async fn check_tables(&self, client: &mut Client) -> Result<(), Error> {
        let (name, _, sql) = STATEMENTS[SCHEMA_CHECK];
        let check = client.prepare(SCHEMA_CHECK, sql).await?;
        let (mut found, mut routines) = (0, 0);
        let limit = [Value::UInt(self.warehouses)];
        client
            .execute_rows(&check, &limit, |row| {
                found = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                routines = row.get_i64(1)?.unwrap_or(0).cast_unsigned();
                Ok(())
            })
            .await?;
        let wanted = (self.warehouses, procedures::ALL.len() as u64);
        if (found, routines) == wanted {
            return Ok(());
        }
        let message = format!(
            "{name}: {found} of {} warehouses are there and whole, and {routines} of {} procedures\n\
             hint: prepare the tables anew, with profile = hammerdb and the options of this trial",
            wanted.0, wanted.1
        );
        Err(Error::workload(message).in_statement(SCHEMA_CHECK))
    }
}

impl Session {
    async fn new_order(&self, client: &mut Client, w: u64, warehouses: u64) -> Result<(), Error> {
        let rng = &mut client.rng;
        let values = [
            w,
            warehouses,
            between(rng, 1, DISTRICTS),
            between(rng, 1, CUSTOMERS),
            between(rng, 5, 15),
        ];
        client.count(LINES, values[4]);
        let rows = self
            .call(client, Type::NewOrder, &values.map(Value::UInt))
            .await?;
        // the procedure returns its row when it has committed
        client.count(ROLLED_BACK, (rows == 0).into());
        Ok(())
    }

    async fn payment(&mut self, client: &mut Client, w: u64, warehouses: u64) -> Result<(), Error> {
        let rng = &mut client.rng;
        let district = between(rng, 1, DISTRICTS);
        let remote = between(rng, 1, 100) > 85;
        let (cw, cd) = if remote {
            (another(rng, w, warehouses), between(rng, 1, DISTRICTS))
        } else {
            (w, district)
        };
        let (by_name, c) = self.draw_customer(rng);
        let amount = between(rng, 1, 5000);
        client.count(REMOTE, (cw != w).into());
        client.count(BY_NAME, by_name);
        let [w, district, cw, cd, c, by_name, amount] =
            [w, district, cw, cd, c, by_name, amount].map(Value::UInt);
        let name = Value::Bytes(&self.name);
        let values = [w, district, cw, cd, c, by_name, amount, name];
        self.call(client, Type::Payment, &values).await.map(drop)
    }

    async fn order_status(&mut self, client: &mut Client, w: u64) -> Result<(), Error> {
        let district = between(&mut client.rng, 1, DISTRICTS);
        let (by_name, c) = self.draw_customer(&mut client.rng);
        client.count(STATUS_BY_NAME, by_name);
        let [w, district, c, by_name] = [w, district, c, by_name].map(Value::UInt);
        let values = [w, district, c, by_name, Value::Bytes(&self.name)];
        self.call(client, Type::OrderStatus, &values)
            .await
            .map(drop)
    }

    /// Whether by name, which is in 60 of 100, and the id. Both are drawn; the name is left empty when it is not used.
    fn draw_customer(&mut self, rng: &mut dyno_drive::Rng) -> (u64, u64) {
        let by_name = between(rng, 1, 100) <= 60;
        last_name(nurand(rng, 255, HAMMERDB_LAST, 0, 999), &mut self.name);
        if !by_name {
            self.name.clear();
        }
        (by_name.into(), between(rng, 1, CUSTOMERS))
    }

    /// Calls a procedure and returns how many rows came back.
    async fn call(
        &self,
        client: &mut Client,
        kind: Type,
        values: &[Value<'_>],
    ) -> Result<u64, Error> {
        let outcome = client.execute(&self.calls[kind as usize], values).await?;
        Ok(outcome.rows)
    }
}

/// Any other warehouse; the same when there is no other.
fn another(rng: &mut dyno_drive::Rng, home: u64, warehouses: u64) -> u64 {
    if warehouses == 1 {
        return home;
    }
    let other = between(rng, 1, warehouses - 1);
    other + u64::from(other >= home)
}

/// 10 of 23 each New-Order and Payment, one each of the others, every one drawn on its own.
fn draw_type(rng: &mut dyno_drive::Rng) -> Type {
    match between(rng, 1, 23) {
        1..=10 => Type::NewOrder,
        11..=20 => Type::Payment,
        21 => Type::Delivery,
        22 => Type::StockLevel,
        _ => Type::OrderStatus,
    }
}

impl Workload for HammerDb {
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

    /// Which lines are remote and what is delivered, only the server knows.
    fn counters(&self, transaction_type: usize) -> Vec<String> {
        let names: &[&str] = match Type::ALL[transaction_type] {
            Type::NewOrder => &["rolled_back", "lines"],
            Type::Payment => &["remote", "by_name"],
            Type::OrderStatus => &["by_name"],
            Type::Delivery | Type::StockLevel => &[],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn statements_per_session(&self) -> usize {
        STATEMENTS.len()
    }

    fn databases(&self) -> Vec<String> {
        self.databases.clone()
    }

    /// HammerDB's connections are without autocommit.
    fn session_init(&self) -> Vec<String> {
        vec!["SET autocommit = 0".to_owned()]
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        sessions: usize,
    ) -> Result<Session, Error> {
        // the first session of each database of each server
        let databases = self.databases.len();
        if session_index < self.servers * databases {
            self.check_tables(client).await?;
        }
        let mut calls = Vec::with_capacity(SCHEMA_CHECK);
        for (kind, (_, _, sql)) in STATEMENTS.iter().enumerate().take(SCHEMA_CHECK) {
            calls.push(client.prepare(kind, sql).await?);
        }
        let warehouses = if self.all_warehouses {
            let (index, sessions) = (session_index / databases, sessions.div_ceil(databases));
            Share::dealt(index as u64, sessions as u64, self.warehouses)
        } else {
            Share {
                first: between(&mut client.rng, 1, self.warehouses),
                step: 1,
                count: 1,
            }
        };
        Ok(Session {
            calls,
            warehouses,
            district: between(&mut client.rng, 1, DISTRICTS),
            name: Vec::with_capacity(64),
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let kind = draw_type(&mut client.rng);
        let Share { first, step, count } = session.warehouses;
        let w = first + step * (between(&mut client.rng, 1, count) - 1);
        match kind {
            Type::NewOrder => session.new_order(client, w, self.warehouses).await,
            Type::Payment => session.payment(client, w, self.warehouses).await,
            Type::OrderStatus => session.order_status(client, w).await,
            Type::Delivery => {
                let carrier = between(&mut client.rng, 1, 10);
                let values = [w, carrier].map(Value::UInt);
                session.call(client, kind, &values).await.map(drop)
            }
            Type::StockLevel => {
                let threshold = between(&mut client.rng, 10, 20);
                let values = [w, session.district, threshold].map(Value::UInt);
                session.call(client, kind, &values).await.map(drop)
            }
        }?;
        Ok(kind as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_warehouses_are_dealt_over_the_sessions() {
        let of = |share: Share| -> Vec<u64> {
            (0..share.count)
                .map(|i| share.first + share.step * i)
                .collect()
        };
        let mut dealt: Vec<u64> = (0..4).flat_map(|s| of(Share::dealt(s, 4, 10))).collect();
        assert_eq!(of(Share::dealt(1, 4, 10)), [2, 6, 10]);
        dealt.sort_unstable();
        assert_eq!(dealt, (1..=10).collect::<Vec<_>>());
        assert_eq!(of(Share::dealt(6, 8, 4)), [3]);
    }

    #[test]
    fn statements_and_types_are_in_step() {
        for kind in Type::ALL {
            assert_eq!(STATEMENTS[kind as usize].0, format!("{}_call", kind.name()));
        }
    }
}
