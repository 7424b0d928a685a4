//! The five transactions, one statement a step. What is not locked, not updated or updated to a number that was read
//! before is so in the tools; `docs/WORKLOADS.md` lists it.

use super::Tool;
use super::inputs::{Place, another, customer, draw_lines, middle};
use super::statements::{Statement, Statements};
use crate::tpcc::counters;
use crate::tpcc::draw::{Constants, between, last_name, nurand};
use crate::tpcc::inputs::Line;
use crate::tpcc::schema::{DISTRICTS, ITEMS};
use crate::tpcc::shapes::hundredths;
use dyno_drive::{Client, Error, Value};

/// What a session needs to run transactions, and scratch space that they share.
#[derive(Debug)]
pub struct Desk {
    pub tool: Tool,
    /// Of each set of tables.
    pub sets: Vec<Statements>,
    pub constants: Constants,
    pub warehouses: u64,
    pub lines: Vec<Line>,
    pub ids: Vec<u64>,
    pub name: Vec<u8>,
    pub text: Vec<u8>,
    pub data: Vec<u8>,
}

/// What a New-Order reads before its lines, in hundredths.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    discount: i64,
    warehouse_tax: i64,
    district_tax: i64,
}

impl Rates {
    /// The amount of a line in hundredths: with both taxes and the discount, which the specification leaves out. The
    /// fraction goes, in sysbench-tpcc all places behind the point.
    fn amount(self, tool: Tool, quantity: i64, price: i64) -> i64 {
        let taxed = quantity * price * (100 + self.warehouse_tax + self.district_tax);
        let exact = taxed * (100 - self.discount);
        match tool {
            Tool::TpccMysql => (exact + 5000) / 10_000,
            Tool::SysbenchTpcc => exact / 1_000_000 * 100,
        }
    }
}

impl Desk {
    /// New-Order. One that names an item which does not exist is rolled back, and has done its work.
    pub async fn new_order(&mut self, client: &mut Client, place: Place) -> Result<(), Error> {
        let c = customer(&mut client.rng, &self.constants);
        let (home, rng) = ((place.warehouse, self.warehouses), &mut client.rng);
        let remote = draw_lines(self.tool, rng, &self.constants, home, &mut self.lines);
        let elsewhere = self
            .lines
            .iter()
            .filter(|line| line.supply != place.warehouse);
        client.count(counters::LINES, self.lines.len() as u64);
        client.count(counters::REMOTE_LINES, elsewhere.count() as u64);
        let [w, d, c] = [place.warehouse, place.district, c].map(Value::UInt);
        let sql = &self.sets[place.set];
        self.begin(client).await?;
        let mut rates = Rates::default();
        sql.read_some(client, Statement::OrderCustomer, &[w, d, c], |row| {
            rates.discount = hundredths(row.get_bytes(0)?.unwrap_or_default());
            rates.warehouse_tax = hundredths(row.get_bytes(3)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let mut order = 0;
        sql.read_some(client, Statement::OrderDistrict, &[w, d], |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            rates.district_tax = hundredths(row.get_bytes(1)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let o = Value::UInt(order);
        sql.change(client, Statement::OrderDistrictNext, &[o, w, d])
            .await?;
        let count = Value::UInt(self.lines.len() as u64);
        let local = Value::UInt((!remote).into());
        sql.change(client, Statement::OrderInsert, &[w, d, o, c, count, local])
            .await?;
        sql.change(client, Statement::OrderNew, &[w, d, o]).await?;
        for index in 0..self.lines.len() {
            if !self.order_line(client, place, order, index, rates).await? {
                client.count(counters::ROLLED_BACK, 1);
                return Statements::simple(client, Statement::Rollback).await;
            }
        }
        Statements::simple(client, Statement::Commit).await
    }

    /// One line of an order; false when there is no such item.
    async fn order_line(
        &mut self,
        client: &mut Client,
        place: Place,
        order: u64,
        index: usize,
        rates: Rates,
    ) -> Result<bool, Error> {
        let line = self.lines[index];
        let sql = &self.sets[place.set];
        let (item, supply) = (Value::UInt(line.item), Value::UInt(line.supply));
        let mut price = 0;
        let key = [item];
        let found = sql.read(client, Statement::OrderItem, &key, |row| {
            price = hundredths(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        });
        if found.await? == 0 && line.item > ITEMS {
            return Ok(false);
        }
        let key = [supply, item];
        let stock = sql
            .read_stock(client, place.district, &key, &mut self.text)
            .await?;
        let ordered = line.quantity.cast_signed();
        let left = if stock > ordered {
            stock - ordered
        } else {
            stock - ordered + 91
        };
        sql.change(
            client,
            Statement::OrderStockUpdate,
            &[Value::Int(left), supply, item],
        )
        .await?;
        let [w, d, o] = [place.warehouse, place.district, order].map(Value::UInt);
        let values = [
            w,
            d,
            o,
            Value::UInt(index as u64 + 1),
            item,
            supply,
            Value::UInt(line.quantity),
            Value::Int(rates.amount(self.tool, ordered, price)),
            Value::Bytes(&self.text),
        ];
        sql.change(client, Statement::OrderLine, &values).await?;
        Ok(true)
    }

    /// Payment, of a whole number.
    pub async fn payment(&mut self, client: &mut Client, place: Place) -> Result<(), Error> {
        let by_id = customer(&mut client.rng, &self.constants);
        let rng = &mut client.rng;
        let amount = between(rng, 1, 5000);
        let by_name = self.draw_name(rng);
        let remote = between(rng, 1, 100) > 85;
        let (mut cw, mut cd) = (place.warehouse, place.district);
        if remote {
            // sysbench-tpcc finds the home warehouse again when it looks for another one
            if self.tool == Tool::TpccMysql {
                cw = another(rng, cw, self.warehouses);
            }
            cd = between(rng, 1, DISTRICTS);
        }
        client.count(counters::REMOTE, (cw != place.warehouse).into());
        client.count(counters::BY_NAME, by_name.into());
        let [w, d, paid] = [place.warehouse, place.district, amount].map(Value::UInt);
        let sql = &self.sets[place.set];
        self.begin(client).await?;
        sql.change(client, Statement::PaymentWarehouseUpdate, &[paid, w])
            .await?;
        sql.read_some(client, Statement::PaymentWarehouse, &[w], |_| Ok(()))
            .await?;
        sql.change(client, Statement::PaymentDistrictUpdate, &[paid, w, d])
            .await?;
        sql.read_some(client, Statement::PaymentDistrict, &[w, d], |_| Ok(()))
            .await?;
        let of = [cw, cd];
        let c = if by_name {
            let names = [Statement::PaymentNamesakes, Statement::PaymentByName];
            self.find_by_name(client, place.set, of, names).await?
        } else {
            by_id
        };
        self.pay(client, place, [cw, cd, c], amount).await?;
        let sql = &self.sets[place.set];
        let [cw, cd, c] = [cw, cd, c].map(Value::UInt);
        let values = [
            cd,
            cw,
            c,
            d,
            w,
            paid,
            Value::Bytes(b"payment at a district"),
        ];
        sql.change(client, Statement::PaymentHistory, &values)
            .await?;
        Statements::simple(client, Statement::Commit).await
    }

    /// The customer's part of a payment: sums are read, added to here and written.
    async fn pay(
        &mut self,
        client: &mut Client,
        place: Place,
        of: [u64; 3],
        amount: u64,
    ) -> Result<(), Error> {
        let (sql, tool) = (&self.sets[place.set], self.tool);
        let [cw, cd, c] = of.map(Value::UInt);
        let (mut balance, mut paid, mut bad) = (0, 0, false);
        sql.read_some(client, Statement::PaymentCustomer, &[cw, cd, c], |row| {
            bad = row.get_bytes(0)? == Some(b"BC");
            balance = hundredths(row.get_bytes(1)?.unwrap_or_default());
            paid = hundredths(row.get_bytes(2)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let cents = (100 * amount).cast_signed();
        let (balance, paid) = (Value::Int(balance - cents), Value::Int(paid + cents));
        if !bad {
            let values = match tool {
                Tool::SysbenchTpcc => &[paid, balance, cw, cd, c][..],
                Tool::TpccMysql => &[balance, cw, cd, c][..],
            };
            let update = Statement::PaymentCustomerUpdate;
            return sql.change(client, update, values).await.map(drop);
        }
        let data = &mut self.data;
        data.clear();
        for number in of
            .into_iter()
            .chain([place.district, place.warehouse, amount])
        {
            data.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            data.push(b' ');
        }
        sql.read_some(client, Statement::PaymentData, &[cw, cd, c], |row| {
            data.extend_from_slice(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        data.truncate(500);
        let data = Value::Bytes(data);
        let values = match tool {
            Tool::SysbenchTpcc => &[balance, paid, data, cw, cd, c][..],
            Tool::TpccMysql => &[balance, data, cw, cd, c][..],
        };
        sql.change(client, Statement::PaymentBadCredit, values)
            .await
            .map(drop)
    }

    /// Draws a last name; whether it is used, which it is in 60 of 100.
    fn draw_name(&mut self, rng: &mut dyno_drive::Rng) -> bool {
        last_name(
            nurand(rng, 255, self.constants.last, 0, 999),
            &mut self.name,
        );
        between(rng, 1, 100) <= 60
    }

    /// The customer in the middle of those of one name. The tools count them first.
    async fn find_by_name(
        &mut self,
        client: &mut Client,
        set: usize,
        [w, d]: [u64; 2],
        [count, read]: [Statement; 2],
    ) -> Result<u64, Error> {
        let (sql, ids) = (&self.sets[set], &mut self.ids);
        let values = [Value::UInt(w), Value::UInt(d), Value::Bytes(&self.name)];
        sql.read_some(client, count, &values, |_| Ok(())).await?;
        ids.clear();
        sql.read_some(client, read, &values, |row| {
            ids.push(row.get_i64(0)?.unwrap_or(0).cast_unsigned());
            Ok(())
        })
        .await?;
        Ok(ids[middle(self.tool, ids.len())])
    }

    /// Order-Status: a customer's last order.
    pub async fn order_status(&mut self, client: &mut Client, place: Place) -> Result<(), Error> {
        let mut c = customer(&mut client.rng, &self.constants);
        let by_name = self.draw_name(&mut client.rng);
        client.count(counters::STATUS_BY_NAME, by_name.into());
        let (w, d) = (place.warehouse, place.district);
        self.begin(client).await?;
        if by_name {
            let names = [Statement::StatusNamesakes, Statement::StatusByName];
            c = self.find_by_name(client, place.set, [w, d], names).await?;
        } else {
            let sql = &self.sets[place.set];
            let key = [w, d, c].map(Value::UInt);
            sql.read_some(client, Statement::StatusCustomer, &key, |_| Ok(()))
                .await?;
        }
        let sql = &self.sets[place.set];
        let key = [w, d, c, w, d, c].map(Value::UInt);
        let key = match self.tool {
            Tool::SysbenchTpcc => &key[..3],
            Tool::TpccMysql => &key[..],
        };
        let mut last = None;
        sql.read(client, Statement::StatusOrder, key, |row| {
            if last.is_none() {
                last = row.get_i64(0)?;
            }
            Ok(())
        })
        .await?;
        let order = match self.tool {
            // it hands the district over in place of the order
            Tool::SysbenchTpcc => d,
            Tool::TpccMysql => last.unwrap_or(0).cast_unsigned(),
        };
        let key = [w, d, order].map(Value::UInt);
        sql.read(client, Statement::StatusLines, &key, |_| Ok(()))
            .await?;
        Statements::simple(client, Statement::Commit).await
    }

    /// Delivery of the oldest new order of each district: in tpcc-mysql a transaction each.
    pub async fn delivery(&mut self, client: &mut Client, place: Place) -> Result<(), Error> {
        let carrier = between(&mut client.rng, 1, 10);
        self.begin(client).await?;
        for district in 1..=DISTRICTS {
            self.deliver(client, Place { district, ..place }, carrier)
                .await?;
            if self.tool == Tool::TpccMysql {
                Statements::simple(client, Statement::Commit).await?;
            }
        }
        match self.tool {
            Tool::SysbenchTpcc => Statements::simple(client, Statement::Commit).await,
            Tool::TpccMysql => Ok(()),
        }
    }

    /// A district's part of a delivery; nothing when no order waits there.
    async fn deliver(&self, client: &mut Client, place: Place, carrier: u64) -> Result<(), Error> {
        let sql = &self.sets[place.set];
        let [w, d] = [place.warehouse, place.district].map(Value::UInt);
        let mut order = 0;
        sql.read(client, Statement::DeliveryOldest, &[w, d], |row| {
            order = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        if order == 0 {
            client.count(counters::SKIPPED, 1);
            return Ok(());
        }
        let key = [w, d, Value::UInt(order)];
        let taken = sql
            .change(client, Statement::DeliveryTake, &key)
            .await?
            .affected_rows;
        // none when another session delivered the same order meanwhile, which tpcc-mysql does not notice
        client.count(counters::DELIVERED, taken);
        let mut c = 0;
        sql.read_some(client, Statement::DeliveryOrder, &key, |row| {
            c = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
            Ok(())
        })
        .await?;
        let [_, _, o] = key;
        let values = [Value::UInt(carrier), w, d, o];
        sql.change(client, Statement::DeliveryOrderUpdate, &values)
            .await?;
        sql.change(client, Statement::DeliveryLinesUpdate, &key)
            .await?;
        let mut amount = 0;
        sql.read_some(client, Statement::DeliveryAmount, &key, |row| {
            amount = hundredths(row.get_bytes(0)?.unwrap_or_default());
            Ok(())
        })
        .await?;
        let values = [Value::Int(amount), w, d, Value::UInt(c)];
        sql.change(client, Statement::DeliveryCustomer, &values)
            .await
            .map(drop)
    }

    /// Stock-Level: the items of the last twenty orders, and then the stock of each.
    pub async fn stock_level(&mut self, client: &mut Client, place: Place) -> Result<(), Error> {
        let threshold = Value::UInt(between(&mut client.rng, 10, 20));
        let (sql, items) = (&self.sets[place.set], &mut self.ids);
        let [w, d] = [place.warehouse, place.district].map(Value::UInt);
        if self.tool == Tool::SysbenchTpcc {
            Statements::simple(client, Statement::Begin).await?;
        }
        let mut next = 0;
        sql.read_some(client, Statement::LevelDistrict, &[w, d], |row| {
            next = row.get_i64(0)?.unwrap_or(0);
            Ok(())
        })
        .await?;
        items.clear();
        let values = [w, d, Value::Int(next), Value::Int(next - 20)];
        sql.read(client, Statement::LevelItems, &values, |row| {
            items.push(row.get_i64(0)?.unwrap_or(0).cast_unsigned());
            Ok(())
        })
        .await?;
        for item in items {
            let key = [w, Value::UInt(*item), threshold];
            sql.read_some(client, Statement::LevelStock, &key, |_| Ok(()))
                .await?;
        }
        Statements::simple(client, Statement::Commit).await
    }

    /// tpcc-mysql's connections are without autocommit, and it never says BEGIN.
    async fn begin(&self, client: &mut Client) -> Result<(), Error> {
        match self.tool {
            Tool::SysbenchTpcc => Statements::simple(client, Statement::Begin).await,
            Tool::TpccMysql => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_hold_taxes_and_discount() {
        let rates = Rates {
            discount: 50,
            warehouse_tax: 20,
            district_tax: 5,
        };
        // 3 × 10.10 × 1.25 × 0.5 = 18.9375
        assert_eq!(rates.amount(Tool::TpccMysql, 3, 1010), 1894);
        assert_eq!(rates.amount(Tool::SysbenchTpcc, 3, 1010), 1800);
    }
}
