//! The shape `batched`: a step is one statement, however many rows it reads or writes.
//!
//! What is written is locked before anything is read from a snapshot, in the order of the primary key; the list of lines
//! is in that order already.

mod delivery;
mod list;
mod new_order;
mod values;

use self::delivery::Parcel;
use self::list::{Batch, DISTRICTS_ALL};
use self::new_order::Slot;
use super::catalog::{self, Statements};
use crate::tpcc::draw::last_name;
use crate::tpcc::inputs::{Customer, LINES_MAX, OrderStatus, Payment, Request, StockLevel};
use dyno_drive::{Client, Error, Value};

pub use self::list::Batch as List;

/// A session's statements, and scratch space that its transactions share.
#[derive(Debug)]
pub struct Batches {
    statements: Statements<Batch>,
    /// One for each line of an order.
    slots: [Slot; LINES_MAX],
    /// One for each district with an order to deliver.
    parcels: [Parcel; DISTRICTS_ALL],
    ids: Vec<u64>,
    name: Vec<u8>,
    text: Vec<u8>,
}

impl Batches {
    /// Prepares the statements, and has room for every result.
    pub async fn open(client: &mut Client) -> Result<Self, Error> {
        Ok(Self {
            statements: Statements::prepare(client).await?,
            slots: [Slot::default(); LINES_MAX],
            parcels: [Parcel::default(); DISTRICTS_ALL],
            ids: Vec::with_capacity(64),
            name: Vec::with_capacity(64),
            text: Vec::with_capacity(512),
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

    async fn payment(&mut self, client: &mut Client, drawn: &Payment) -> Result<(), Error> {
        let [w, d, amount] = [drawn.warehouse, drawn.district, drawn.amount].map(Value::UInt);
        let place = [drawn.customer_warehouse, drawn.customer_district];
        let [cw, cd] = place.map(Value::UInt);
        Statements::simple(client, Batch::Begin).await?;
        let sql = &self.statements;
        sql.change(client, Batch::PaymentWarehouse, &[amount, w], 1)
            .await?;
        sql.change(client, Batch::PaymentDistrict, &[amount, w, d], 1)
            .await?;
        let customer = self
            .customer(client, Batch::PaymentByName, drawn.customer, place)
            .await?;
        let c = Value::UInt(customer);
        let (sql, text) = (&self.statements, &mut self.text);
        drawn.note(customer, text);
        let values = [amount, amount, Value::Bytes(text), cw, cd, c];
        sql.change(client, Batch::PaymentCustomer, &values, 1)
            .await?;
        text.clear();
        let values = [d, cw, cd, c, w];
        sql.read_one(client, Batch::PaymentParties, &values, |row| {
            text.extend_from_slice(row.get_bytes(0)?.unwrap_or_default());
            text.extend_from_slice(b"    ");
            text.extend_from_slice(row.get_bytes(1)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let values = [c, cd, cw, d, w, amount, Value::Bytes(text)];
        sql.change(client, Batch::PaymentHistory, &values, 1)
            .await?;
        client.writes(&drawn.key(customer));
        Statements::simple(client, Batch::Commit).await
    }

    /// The id of a customer; of several with one name, the one in the middle, rounded up, by first name.
    async fn customer(
        &mut self,
        client: &mut Client,
        by_name: Batch,
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
        let place = [drawn.warehouse, drawn.district];
        let [w, d] = place.map(Value::UInt);
        Statements::simple(client, Batch::Begin).await?;
        let id = self
            .customer(client, Batch::StatusByName, drawn.customer, place)
            .await?;
        let sql = &self.statements;
        let mut order = 0;
        let values = [w, d, Value::UInt(id)];
        sql.read_one(client, Batch::StatusOrder, &values, |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let values = [w, d, Value::UInt(order)];
        sql.read(client, Batch::StatusLines, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Batch::Commit).await
    }

    async fn stock_level(&mut self, client: &mut Client, drawn: &StockLevel) -> Result<(), Error> {
        let values = [drawn.warehouse, drawn.district, drawn.threshold].map(Value::UInt);
        Statements::simple(client, Batch::Begin).await?;
        self.statements
            .read_one(client, Batch::LevelStock, &values, |_| Ok(()))
            .await?;
        Statements::simple(client, Batch::Commit).await
    }
}
