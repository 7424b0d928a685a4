//! Prepared statements and how their executions are encoded.

use crate::error::{Error, Result};
use crate::value::{TYPE_UNKNOWN, Value};

/// A statement prepared on one connection. Plain data: clone it freely, use it on that connection only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The server's number for it.
    pub id: u32,
    /// How many parameters it takes.
    pub params: u16,
    /// How many columns its result has; 0 when it returns no rows.
    pub columns: u16,
    pub(crate) slot: u32,
}

pub(crate) const COM_STMT_EXECUTE: u8 = 0x17;

/// What a connection remembers of a statement: the parameter types that the server was told last. They are sent again
/// only when they change, as every client library does.
#[derive(Debug)]
pub(crate) struct BoundStatement {
    id: u32,
    types: Vec<u16>,
    types_sent: bool,
}

impl BoundStatement {
    pub(crate) fn new(id: u32, params: u16) -> Self {
        Self {
            id,
            types: vec![TYPE_UNKNOWN; usize::from(params)],
            types_sent: false,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The server may not have kept the types of a failed execution: send them with the next one.
    pub(crate) fn forget_types(&mut self) {
        self.types_sent = false;
    }

    /// Append a `COM_STMT_EXECUTE` payload.
    #[inline]
    pub(crate) fn put_execute(&mut self, out: &mut Vec<u8>, params: &[Value<'_>]) -> Result<()> {
        if params.len() != self.types.len() {
            return Err(wrong_count(params.len(), self.types.len()));
        }
        let [a, b, c, d] = self.id.to_le_bytes();
        // No cursor; the iteration count is always 1.
        out.extend_from_slice(&[COM_STMT_EXECUTE, a, b, c, d, 0, 1, 0, 0, 0]);
        if params.is_empty() {
            return Ok(());
        }
        let bitmap = out.len();
        out.resize(bitmap + params.len().div_ceil(8), 0);
        for (index, (param, known)) in params.iter().zip(&mut self.types).enumerate() {
            match param.binary_type() {
                None => out[bitmap + index / 8] |= 1 << (index % 8),
                Some(new) if new != *known => {
                    *known = new;
                    self.types_sent = false;
                }
                Some(_) => {}
            }
        }
        out.push(u8::from(!self.types_sent));
        if !self.types_sent {
            for parameter_type in &self.types {
                out.extend_from_slice(&parameter_type.to_le_bytes());
            }
            self.types_sent = true;
        }
        for param in params {
            param.put_binary(out);
        }
        Ok(())
    }
}

#[cold]
fn wrong_count(given: usize, taken: usize) -> Error {
    Error::Usage(format!(
        "{given} parameters given to a statement that takes {taken}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execute(statement: &mut BoundStatement, params: &[Value<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        statement.put_execute(&mut out, params).unwrap();
        out[10..].to_vec()
    }

    #[test]
    fn types_are_sent_once_and_after_a_change() {
        let mut statement = BoundStatement::new(1, 2);
        let values = [7, 0, 0, 0, 0, 0, 0, 0, 1, b'x'];
        let first = execute(&mut statement, &[Value::Int(7), "x".into()]);
        assert_eq!(first, [&[0, 1, 8, 0, 253, 0][..], &values].concat());
        let second = execute(&mut statement, &[Value::Int(7), "x".into()]);
        assert_eq!(second, [&[0, 0][..], &values].concat());
        let null = execute(&mut statement, &[Value::Int(7), Value::Null]);
        assert_eq!(null, [2, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        let unsigned = execute(&mut statement, &[Value::UInt(7), "x".into()]);
        assert_eq!(unsigned, [&[0, 1, 8, 0x80, 253, 0][..], &values].concat());
        statement.forget_types();
        let again = execute(&mut statement, &[Value::UInt(7), "x".into()]);
        assert_eq!(again, unsigned);
    }

    #[test]
    fn the_number_of_parameters_is_checked() {
        let error = BoundStatement::new(1, 2)
            .put_execute(&mut Vec::new(), &[])
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "0 parameters given to a statement that takes 2"
        );
    }
}
