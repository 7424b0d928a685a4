//! Parameters of statements that name many rows, without memory of the heap.

use dyno_drive::Value;

/// At most `N` parameters.
pub struct Values<'a, const N: usize> {
    values: [Value<'a>; N],
    len: usize,
}

impl<'a, const N: usize> Values<'a, N> {
    pub const fn new() -> Self {
        Self {
            values: [Value::Null; N],
            len: 0,
        }
    }

    /// Appends some.
    ///
    /// # Panics
    /// When there are more than `N` in all.
    pub fn add<const M: usize>(&mut self, more: [Value<'a>; M]) {
        self.values[self.len..self.len + M].copy_from_slice(&more);
        self.len += M;
    }

    pub fn as_slice(&self) -> &[Value<'a>] {
        &self.values[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order() {
        let mut values = Values::<4>::new();
        values.add([Value::UInt(1), Value::Int(-2)]);
        values.add([Value::Bytes(b"x")]);
        let expected = [Value::UInt(1), Value::Int(-2), Value::Bytes(b"x")];
        assert_eq!(values.as_slice(), expected);
    }
}
