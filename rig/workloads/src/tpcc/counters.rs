//! What is counted of the transactions beside their number, so that their shares can be held against the specification's.

use super::inputs::{Customer, Request};
use super::mix::Type;
use dyno_drive::Client;

/// Of New-Order: orders with an item that does not exist.
pub const ROLLED_BACK: usize = 0;
pub const LINES: usize = 1;
pub const REMOTE_LINES: usize = 2;
/// Of Payment.
pub const REMOTE: usize = 0;
pub const BY_NAME: usize = 1;
/// Of Order-Status.
pub const STATUS_BY_NAME: usize = 0;
/// Of Delivery: orders that were delivered, and districts where none waited.
pub const DELIVERED: usize = 0;
pub const SKIPPED: usize = 1;

/// Names of the counters of a type, in the order of their numbers.
pub const fn names(kind: Type) -> &'static [&'static str] {
    match kind {
        Type::NewOrder => &["rolled_back", "lines", "remote_lines"],
        Type::Payment => &["remote", "by_name"],
        Type::OrderStatus => &["by_name"],
        Type::Delivery => &["delivered", "skipped"],
        Type::StockLevel => &[],
    }
}

/// Counts what was asked; what came of it is counted by the shapes.
pub fn count(client: &mut Client, request: &Request<'_>) {
    let by_name = |customer| u64::from(matches!(customer, Customer::Name(_)));
    match request {
        Request::NewOrder(order) => {
            let remote = order
                .lines
                .iter()
                .filter(|line| line.supply != order.warehouse);
            client.count(LINES, order.lines.len() as u64);
            client.count(REMOTE_LINES, remote.count() as u64);
        }
        Request::Payment(payment) => {
            let remote = payment.customer_warehouse != payment.warehouse;
            client.count(REMOTE, remote.into());
            client.count(BY_NAME, by_name(payment.customer));
        }
        Request::OrderStatus(status) => client.count(STATUS_BY_NAME, by_name(status.customer)),
        Request::Delivery(_) | Request::StockLevel(_) => {}
    }
}
