//! New-Order of the shape `batched`.

use super::Batches;
use super::list::Batch;
use super::values::Values;
use crate::tpcc::counters;
use crate::tpcc::inputs::{LINES_MAX, Line, NewOrder};
use crate::tpcc::shapes::catalog::{Statements, hundredths, stock_left};
use dyno_drive::{Client, Error, Value};

/// What is read for a line of an order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// In hundredths.
    price: i64,
    stock: i64,
    dist: [u8; 24],
}

/// What a line makes of a stock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Take {
    left: i64,
    /// How many lines before it take from the same stock.
    before: usize,
}

/// A number that a stock has in SQL.
const fn stock_number(line: &Line) -> u64 {
    line.supply * 1_000_000 + line.item
}

/// What each line leaves in stock, one after the other. Lines of one stock are neighbours.
fn takes(lines: &[Line], slots: &[Slot]) -> [Take; LINES_MAX] {
    let mut takes = [Take::default(); LINES_MAX];
    for (index, line) in lines.iter().enumerate() {
        let again = index > 0 && stock_number(&lines[index - 1]) == stock_number(line);
        let (stock, before) = if again {
            (takes[index - 1].left, takes[index - 1].before + 1)
        } else {
            (slots[index].stock, 0)
        };
        let left = stock_left(stock, line.quantity.cast_signed());
        takes[index] = Take { left, before };
    }
    takes
}

/// How many of the lines have an item that no line before them has.
fn distinct_items(lines: &[Line]) -> usize {
    let all = lines.iter().enumerate();
    let new = |(index, line): &(usize, &Line)| lines[..*index].iter().all(|l| l.item != line.item);
    all.filter(new).count()
}

impl Batches {
    /// One that names an item which does not exist is rolled back, and has done its work.
    pub(super) async fn new_order(
        &mut self,
        client: &mut Client,
        order: &NewOrder,
    ) -> Result<(), Error> {
        let [w, d, c] = [order.warehouse, order.district, order.customer].map(Value::UInt);
        Statements::simple(client, Batch::Begin).await?;
        let sql = &self.statements;
        let next = sql.change(client, Batch::OrderDistrict, &[w, d], 1).await?;
        self.take_stock(client, order).await?;
        self.look_up_items(client, order).await?;
        let sql = &self.statements;
        sql.read_one(client, Batch::OrderParties, &[d, c, w], |_| Ok(()))
            .await?;
        let count = Value::UInt(order.lines.len() as u64);
        let local = Value::UInt(order.all_local.into());
        let o = Value::UInt(next.last_insert_id);
        sql.change(client, Batch::OrderInsert, &[w, d, o, c, count, local], 1)
            .await?;
        sql.change(client, Batch::OrderNew, &[w, d, o], 1).await?;
        self.insert_lines(client, order, o).await?;
        if order.is_rolled_back() {
            client.count(counters::ROLLED_BACK, 1);
            return Statements::simple(client, Batch::Rollback).await;
        }
        client.writes(&[order.warehouse, order.district, next.last_insert_id]);
        Statements::simple(client, Batch::Commit).await
    }

    /// Locks and changes the stock of every line. Lines of one stock after its first are changed for themselves.
    async fn take_stock(&mut self, client: &mut Client, order: &NewOrder) -> Result<(), Error> {
        let lines = order.existing();
        self.lock_stock(client, order, lines).await?;
        let takes = takes(lines, &self.slots);
        for round in 0..lines.len() {
            let round_lines = || {
                let pairs = lines.iter().zip(&takes);
                pairs.filter(move |(_, take)| take.before == round)
            };
            let rows = round_lines().count();
            let Some(last) = round_lines().next_back() else {
                break;
            };
            // the statement names as many stocks as the order has lines: the last one again and again
            let padded = || {
                round_lines()
                    .chain(std::iter::repeat(last))
                    .take(lines.len())
            };
            let mut values = Values::<{ 6 * LINES_MAX + 1 }>::new();
            for (line, take) in padded() {
                values.add([Value::UInt(stock_number(line)), Value::Int(take.left)]);
            }
            for (line, _) in padded() {
                values.add([stock_number(line), line.quantity].map(Value::UInt));
            }
            values.add([Value::UInt(order.warehouse)]);
            for (line, _) in padded() {
                values.add([line.supply, line.item].map(Value::UInt));
            }
            let statement = (Batch::OrderStockUpdate, lines.len());
            self.statements
                .change_many(client, statement, values.as_slice(), rows as u64)
                .await?;
        }
        Ok(())
    }

    async fn lock_stock(
        &mut self,
        client: &mut Client,
        order: &NewOrder,
        lines: &[Line],
    ) -> Result<(), Error> {
        let mut values = Values::<{ 2 * LINES_MAX + 1 }>::new();
        values.add([Value::UInt(order.district)]);
        for line in lines {
            values.add([line.supply, line.item].map(Value::UInt));
        }
        let pairs = lines.windows(2);
        let repeated = pairs.filter(|pair| stock_number(&pair[0]) == stock_number(&pair[1]));
        let stocks = lines.len() - repeated.count();
        let slots = &mut self.slots;
        let statement = (Batch::OrderStock, lines.len());
        self.statements
            .read_many(client, statement, values.as_slice(), stocks, |row| {
                let number = |column| Ok::<_, dyno_wire::Error>(row.get_i64(column)?.unwrap_or(0));
                let (supply, item) = (number(0)?.cast_unsigned(), number(1)?.cast_unsigned());
                let stock = number(2)?;
                let dist = row.get_bytes(3)?.unwrap_or_default();
                for (slot, line) in slots.iter_mut().zip(lines) {
                    if (line.supply, line.item) == (supply, item) {
                        slot.stock = stock;
                        let length = dist.len().min(slot.dist.len());
                        slot.dist[..length].copy_from_slice(&dist[..length]);
                    }
                }
                Ok(())
            })
            .await
    }

    async fn look_up_items(&mut self, client: &mut Client, order: &NewOrder) -> Result<(), Error> {
        let mut values = Values::<LINES_MAX>::new();
        for line in &order.lines {
            values.add([Value::UInt(line.item)]);
        }
        let slots = &mut self.slots;
        let (statement, rows) = (
            (Batch::OrderItems, order.lines.len()),
            distinct_items(order.existing()),
        );
        self.statements
            .read_many(client, statement, values.as_slice(), rows, |row| {
                let item = row.get_i64(0)?.unwrap_or(0).cast_unsigned();
                let price = hundredths(row.get_bytes(1)?.unwrap_or_default());
                for (slot, line) in slots.iter_mut().zip(&order.lines) {
                    if line.item == item {
                        slot.price = price;
                    }
                }
                Ok(())
            })
            .await
    }

    async fn insert_lines(
        &self,
        client: &mut Client,
        order: &NewOrder,
        o: Value<'_>,
    ) -> Result<(), Error> {
        let lines = order.existing();
        let mut values = Values::<{ 9 * LINES_MAX }>::new();
        for (index, (line, slot)) in lines.iter().zip(&self.slots).enumerate() {
            let [w, d, number, item, supply, quantity] = [
                order.warehouse,
                order.district,
                index as u64 + 1,
                line.item,
                line.supply,
                line.quantity,
            ]
            .map(Value::UInt);
            let amount = Value::Int(slot.price * line.quantity.cast_signed());
            let dist = Value::Bytes(&slot.dist);
            values.add([w, d, o, number, item, supply, quantity, amount, dist]);
        }
        let statement = (Batch::OrderLines, lines.len());
        self.statements
            .change_many(client, statement, values.as_slice(), lines.len() as u64)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(supply: u64, item: u64, quantity: u64) -> Line {
        Line {
            item,
            supply,
            quantity,
        }
    }

    #[test]
    fn lines_of_one_stock_take_one_after_the_other() {
        let lines = [line(1, 5, 4), line(1, 9, 10), line(1, 9, 8), line(2, 9, 1)];
        let slot = |stock| Slot {
            stock,
            ..Slot::default()
        };
        let found = takes(&lines, &[slot(20), slot(27), slot(27), slot(10)]);
        let expected = [(16, 0), (17, 0), (100, 1), (100, 0)];
        for (take, (left, before)) in found.iter().zip(expected) {
            assert_eq!(*take, Take { left, before });
        }
    }

    #[test]
    fn an_item_of_two_warehouses_is_one_item() {
        let lines = [line(1, 5, 1), line(1, 5, 2), line(1, 6, 1), line(2, 5, 1)];
        assert_eq!(distinct_items(&lines), 2);
        assert_eq!(distinct_items(&[]), 0);
    }
}
