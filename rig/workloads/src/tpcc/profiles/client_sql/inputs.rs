//! What the transactions are asked.

use super::Tool;
use crate::random::Random;
use crate::tpcc::draw::{Constants, between, nurand};
use crate::tpcc::inputs::Line;
use crate::tpcc::schema::{CUSTOMERS, DISTRICTS, ITEMS};

/// Where a transaction takes place: a warehouse of a set of tables, drawn each time.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub set: usize,
    pub warehouse: u64,
    pub district: u64,
}

impl Place {
    pub fn draw(random: &mut impl Random, sets: u64, warehouses: u64) -> Self {
        Self {
            set: usize::try_from(random.below(sets)).unwrap_or(0),
            warehouse: between(random, 1, warehouses),
            district: between(random, 1, DISTRICTS),
        }
    }
}

/// Draws the customer of a New-Order.
pub fn customer(random: &mut impl Random, constants: &Constants) -> u64 {
    nurand(random, 1023, constants.customer, 1, CUSTOMERS)
}

/// Draws the lines of a New-Order, one of a hundred of them for an item that does not exist; whether any was meant to be
/// supplied by another warehouse.
///
/// tpcc-mysql puts that item last and then sorts; sysbench-tpcc puts it last but one and does not sort, and its search for
/// another warehouse ends with the same one.
pub fn draw_lines(
    tool: Tool,
    random: &mut impl Random,
    constants: &Constants,
    (home, warehouses): (u64, u64),
    lines: &mut Vec<Line>,
) -> bool {
    let count = between(random, 5, 15);
    let rolled_back = between(random, 1, 100) == 1;
    let mut remote = false;
    lines.clear();
    for _ in 0..count {
        let item = nurand(random, 8191, constants.item, 1, ITEMS);
        let elsewhere = between(random, 1, 100) == 1;
        remote |= elsewhere;
        let supply = match (tool, elsewhere) {
            (Tool::TpccMysql, true) => another(random, home, warehouses),
            _ => home,
        };
        let quantity = between(random, 1, 10);
        lines.push(Line {
            item,
            supply,
            quantity,
        });
    }
    if rolled_back {
        let at = match tool {
            Tool::TpccMysql => lines.len() - 1,
            Tool::SysbenchTpcc => lines.len() - 2,
        };
        lines[at].item = ITEMS + 1;
    }
    if tool == Tool::TpccMysql {
        lines.sort_unstable_by_key(|line| (line.supply, line.item));
    }
    remote
}

/// Any other warehouse; the same when there is no other.
pub fn another(random: &mut impl Random, home: u64, warehouses: u64) -> u64 {
    if warehouses == 1 {
        return home;
    }
    let other = between(random, 1, warehouses - 1);
    other + u64::from(other >= home)
}

/// Which of `namesakes` is taken, from 0: the middle one rounded up, in sysbench-tpcc the one after the middle when their
/// number is even.
pub const fn middle(tool: Tool, namesakes: usize) -> usize {
    match tool {
        Tool::TpccMysql => namesakes.div_ceil(2).saturating_sub(1),
        Tool::SysbenchTpcc => namesakes / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;

    fn drawn(tool: Tool) -> Vec<(Vec<Line>, bool)> {
        let constants = Constants {
            last: 1,
            customer: 2,
            item: 3,
        };
        let mut random = RowRandom::new(5, 5);
        let order = |_| {
            let mut lines = Vec::new();
            let remote = draw_lines(tool, &mut random, &constants, (2, 5), &mut lines);
            (lines, remote)
        };
        (0..20_000).map(order).collect()
    }

    #[test]
    fn sysbench_tpcc_supplies_everything_from_home_and_rolls_back_before_the_last_line() {
        let orders = drawn(Tool::SysbenchTpcc);
        let mut rolled_back = 0_u32;
        for (lines, _) in &orders {
            assert!(lines.iter().all(|line| line.supply == 2));
            if let Some(at) = lines.iter().position(|line| line.item > ITEMS) {
                assert_eq!(at, lines.len() - 2);
                rolled_back += 1;
            }
        }
        assert!(rolled_back.abs_diff(200) < 60, "{rolled_back}");
        assert!(orders.iter().any(|(_, remote)| *remote));
    }

    #[test]
    fn tpcc_mysql_sorts_lines_and_says_which_are_remote() {
        for (lines, remote) in drawn(Tool::TpccMysql) {
            assert!(lines.is_sorted_by_key(|line| (line.supply, line.item)));
            assert_eq!(remote, lines.iter().any(|line| line.supply != 2));
        }
    }

    #[test]
    fn the_middle_of_an_even_number_differs() {
        assert_eq!(
            [1, 2, 3, 4].map(|n| middle(Tool::TpccMysql, n)),
            [0, 0, 1, 1]
        );
        assert_eq!(
            [1, 2, 3, 4].map(|n| middle(Tool::SysbenchTpcc, n)),
            [0, 1, 1, 2]
        );
    }
}
