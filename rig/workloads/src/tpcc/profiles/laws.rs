//! What the rows of the profiles differ in. Everything else of the population is the same for all.

/// The laws of one profile's rows.
#[derive(Debug)]
pub struct Laws {
    /// C of the last names beyond the first thousand customers of a district.
    pub last_name_constant: u64,
    /// Of ten customers so many have bad credit.
    pub bad_credit_of_ten: u64,
    /// Which customer an order of the population belongs to.
    pub customers: OrderCustomers,
    /// Which order lines have an amount.
    pub amounts: Amounts,
    /// What one of ten items and rows of stock has in its data; nothing when empty.
    pub mark: &'static [u8],
    /// Bounds of taxes and discounts, in [`Laws::rate_step`].
    pub tax: [u64; 2],
    /// Upper bound of discounts, from 0.
    pub discount_max: u64,
    /// Of taxes and discounts, in ten-thousandths.
    pub rate_step: u64,
    /// How long strings without meaning are made.
    pub filler: Filler,
}

/// Which customer an order of the population belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderCustomers {
    /// A permutation of each district.
    Permutation,
    /// One permutation for all districts of a warehouse.
    WarehousePermutation,
    /// Order *i* belongs to a customer drawn from *i* to the last: a shuffle that loses what it swaps.
    AtLeastOrder,
}

/// Which order lines of the population have an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amounts {
    /// Those that are not delivered: 0.01 to 9999.99.
    Waiting,
    /// Those that are delivered: 0.10 to 100.00.
    Delivered,
}

/// How long strings without meaning are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// Each letter drawn.
    Letters,
    /// One letter, repeated: what compresses best.
    Repeated,
}

/// The specification's.
pub const STANDARD: Laws = Laws {
    last_name_constant: super::super::draw::LAST_LOADED,
    bad_credit_of_ten: 1,
    customers: OrderCustomers::Permutation,
    amounts: Amounts::Waiting,
    mark: b"ORIGINAL",
    tax: [0, 2000],
    discount_max: 5000,
    rate_step: 1,
    filler: Filler::Letters,
};

/// HammerDB's.
pub const HAMMERDB: Laws = Laws {
    last_name_constant: HAMMERDB_LAST,
    bad_credit_of_ten: 5,
    customers: OrderCustomers::AtLeastOrder,
    amounts: Amounts::Delivered,
    mark: b"original",
    tax: [10, 20],
    discount_max: 50,
    rate_step: 100,
    filler: Filler::Letters,
};

/// HammerDB has one C of the last names, for load and run.
pub const HAMMERDB_LAST: u64 = 123;

/// Those of sysbench-tpcc.
pub const SYSBENCH_TPCC: Laws = Laws {
    last_name_constant: super::super::draw::LAST_LOADED,
    bad_credit_of_ten: 1,
    customers: OrderCustomers::WarehousePermutation,
    amounts: Amounts::Waiting,
    mark: b"",
    tax: [0, 20],
    discount_max: 50,
    rate_step: 100,
    filler: Filler::Repeated,
};

/// Those of tpcc-mysql.
pub const TPCC_MYSQL: Laws = Laws {
    last_name_constant: super::super::draw::LAST_LOADED,
    bad_credit_of_ten: 5,
    customers: OrderCustomers::Permutation,
    amounts: Amounts::Delivered,
    mark: b"original",
    tax: [10, 20],
    discount_max: 50,
    rate_step: 100,
    filler: Filler::Letters,
};
