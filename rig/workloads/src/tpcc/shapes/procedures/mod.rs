//! The shape `procedures`: one CALL a transaction, its result set back. The procedures begin and end their transactions
//! themselves; an error that they meet comes back as it is, and the driver rolls back.

pub mod routine;

use self::routine::{ROUTINES, Routine};
use super::catalog::{self, BEGIN, COMMIT, Catalog, Definition, ROLLBACK, Statements};
use crate::tpcc::counters;
use crate::tpcc::draw::last_name;
use crate::tpcc::inputs::{
    Customer, Delivery, NewOrder, OrderStatus, Payment, Request, StockLevel,
};
use crate::tpcc::schema::DISTRICTS;
use dyno_drive::{Client, Error, StatementClass, Value};
use std::collections::BTreeMap;

/// One kind of statement. Its number is that of the record's statement type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Call {
    NewOrder = catalog::PLAIN,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
    /// Asked once, by the first session.
    Listing,
    /// Sent once, by the first session, when procedures are missing.
    Make,
}

const LIST: [Definition; 10] = [
    BEGIN,
    COMMIT,
    ROLLBACK,
    (
        "call_new_order",
        StatementClass::Call,
        "CALL tpcc_new_order(?, ?, ?, ?, ?, ?)",
    ),
    (
        "call_payment",
        StatementClass::Call,
        "CALL tpcc_payment(?, ?, ?, ?, ?, ?, ?)",
    ),
    (
        "call_order_status",
        StatementClass::Call,
        "CALL tpcc_order_status(?, ?, ?, ?)",
    ),
    (
        "call_delivery",
        StatementClass::Call,
        "CALL tpcc_delivery(?, ?)",
    ),
    (
        "call_stock_level",
        StatementClass::Call,
        "CALL tpcc_stock_level(?, ?, ?)",
    ),
    ("procedures_check", StatementClass::Select, ""),
    ("procedures_make", StatementClass::Other, ""),
];

impl Catalog for Call {
    const LIST: &'static [Definition] = &LIST;

    fn index(self) -> usize {
        self as usize
    }
}

/// Makes the procedures that the database of a session does not have in this version.
pub async fn ensure(client: &mut Client) -> Result<(), Error> {
    let sql = routine::listing("DATABASE()");
    let asked = client.prepare(Call::Listing as usize, &sql).await?;
    let mut found = BTreeMap::new();
    let list = client.execute_rows(&asked, &[], |row| {
        let text = |column| {
            let bytes = row.get_bytes(column)?.unwrap_or_default();
            Ok::<_, dyno_wire::Error>(String::from_utf8_lossy(bytes).into_owned())
        };
        found.insert(text(0)?, text(1)?);
        Ok(())
    });
    list.await?;
    for routine in &ROUTINES {
        if found.get(routine.name) != Some(&routine.version()) {
            make(client, routine).await?;
        }
    }
    Ok(())
}

async fn make(client: &mut Client, routine: &Routine) -> Result<(), Error> {
    for sql in routine.make("") {
        client.simple(Call::Make as usize, &sql).await.map_err(|error| match error.code() {
            Some(code) => Error::workload(format!(
                "procedure {} is missing or of another version, and cannot be made: error {code}, {error}\n\
                 hint: run prepare with shape = procedures as a user who may, or GRANT CREATE ROUTINE, ALTER ROUTINE, \
                 EXECUTE on the database",
                routine.name
            ))
            .in_statement(Call::Make as usize),
            None => error,
        })?;
    }
    Ok(())
}

/// A session's calls, and scratch space that its transactions share.
#[derive(Debug)]
pub struct Calls {
    prepared: Statements<Call>,
    name: Vec<u8>,
    lines: Vec<u8>,
}

impl Calls {
    /// Prepares the calls, and has room for what they are given.
    pub async fn open(client: &mut Client) -> Result<Self, Error> {
        Ok(Self {
            prepared: Statements::prepare(client).await?,
            name: Vec::with_capacity(64),
            lines: Vec::with_capacity(255),
        })
    }

    /// Does what is asked.
    pub async fn run(&mut self, client: &mut Client, request: &Request<'_>) -> Result<(), Error> {
        match request {
            Request::NewOrder(order) => self.new_order(client, order).await,
            Request::Payment(payment) => self.payment(client, payment).await,
            Request::OrderStatus(status) => self.order_status(client, status).await,
            Request::Delivery(delivery) => self.delivery(client, delivery).await,
            Request::StockLevel(level) => self.stock_level(client, level).await,
        }
    }

    async fn new_order(&mut self, client: &mut Client, order: &NewOrder) -> Result<(), Error> {
        write_lines(order, &mut self.lines);
        let count = order.lines.len() as u64;
        let [w, d, c, count, local] = [
            order.warehouse,
            order.district,
            order.customer,
            count,
            order.all_local.into(),
        ]
        .map(Value::UInt);
        let values = [w, d, c, count, local, Value::Bytes(&self.lines)];
        let mut number = 0;
        let read = self
            .prepared
            .read_one(client, Call::NewOrder, &values, |row| {
                number = row.get_i64(0)?.unwrap_or(0);
                Ok(())
            });
        read.await?;
        if order.is_rolled_back() {
            client.count(counters::ROLLED_BACK, 1);
        } else if number == 0 {
            return Err(catalog::unexpected(
                Call::NewOrder,
                &values,
                "did not find its rows",
            ));
        } else {
            client.writes(&[order.warehouse, order.district, number.cast_unsigned()]);
        }
        Ok(())
    }

    async fn payment(&mut self, client: &mut Client, drawn: &Payment) -> Result<(), Error> {
        let c = Value::UInt(customer(drawn.customer, &mut self.name));
        let [w, d, cw, cd, amount] = [
            drawn.warehouse,
            drawn.district,
            drawn.customer_warehouse,
            drawn.customer_district,
            drawn.amount,
        ]
        .map(Value::UInt);
        let values = [w, d, cw, cd, c, Value::Bytes(&self.name), amount];
        let mut found = 0;
        let read = self
            .prepared
            .read_one(client, Call::Payment, &values, |row| {
                found = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                Ok(())
            });
        read.await?;
        client.writes(&drawn.key(found));
        Ok(())
    }

    async fn order_status(
        &mut self,
        client: &mut Client,
        drawn: &OrderStatus,
    ) -> Result<(), Error> {
        let c = Value::UInt(customer(drawn.customer, &mut self.name));
        let [w, d] = [drawn.warehouse, drawn.district].map(Value::UInt);
        let values = [w, d, c, Value::Bytes(&self.name)];
        match self
            .prepared
            .read(client, Call::OrderStatus, &values, |_| Ok(()))
            .await?
        {
            0 => Err(catalog::unexpected(
                Call::OrderStatus,
                &values,
                "did not find its rows",
            )),
            _ => Ok(()),
        }
    }

    async fn delivery(&mut self, client: &mut Client, drawn: &Delivery) -> Result<(), Error> {
        let values = [drawn.warehouse, drawn.carrier].map(Value::UInt);
        let mut delivered = 0;
        let read = self
            .prepared
            .read_one(client, Call::Delivery, &values, |row| {
                delivered = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                Ok(())
            });
        read.await?;
        client.count(counters::DELIVERED, delivered);
        client.count(counters::SKIPPED, DISTRICTS - delivered.min(DISTRICTS));
        Ok(())
    }

    async fn stock_level(&mut self, client: &mut Client, drawn: &StockLevel) -> Result<(), Error> {
        let values = [drawn.warehouse, drawn.district, drawn.threshold].map(Value::UInt);
        self.prepared
            .read_one(client, Call::StockLevel, &values, |_| Ok(()))
            .await
    }
}

/// The id of a customer, or 0 and the name to look for.
fn customer(customer: Customer, name: &mut Vec<u8>) -> u64 {
    name.clear();
    match customer {
        Customer::Id(id) => id,
        Customer::Name(number) => {
            last_name(number, name);
            0
        }
    }
}

/// The lines of an order as the procedure takes them. `text` is emptied first.
fn write_lines(order: &NewOrder, text: &mut Vec<u8>) {
    text.clear();
    for line in &order.lines {
        digits(line.item, 6, text);
        digits(line.supply, 6, text);
        digits(line.quantity, 2, text);
    }
}

/// Appends the last `count` digits of a number.
fn digits(number: u64, count: u32, text: &mut Vec<u8>) {
    for place in (0..count).rev() {
        let digit = number / 10_u64.pow(place) % 10;
        text.push(b'0' + digit.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::inputs::Line;

    #[test]
    fn numbers_and_names_are_in_step() {
        assert_eq!(LIST[Call::NewOrder as usize].0, "call_new_order");
        assert_eq!(LIST[Call::StockLevel as usize].0, "call_stock_level");
        assert_eq!(LIST[Call::Make as usize].0, "procedures_make");
    }

    #[test]
    fn lines_have_fourteen_digits_each() {
        let line = |item, supply, quantity| Line {
            item,
            supply,
            quantity,
        };
        let order = NewOrder {
            lines: vec![line(7, 12, 3), line(100_001, 100_000, 10)],
            ..NewOrder::default()
        };
        let mut text = b"old".to_vec();
        write_lines(&order, &mut text);
        assert_eq!(text, b"0000070000120310000110000010");
    }
}
