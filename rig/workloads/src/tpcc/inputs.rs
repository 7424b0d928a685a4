//! What the transactions are asked, drawn from a session's random numbers.

use super::draw::{Constants, between, nurand};
use super::mix::Type;
use super::schema::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::random::Random;

/// The most lines of an order.
pub const LINES_MAX: usize = 15;

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub item: u64,
    pub supply: u64,
    pub quantity: u64,
}

/// A New-Order.
#[derive(Clone, Debug, Default)]
pub struct NewOrder {
    pub warehouse: u64,
    pub district: u64,
    pub customer: u64,
    /// In the order in which stock is locked, the same for all sessions; an item that does not exist comes last.
    pub lines: Vec<Line>,
    pub all_local: bool,
}

impl NewOrder {
    /// An order that can be drawn again and again without taking memory.
    pub fn with_room() -> Self {
        Self {
            lines: Vec::with_capacity(LINES_MAX),
            ..Self::default()
        }
    }

    /// Draws an order of warehouse `home` of `warehouses`.
    pub fn draw(
        &mut self,
        random: &mut impl Random,
        constants: &Constants,
        home: u64,
        warehouses: u64,
    ) {
        self.warehouse = home;
        self.district = between(random, 1, DISTRICTS);
        self.customer = nurand(random, 1023, constants.customer, 1, CUSTOMERS);
        let count = between(random, 5, LINES_MAX as u64);
        let rolled_back = between(random, 1, 100) == 1;
        self.lines.clear();
        for _ in 0..count {
            let item = nurand(random, 8191, constants.item, 1, ITEMS);
            let remote = between(random, 1, 100) == 1;
            let supply = supplier(random, remote, home, warehouses);
            let quantity = between(random, 1, 10);
            self.lines.push(Line {
                item,
                supply,
                quantity,
            });
        }
        self.all_local = self.lines.iter().all(|line| line.supply == home);
        let existing = self.lines.len() - usize::from(rolled_back);
        self.lines[..existing].sort_unstable_by_key(|line| (line.supply, line.item));
        if let (true, Some(last)) = (rolled_back, self.lines.last_mut()) {
            last.item = ITEMS + 1;
        }
    }
}

impl NewOrder {
    /// The lines whose items exist: all of them, or all but the last.
    pub fn existing(&self) -> &[Line] {
        match self.lines.split_last() {
            Some((last, others)) if last.item > ITEMS => others,
            _ => &self.lines,
        }
    }

    /// Whether the last item does not exist, so that the order is rolled back.
    pub fn is_rolled_back(&self) -> bool {
        self.existing().len() < self.lines.len()
    }
}

/// The home warehouse, or any other one when `remote`; the home one when there is no other.
fn supplier(random: &mut impl Random, remote: bool, home: u64, warehouses: u64) -> u64 {
    if !remote || warehouses == 1 {
        return home;
    }
    let other = between(random, 1, warehouses - 1);
    other + u64::from(other >= home)
}

/// How a customer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Customer {
    Id(u64),
    /// The number that makes a last name.
    Name(u64),
}

impl Customer {
    /// By name in 60 of 100.
    pub fn draw(random: &mut impl Random, constants: &Constants) -> Self {
        if between(random, 1, 100) <= 60 {
            Self::Name(nurand(random, 255, constants.last, 0, 999))
        } else {
            Self::Id(nurand(random, 1023, constants.customer, 1, CUSTOMERS))
        }
    }
}

/// A Payment.
#[derive(Clone, Copy, Debug)]
pub struct Payment {
    pub warehouse: u64,
    pub district: u64,
    pub customer: Customer,
    pub customer_warehouse: u64,
    pub customer_district: u64,
    /// In hundredths.
    pub amount: u64,
}

impl Payment {
    /// Draws a payment at warehouse `home` of `warehouses`: 15 of 100 for a customer of another one.
    pub fn draw(
        random: &mut impl Random,
        constants: &Constants,
        home: u64,
        warehouses: u64,
    ) -> Self {
        let district = between(random, 1, DISTRICTS);
        let remote = between(random, 1, 100) > 85 && warehouses > 1;
        let customer_warehouse = supplier(random, remote, home, warehouses);
        let customer_district = if remote {
            between(random, 1, DISTRICTS)
        } else {
            district
        };
        Self {
            warehouse: home,
            district,
            customer: Customer::draw(random, constants),
            customer_warehouse,
            customer_district,
            amount: between(random, 100, 500_000),
        }
    }
}

impl Payment {
    /// What it writes, for the log of acknowledged transactions: where, for which customer, and how much.
    pub const fn key(&self, customer: u64) -> [u64; 6] {
        [
            self.warehouse,
            self.district,
            self.customer_warehouse,
            self.customer_district,
            customer,
            self.amount,
        ]
    }

    /// What a customer of bad credit has written in front of the older notes. `data` is emptied first.
    pub fn note(&self, customer: u64, data: &mut Vec<u8>) {
        data.clear();
        for number in [
            customer,
            self.customer_district,
            self.customer_warehouse,
            self.district,
            self.warehouse,
        ] {
            data.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            data.push(b' ');
        }
        super::draw::hundredths(self.amount, data);
        data.push(b'|');
    }
}

/// An Order-Status.
#[derive(Clone, Copy, Debug)]
pub struct OrderStatus {
    pub warehouse: u64,
    pub district: u64,
    pub customer: Customer,
}

/// A Delivery.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub warehouse: u64,
    pub carrier: u64,
}

/// A Stock-Level.
#[derive(Clone, Copy, Debug)]
pub struct StockLevel {
    pub warehouse: u64,
    pub district: u64,
    pub threshold: u64,
}

/// What one transaction is asked. It does not depend on the shape in which that is done.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    NewOrder(&'a NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

/// Whose transactions they are: a terminal belongs to a warehouse, and for Stock-Level to a district of it.
#[derive(Debug)]
pub struct Terminal {
    pub constants: Constants,
    pub warehouses: u64,
    /// None: each transaction draws a warehouse.
    pub home: Option<u64>,
    pub district: u64,
    pub order: NewOrder,
}

impl Terminal {
    /// Draws what a transaction of a type is asked.
    pub fn request(&mut self, kind: Type, random: &mut impl Random) -> Request<'_> {
        let warehouse = self
            .home
            .unwrap_or_else(|| between(random, 1, self.warehouses));
        match kind {
            Type::NewOrder => {
                let (constants, warehouses) = (&self.constants, self.warehouses);
                self.order.draw(random, constants, warehouse, warehouses);
                Request::NewOrder(&self.order)
            }
            Type::Payment => {
                let (constants, warehouses) = (&self.constants, self.warehouses);
                Request::Payment(Payment::draw(random, constants, warehouse, warehouses))
            }
            Type::OrderStatus => Request::OrderStatus(OrderStatus {
                warehouse,
                district: between(random, 1, DISTRICTS),
                customer: Customer::draw(random, &self.constants),
            }),
            Type::Delivery => Request::Delivery(Delivery {
                warehouse,
                carrier: between(random, 1, 10),
            }),
            Type::StockLevel => Request::StockLevel(StockLevel {
                warehouse,
                district: self.district,
                threshold: between(random, 10, 20),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;

    const CONSTANTS: Constants = Constants {
        last: 60,
        customer: 500,
        item: 4000,
    };

    fn random(row: u64) -> RowRandom {
        RowRandom::new(RowRandom::table_key(1, 98), row)
    }

    #[test]
    fn orders_have_the_shares_of_the_specification() {
        let (mut random, mut order) = (random(2), NewOrder::default());
        let (mut lines, mut remote, mut rolled_back) = (0_usize, 0_usize, 0_u32);
        for _ in 0..100_000 {
            order.draw(&mut random, &CONSTANTS, 3, 5);
            lines += order.lines.len();
            remote += order.lines.iter().filter(|line| line.supply != 3).count();
            let (last, others) = order.lines.split_last().unwrap();
            rolled_back += u32::from(last.item > ITEMS);
            assert!((5..=15).contains(&order.lines.len()));
            assert!(
                others.iter().all(|l| (1..=ITEMS).contains(&l.item)),
                "unused item not last"
            );
            assert!(others.is_sorted_by_key(|line| (line.supply, line.item)));
            assert_eq!(
                order.all_local,
                order.lines.iter().all(|line| line.supply == 3)
            );
        }
        assert!(rolled_back.abs_diff(1000) < 100, "{rolled_back}");
        assert!(
            (0.0095..0.0105).contains(&(remote as f64 / lines as f64)),
            "{remote} of {lines}"
        );
        assert!((9.9..10.1).contains(&(lines as f64 / 1e5)));
    }

    #[test]
    fn payments_have_the_shares_of_the_specification() {
        let (mut random, mut remote, mut named) = (random(3), 0_u32, 0_u32);
        for _ in 0..100_000 {
            let payment = Payment::draw(&mut random, &CONSTANTS, 2, 4);
            remote += u32::from(payment.customer_warehouse != 2);
            named += u32::from(matches!(payment.customer, Customer::Name(_)));
            assert!((100..=500_000).contains(&payment.amount));
            assert!((1..=4).contains(&payment.customer_warehouse));
        }
        assert!(remote.abs_diff(15_000) < 500, "{remote}");
        assert!(named.abs_diff(60_000) < 800, "{named}");
    }

    /// What the first transactions of sessions are asked. A change raises the version of the workload.
    #[test]
    fn the_requests_of_a_seed_are_stable() {
        let fingerprint = |home, row| {
            let mut random = random(row);
            let mut mix = crate::tpcc::mix::Mix::deck();
            let mut terminal = Terminal {
                constants: CONSTANTS,
                warehouses: 7,
                home,
                district: 4,
                order: NewOrder::default(),
            };
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for _ in 0..2300 {
                let kind = mix.next(&mut random);
                for byte in format!("{:?}", terminal.request(kind, &mut random)).bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
            hash
        };
        assert_eq!(
            [fingerprint(Some(3), 5), fingerprint(None, 5)],
            [15_087_036_242_121_962_022, 1_916_246_114_993_027_234]
        );
    }

    #[test]
    fn only_the_last_item_may_be_missing() {
        let (mut random, mut order) = (random(6), NewOrder::default());
        let mut seen = [0_u32; 2];
        for _ in 0..20_000 {
            order.draw(&mut random, &CONSTANTS, 1, 2);
            let missing = order.lines.len() - order.existing().len();
            assert_eq!(missing == 1, order.is_rolled_back());
            assert!(order.existing().iter().all(|line| line.item <= ITEMS));
            seen[missing] += 1;
        }
        assert!(seen[1] > 0 && seen[0] > 19_000, "{seen:?}");
    }

    #[test]
    fn a_single_warehouse_has_nothing_remote() {
        let (mut random, mut order) = (random(4), NewOrder::default());
        for _ in 0..1000 {
            order.draw(&mut random, &CONSTANTS, 1, 1);
            assert!(order.all_local);
            assert_eq!(
                Payment::draw(&mut random, &CONSTANTS, 1, 1).customer_warehouse,
                1
            );
        }
    }
}
