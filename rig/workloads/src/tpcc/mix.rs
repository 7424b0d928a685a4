//! Which transaction is next.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;

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
}
