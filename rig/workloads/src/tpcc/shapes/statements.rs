//! The shape `statements`: one statement a step.
//!
//! What is read and then written is locked when it is read, and sums are added to by the server, so that no update is
//! lost at any isolation level. Stock is locked in the order of its key. New-Order locks its district before it reads
//! anything: a snapshot taken earlier would be older than what it then locks, which a server may refuse.

use super::catalog::{self, Statements, hundredths};
use super::step::Statement;
use crate::tpcc::counters;
use crate::tpcc::draw::last_name;
use crate::tpcc::inputs::{
    Customer, Delivery, NewOrder, OrderStatus, Payment, Request, StockLevel,
};
use crate::tpcc::schema::{DISTRICTS, ITEMS};
use dyno_drive::{Client, Error, Value};

/// A session's statements, and scratch space that its transactions share.
#[derive(Debug)]
pub struct Steps {
    statements: Statements<Statement>,
    ids: Vec<u64>,
    name: Vec<u8>,
    text: Vec<u8>,
    data: Vec<u8>,
}

impl Steps {
    /// Prepares the statements, and has room for every result.
    pub async fn open(client: &mut Client) -> Result<Self, Error> {
        Ok(Self {
            statements: Statements::prepare(client).await?,
            ids: Vec::with_capacity(64),
            name: Vec::with_capacity(64),
            text: Vec::with_capacity(512),
            data: Vec::with_capacity(1024),
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

    /// New-Order. One that names an item which does not exist is rolled back, and has done its work.
    async fn new_order(&mut self, client: &mut Client, order: &NewOrder) -> Result<(), Error> {
        let [w, d, c] = [order.warehouse, order.district, order.customer].map(Value::UInt);
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
        let count = Value::UInt(order.lines.len() as u64);
        let local = Value::UInt(order.all_local.into());
        let values = [w, d, o, c, count, local];
        sql.change(client, Statement::OrderInsert, &values, 1)
            .await?;
        sql.change(client, Statement::OrderNew, &[w, d, o], 1)
            .await?;
        for number in 1..=order.lines.len() {
            if !self.order_line(client, order, order_id, number).await? {
                client.count(counters::ROLLED_BACK, 1);
                return Statements::simple(client, Statement::Rollback).await;
            }
        }
        client.writes(&[order.warehouse, order.district, order_id]);
        Statements::simple(client, Statement::Commit).await
    }

    /// Line `number` (from 1) of an order; false when there is no such item.
    async fn order_line(
        &mut self,
        client: &mut Client,
        order: &NewOrder,
        order_id: u64,
        number: usize,
    ) -> Result<bool, Error> {
        let line = order.lines[number - 1];
        let (sql, text) = (&self.statements, &mut self.text);
        let [d, item, supply] = [order.district, line.item, line.supply].map(Value::UInt);
        let mut price = 0;
        let key = [item];
        let found = sql.read(client, Statement::OrderItem, &key, |row| {
            price = hundredths(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        });
        if found.await? == 0 {
            if line.item > ITEMS {
                return Ok(false);
            }
            return Err(catalog::unexpected(
                Statement::OrderItem,
                &key,
                "gave no row",
            ));
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
        let left = Value::Int(catalog::stock_left(stock, ordered));
        let quantity = Value::UInt(line.quantity);
        let remote = Value::UInt((line.supply != order.warehouse).into());
        let values = [left, quantity, remote, supply, item];
        sql.change(client, Statement::OrderStockUpdate, &values, 1)
            .await?;
        let values = [
            Value::UInt(order.warehouse),
            d,
            Value::UInt(order_id),
            Value::UInt(number as u64),
            item,
            supply,
            quantity,
            Value::Int(price * ordered),
            Value::Bytes(text),
        ];
        sql.change(client, Statement::OrderLine, &values, 1).await?;
        Ok(true)
    }

    async fn payment(&mut self, client: &mut Client, drawn: &Payment) -> Result<(), Error> {
        let [w, d, amount] = [drawn.warehouse, drawn.district, drawn.amount].map(Value::UInt);
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
        self.pay(client, drawn, customer).await?;
        let sql = &self.statements;
        let [cw, cd] = place.map(Value::UInt);
        let c = Value::UInt(customer);
        let values = [c, cd, cw, d, w, amount, Value::Bytes(&self.text)];
        sql.change(client, Statement::PaymentHistory, &values, 1)
            .await?;
        client.writes(&drawn.key(customer));
        Statements::simple(client, Statement::Commit).await
    }

    /// The customer's part of a payment. Those of bad credit keep a note of it, in front of the older ones.
    async fn pay(
        &mut self,
        client: &mut Client,
        drawn: &Payment,
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
        drawn.note(customer, data);
        sql.read_one(client, Statement::PaymentCustomer, &[cw, cd, c], |row| {
            bad = row.get_bytes(0)? == Some(b"BC");
            data.extend_from_slice(row.get_bytes(1)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        if bad {
            data.truncate(500);
            let values = [amount, amount, Value::Bytes(data), cw, cd, c];
            sql.change(client, Statement::PaymentBadCredit, &values, 1)
                .await?;
        } else {
            let values = [amount, amount, cw, cd, c];
            sql.change(client, Statement::PaymentCustomerUpdate, &values, 1)
                .await?;
        }
        Ok(())
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
        catalog::middle(ids).ok_or_else(|| catalog::nobody(by_name, place, &self.name))
    }

    /// Order-Status: a customer's last order.
    async fn order_status(
        &mut self,
        client: &mut Client,
        drawn: &OrderStatus,
    ) -> Result<(), Error> {
        let [w, d] = [drawn.warehouse, drawn.district].map(Value::UInt);
        let place = [drawn.warehouse, drawn.district];
        Statements::simple(client, Statement::Begin).await?;
        let id = self
            .customer(client, Statement::StatusByName, drawn.customer, place)
            .await?;
        let sql = &self.statements;
        let values = [w, d, Value::UInt(id)];
        sql.read_one(client, Statement::StatusCustomer, &values, |_| Ok(()))
            .await?;
        let mut order = 0;
        sql.read_one(client, Statement::StatusOrder, &values, |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let values = [w, d, Value::UInt(order)];
        sql.read(client, Statement::StatusLines, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Statement::Commit).await
    }

    /// Delivery of the oldest new order of each district, in one transaction.
    async fn delivery(&mut self, client: &mut Client, drawn: &Delivery) -> Result<(), Error> {
        Statements::simple(client, Statement::Begin).await?;
        for district in 1..=DISTRICTS {
            let delivered = self.deliver(client, drawn, district).await?;
            client.count(counters::DELIVERED, delivered.into());
            client.count(counters::SKIPPED, (!delivered).into());
        }
        Statements::simple(client, Statement::Commit).await
    }

    /// A district's part of a delivery; false when no order waits there. Every read locks: the order may be younger than
    /// the transaction's snapshot.
    async fn deliver(
        &self,
        client: &mut Client,
        drawn: &Delivery,
        district: u64,
    ) -> Result<bool, Error> {
        let sql = &self.statements;
        let [w, d, carrier] = [drawn.warehouse, district, drawn.carrier].map(Value::UInt);
        let mut order = 0;
        let place = [w, d];
        let waiting = sql.read(client, Statement::DeliveryOldest, &place, |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        });
        if waiting.await? == 0 {
            return Ok(false);
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
        let values = [carrier, w, d, o];
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
            .await?;
        Ok(true)
    }

    async fn stock_level(&mut self, client: &mut Client, drawn: &StockLevel) -> Result<(), Error> {
        let sql = &self.statements;
        let [w, d, threshold] = [drawn.warehouse, drawn.district, drawn.threshold].map(Value::UInt);
        Statements::simple(client, Statement::Begin).await?;
        let mut next = 0;
        sql.read_one(client, Statement::LevelDistrict, &[w, d], |row| {
            next = row.get_i64(0)?.unwrap_or(0);
            Ok(())
        })
        .await?;
        let (first, next) = (Value::Int(next - 20), Value::Int(next));
        let values = [w, d, first, next, threshold];
        sql.read_one(client, Statement::LevelStock, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Statement::Commit).await
    }
}
