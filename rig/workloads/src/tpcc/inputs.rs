//! What the transactions are asked, drawn from a session's random numbers.

use super::draw::{Constants, between, nurand};
use super::schema::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::random::Random;

/// The transactions; their numbers are those of the record's transaction types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Type {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new_order",
            Self::Payment => "payment",
            Self::OrderStatus => "order_status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock_level",
        }
    }
}

/// Cards of a deck, for each type.
const CARDS: [usize; 5] = [10, 10, 1, 1, 1];
const DECK: usize = 23;

/// Which transaction is next.
#[derive(Clone, Copy, Debug)]
pub enum Mix {
    /// Cards drawn without replacement: every 23 transactions hold the mix exactly.
    Deck { cards: [Type; DECK], left: usize },
    /// Each drawn on its own, with the same weights.
    Weighted,
}

impl Mix {
    /// A deck that is about to be shuffled.
    pub fn deck() -> Self {
        let mut cards = [Type::NewOrder; DECK];
        let all = Type::ALL.iter().zip(CARDS);
        let dealt = all.flat_map(|(kind, count)| std::iter::repeat_n(*kind, count));
        for (card, kind) in cards.iter_mut().zip(dealt) {
            *card = kind;
        }
        Self::Deck { cards, left: DECK }
    }

    /// Draws the next type.
    pub fn next(&mut self, random: &mut impl Random) -> Type {
        match self {
            Self::Deck { cards, left } => {
                // one step of a shuffle: the card drawn goes behind those that are left
                let drawn = usize::try_from(random.below(*left as u64)).unwrap_or(0);
                *left -= 1;
                cards.swap(drawn, *left);
                let kind = cards[*left];
                if *left == 0 {
                    *left = DECK;
                }
                kind
            }
            Self::Weighted => {
                let mut drawn = usize::try_from(random.below(DECK as u64)).unwrap_or(0);
                for (kind, count) in Type::ALL.iter().zip(CARDS) {
                    if drawn < count {
                        return *kind;
                    }
                    drawn -= count;
                }
                Type::StockLevel
            }
        }
    }
}

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
    pub district: u64,
    pub customer: u64,
    /// In the order in which stock is locked, the same for all sessions; an item that does not exist comes last.
    pub lines: Vec<Line>,
    pub all_local: bool,
}

impl NewOrder {
    /// Draws an order of warehouse `home` of `warehouses`.
    pub fn draw(
        &mut self,
        random: &mut impl Random,
        constants: &Constants,
        home: u64,
        warehouses: u64,
    ) {
        self.district = between(random, 1, DISTRICTS);
        self.customer = nurand(random, 1023, constants.customer, 1, CUSTOMERS);
        let count = between(random, 5, 15);
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
            district,
            customer: Customer::draw(random, constants),
            customer_warehouse,
            customer_district,
            amount: between(random, 100, 500_000),
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
    fn every_deck_holds_the_mix_in_another_order() {
        let (mut random, mut mix) = (random(1), Mix::deck());
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let drawn: Vec<Type> = (0..DECK).map(|_| mix.next(&mut random)).collect();
            for (kind, count) in Type::ALL.iter().zip(CARDS) {
                assert_eq!(drawn.iter().filter(|d| *d == kind).count(), count);
            }
            orders.insert(drawn.iter().map(|kind| *kind as u8).collect::<Vec<_>>());
        }
        assert_eq!(orders.len(), 100);
    }

    #[test]
    fn weights_are_those_of_the_deck() {
        let (mut random, mut mix, mut counts) = (random(1), Mix::Weighted, [0_u32; 5]);
        for _ in 0..230_000 {
            counts[mix.next(&mut random) as usize] += 1;
        }
        for (count, cards) in counts.iter().zip([10_u32, 10, 1, 1, 1]) {
            assert!(count.abs_diff(cards * 10_000) < 1500, "{counts:?}");
        }
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
