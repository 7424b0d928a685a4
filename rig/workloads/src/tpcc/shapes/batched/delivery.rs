//! Delivery of the shape `batched`: all districts at once.

use super::Batches;
use super::list::{Batch, DISTRICTS_ALL};
use super::values::Values;
use crate::tpcc::counters;
use crate::tpcc::inputs::Delivery;
use crate::tpcc::shapes::catalog::{Statements, hundredths};
use dyno_drive::{Client, Error, Value};

/// An order that is delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parcel {
    district: u64,
    order: u64,
    customer: u64,
    lines: u64,
    /// In hundredths.
    amount: i64,
}

impl Batches {
    /// The oldest new order of each district, in one transaction; districts without one are skipped. Every read locks: an
    /// order may be younger than the transaction's snapshot.
    pub(super) async fn delivery(
        &mut self,
        client: &mut Client,
        drawn: &Delivery,
    ) -> Result<(), Error> {
        Statements::simple(client, Batch::Begin).await?;
        let count = self.find_oldest(client, drawn.warehouse).await?;
        if count > 0 {
            self.deliver(client, drawn, count).await?;
        }
        client.count(counters::DELIVERED, count as u64);
        client.count(counters::SKIPPED, (DISTRICTS_ALL - count) as u64);
        Statements::simple(client, Batch::Commit).await
    }

    /// Fills the first parcels, and returns how many.
    async fn find_oldest(&mut self, client: &mut Client, home: u64) -> Result<usize, Error> {
        let (parcels, mut count) = (&mut self.parcels, 0);
        let values = [Value::UInt(home); DISTRICTS_ALL];
        let read = self
            .statements
            .read(client, Batch::DeliveryOldest, &values, |row| {
                if let Some(parcel) = parcels.get_mut(count) {
                    *parcel = Parcel {
                        district: row.get_i64(0)?.unwrap_or(0).cast_unsigned(),
                        order: row.get_i64(1)?.unwrap_or(0).cast_unsigned(),
                        ..Parcel::default()
                    };
                    count += 1;
                }
                Ok(())
            });
        read.await?;
        // the statements that follow name as many orders as there are districts: the last one again and again
        if let Some(last) = count.checked_sub(1) {
            let parcel = self.parcels[last];
            self.parcels[count..].fill(parcel);
        }
        Ok(count)
    }

    async fn deliver(
        &mut self,
        client: &mut Client,
        drawn: &Delivery,
        count: usize,
    ) -> Result<(), Error> {
        let w = Value::UInt(drawn.warehouse);
        let mut values = Values::<{ 3 * DISTRICTS_ALL + 1 }>::new();
        values.add([Value::UInt(drawn.carrier)]);
        for parcel in &self.parcels {
            values.add([w, Value::UInt(parcel.district), Value::UInt(parcel.order)]);
        }
        let with_carrier = values.as_slice();
        let keys = &with_carrier[1..];
        let (sql, parcels) = (&self.statements, &mut self.parcels);
        let every = |statement| (statement, DISTRICTS_ALL);
        sql.change_many(client, every(Batch::DeliveryTake), keys, count as u64)
            .await?;
        sql.read_many(client, every(Batch::DeliveryOrders), keys, count, |row| {
            let district = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            let customer = row.get_i64(1)?.unwrap_or(0).cast_unsigned();
            let lines = row.get_i64(2)?.unwrap_or(0).cast_unsigned();
            for parcel in parcels.iter_mut().filter(|p| p.district == district) {
                (parcel.customer, parcel.lines) = (customer, lines);
            }
            Ok(())
        })
        .await?;
        let statement = every(Batch::DeliveryOrdersUpdate);
        sql.change_many(client, statement, with_carrier, count as u64)
            .await?;
        let lines = parcels[..count].iter().map(|parcel| parcel.lines).sum();
        sql.change_many(client, every(Batch::DeliveryLinesUpdate), keys, lines)
            .await?;
        sql.read_many(client, every(Batch::DeliveryAmounts), keys, count, |row| {
            let district = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            let amount = hundredths(row.get_bytes(1)?.unwrap_or_default());
            for parcel in parcels.iter_mut().filter(|p| p.district == district) {
                parcel.amount = amount;
            }
            Ok(())
        })
        .await?;
        self.bill(client, w, count).await
    }

    /// The customers' part.
    async fn bill(&self, client: &mut Client, w: Value<'_>, count: usize) -> Result<(), Error> {
        let mut values = Values::<{ 5 * DISTRICTS_ALL }>::new();
        for parcel in &self.parcels {
            values.add([Value::UInt(parcel.district), Value::Int(parcel.amount)]);
        }
        for parcel in &self.parcels {
            values.add([
                w,
                Value::UInt(parcel.district),
                Value::UInt(parcel.customer),
            ]);
        }
        let statement = (Batch::DeliveryCustomers, DISTRICTS_ALL);
        self.statements
            .change_many(client, statement, values.as_slice(), count as u64)
            .await
    }
}
