//! The five transactions, one statement a step.
//!
//! What is read and then written is locked when it is read, and sums are added to by the server, so that no update is
//! lost at any isolation level. Rows are locked in one order everywhere: warehouse, district, stock by its key, customer.

use super::draw::{Constants, between, last_name};
use super::inputs::{Customer, NewOrder, Payment};
use super::schema::{DISTRICTS, ITEMS};
use super::statement::{Statement, Statements};
use dyno_drive::{Client, Error, Value};

/// What a session needs to run transactions, and scratch space that they share.
#[derive(Debug)]
pub struct Desk {
    pub statements: Statements,
    pub constants: Constants,
    pub warehouses: u64,
    pub order: NewOrder,
    pub ids: Vec<u64>,
    pub name: Vec<u8>,
    pub text: Vec<u8>,
    pub data: Vec<u8>,
}

impl Desk {
    /// A desk with room for every result.
    pub fn new(statements: Statements, constants: Constants, warehouses: u64) -> Self {
        Self {
            statements,
            constants,
            warehouses,
            order: NewOrder::default(),
            ids: Vec::with_capacity(64),
            name: Vec::with_capacity(64),
            text: Vec::with_capacity(512),
            data: Vec::with_capacity(1024),
        }
    }

    /// New-Order at warehouse `home`. One that names an item which does not exist is rolled back, and has done its work.
    pub async fn new_order(&mut self, client: &mut Client, home: u64) -> Result<(), Error> {
        self.order
            .draw(&mut client.rng, &self.constants, home, self.warehouses);
        let (w, d, c) = (
            Value::UInt(home),
            Value::UInt(self.order.district),
            Value::UInt(self.order.customer),
        );
        let sql = &self.statements;
        Statements::simple(client, Statement::Begin).await?;
        let mut order_id = 0;
        sql.read_one(client, Statement::OrderDistrict, &[w, d], |row| {
            order_id = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let o = Value::UInt(order_id);
        sql.change(client, Statement::OrderDistrictNext, &[w, d], 1)
            .await?;
        sql.read_one(client, Statement::OrderWarehouse, &[w], |_| Ok(()))
            .await?;
        sql.read_one(client, Statement::OrderCustomer, &[w, d, c], |_| Ok(()))
            .await?;
        let count = Value::UInt(self.order.lines.len() as u64);
        let local = Value::UInt(self.order.all_local.into());
        sql.change(
            client,
            Statement::OrderInsert,
            &[w, d, o, c, count, local],
            1,
        )
        .await?;
        sql.change(client, Statement::OrderNew, &[w, d, o], 1)
            .await?;
        for index in 0..self.order.lines.len() {
            if !self.order_line(client, home, order_id, index).await? {
                return Statements::simple(client, Statement::Rollback).await;
            }
        }
        Statements::simple(client, Statement::Commit).await
    }

    /// One line of an order; false when there is no such item.
    async fn order_line(
        &mut self,
        client: &mut Client,
        home: u64,
        order_id: u64,
        index: usize,
    ) -> Result<bool, Error> {
        let line = self.order.lines[index];
        let (sql, text) = (&self.statements, &mut self.text);
        let (d, item, supply) = (
            Value::UInt(self.order.district),
            Value::UInt(line.item),
            Value::UInt(line.supply),
        );
        let mut price = 0;
        let key = [item];
        let found = sql.read(client, Statement::OrderItem, &key, |row| {
            price = hundredths(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        });
        if found.await? == 0 && line.item > ITEMS {
            return Ok(false);
        }
        let mut stock = 0;
        sql.read_one(client, Statement::OrderStock, &[d, supply, item], |row| {
            stock = row.get_i64(0)?.unwrap_or(0);
            text.clear();
            text.extend_from_slice(row.get_bytes(2)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let ordered = line.quantity.cast_signed();
        let left = if stock - ordered >= 10 {
            stock - ordered
        } else {
            stock - ordered + 91
        };
        let quantity = Value::UInt(line.quantity);
        let remote = Value::UInt((line.supply != home).into());
        let values = [Value::Int(left), quantity, remote, supply, item];
        sql.change(client, Statement::OrderStockUpdate, &values, 1)
            .await?;
        let values = [
            Value::UInt(home),
            d,
            Value::UInt(order_id),
            Value::UInt(index as u64 + 1),
            item,
            supply,
            quantity,
            Value::Int(price * ordered),
            Value::Bytes(text),
        ];
        sql.change(client, Statement::OrderLine, &values, 1).await?;
        Ok(true)
    }

    /// Payment at warehouse `home`.
    pub async fn payment(&mut self, client: &mut Client, home: u64) -> Result<(), Error> {
        let drawn = Payment::draw(&mut client.rng, &self.constants, home, self.warehouses);
        let (w, d, amount) = (
            Value::UInt(home),
            Value::UInt(drawn.district),
            Value::UInt(drawn.amount),
        );
        let place = [drawn.customer_warehouse, drawn.customer_district];
        Statements::simple(client, Statement::Begin).await?;
        let (sql, text) = (&self.statements, &mut self.text);
        sql.change(client, Statement::PaymentWarehouseUpdate, &[amount, w], 1)
            .await?;
        sql.change(client, Statement::PaymentDistrictUpdate, &[amount, w, d], 1)
            .await?;
        text.clear();
        sql.read_one(client, Statement::PaymentWarehouse, &[w], |row| {
            text.extend_from_slice(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        text.extend_from_slice(b"    ");
        sql.read_one(client, Statement::PaymentDistrict, &[w, d], |row| {
            text.extend_from_slice(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let customer = self
            .customer(client, Statement::PaymentByName, drawn.customer, place)
            .await?;
        self.pay(client, &drawn, home, customer).await?;
        let sql = &self.statements;
        let [cw, cd] = place.map(Value::UInt);
        let c = Value::UInt(customer);
        let values = [c, cd, cw, d, w, amount, Value::Bytes(&self.text)];
        sql.change(client, Statement::PaymentHistory, &values, 1)
            .await?;
        Statements::simple(client, Statement::Commit).await
    }

    /// The customer's part of a payment.
    async fn pay(
        &mut self,
        client: &mut Client,
        drawn: &Payment,
        home: u64,
        customer: u64,
    ) -> Result<(), Error> {
        let (sql, data) = (&self.statements, &mut self.data);
        let (cw, cd, c) = (
            Value::UInt(drawn.customer_warehouse),
            Value::UInt(drawn.customer_district),
            Value::UInt(customer),
        );
        let amount = Value::UInt(drawn.amount);
        let mut bad = false;
        data.clear();
        for number in [
            customer,
            drawn.customer_district,
            drawn.customer_warehouse,
            drawn.district,
            home,
        ] {
            data.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            data.push(b' ');
        }
        super::draw::hundredths(drawn.amount, data);
        data.push(b'|');
        sql.read_one(client, Statement::PaymentCustomer, &[cw, cd, c], |row| {
            bad = row.get_bytes(0)? == Some(b"BC");
            data.extend_from_slice(row.get_bytes(1)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        if !bad {
            let values = [amount, amount, cw, cd, c];
            return sql
                .change(client, Statement::PaymentCustomerUpdate, &values, 1)
                .await;
        }
        data.truncate(500);
        let values = [amount, amount, Value::Bytes(data), cw, cd, c];
        sql.change(client, Statement::PaymentBadCredit, &values, 1)
            .await
    }

    /// The id of a customer; of several with one name, the one in the middle, rounded up, by first name.
    async fn customer(
        &mut self,
        client: &mut Client,
        by_name: Statement,
        customer: Customer,
        place: [u64; 2],
    ) -> Result<u64, Error> {
        let number = match customer {
            Customer::Id(id) => return Ok(id),
            Customer::Name(number) => number,
        };
        last_name(number, &mut self.name);
        let (sql, ids) = (&self.statements, &mut self.ids);
        ids.clear();
        let [w, d] = place.map(Value::UInt);
        let values = [w, d, Value::Bytes(&self.name)];
        sql.read(client, by_name, &values, |row| {
            ids.push(row.get_i64(0)?.unwrap_or(0).cast_unsigned());
            Ok(())
        })
        .await?;
        let middle = ids.len().div_ceil(2).checked_sub(1);
        middle.map(|index| ids[index]).ok_or_else(|| {
            let name = String::from_utf8_lossy(&self.name).into_owned();
            let message =
                format!("no customer of {place:?} is called {name}\nhint: build the tables anew");
            Error::workload(message).in_statement(by_name as usize)
        })
    }

    /// Order-Status at warehouse `home`: a customer's last order.
    pub async fn order_status(&mut self, client: &mut Client, home: u64) -> Result<(), Error> {
        let district = between(&mut client.rng, 1, DISTRICTS);
        let drawn = Customer::draw(&mut client.rng, &self.constants);
        Statements::simple(client, Statement::Begin).await?;
        let id = self
            .customer(client, Statement::StatusByName, drawn, [home, district])
            .await?;
        let sql = &self.statements;
        let values = [home, district, id].map(Value::UInt);
        sql.read_one(client, Statement::StatusCustomer, &values, |_| Ok(()))
            .await?;
        let mut order = 0;
        sql.read_one(client, Statement::StatusOrder, &values, |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let values = [home, district, order].map(Value::UInt);
        sql.read(client, Statement::StatusLines, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Statement::Commit).await
    }

    /// Delivery of the oldest new order of each district of warehouse `home`, in one transaction.
    pub async fn delivery(&mut self, client: &mut Client, home: u64) -> Result<(), Error> {
        let carrier = between(&mut client.rng, 1, 10);
        Statements::simple(client, Statement::Begin).await?;
        for district in 1..=DISTRICTS {
            self.deliver(client, home, district, carrier).await?;
        }
        Statements::simple(client, Statement::Commit).await
    }

    /// A district's part of a delivery; nothing when no order waits there. Every read locks: the order may be younger than
    /// the transaction's snapshot.
    async fn deliver(
        &self,
        client: &mut Client,
        home: u64,
        district: u64,
        carrier: u64,
    ) -> Result<(), Error> {
        let sql = &self.statements;
        let (w, d) = (Value::UInt(home), Value::UInt(district));
        let mut order = 0;
        let place = [w, d];
        let waiting = sql.read(client, Statement::DeliveryOldest, &place, |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        });
        if waiting.await? == 0 {
            return Ok(());
        }
        let key = [w, d, Value::UInt(order)];
        sql.change(client, Statement::DeliveryTake, &key, 1).await?;
        let (mut customer, mut lines) = (0, 0);
        sql.read_one(client, Statement::DeliveryOrder, &key, |row| {
            customer = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            lines = row.get_i64(1)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let [w, d, o] = key;
        let values = [Value::UInt(carrier), w, d, o];
        sql.change(client, Statement::DeliveryOrderUpdate, &values, 1)
            .await?;
        sql.change(client, Statement::DeliveryLinesUpdate, &key, lines)
            .await?;
        let mut amount = 0;
        sql.read_one(client, Statement::DeliveryAmount, &key, |row| {
            amount = hundredths(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let values = [Value::Int(amount), w, d, Value::UInt(customer)];
        sql.change(client, Statement::DeliveryCustomer, &values, 1)
            .await
    }

    /// Stock-Level of a district of warehouse `home`.
    pub async fn stock_level(
        &mut self,
        client: &mut Client,
        home: u64,
        district: u64,
    ) -> Result<(), Error> {
        let threshold = between(&mut client.rng, 10, 20);
        let sql = &self.statements;
        let (w, d) = (Value::UInt(home), Value::UInt(district));
        Statements::simple(client, Statement::Begin).await?;
        let mut next = 0;
        sql.read_one(client, Statement::LevelDistrict, &[w, d], |row| {
            next = row.get_i64(0)?.unwrap_or(0);
            Ok(())
        })
        .await?;
        let values = [
            w,
            d,
            Value::Int(next - 20),
            Value::Int(next),
            Value::UInt(threshold),
        ];
        sql.read_one(client, Statement::LevelStock, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Statement::Commit).await
    }
}

/// A decimal number with two places, in hundredths.
fn hundredths(decimal: &[u8]) -> i64 {
    let digits = decimal.iter().filter(|byte| byte.is_ascii_digit());
    let number = digits.fold(0, |number, byte| 10 * number + i64::from(byte - b'0'));
    if decimal.first() == Some(&b'-') {
        -number
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_in_hundredths() {
        assert_eq!(hundredths(b"12.34"), 1234);
        assert_eq!(hundredths(b"-0.05"), -5);
        assert_eq!(hundredths(b"100.00"), 10_000);
    }
}
