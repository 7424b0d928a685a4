//! Rows as bytes, in either of the two forms that servers take in bulk.

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fields between tabs, rows between newlines, escaped by backslashes: what LOAD DATA reads by default.
    Tabbed,
    /// Rows as lists of SQL literals, with commas between: the tail of an INSERT.
    Literals,
}

/// Appends rows to a buffer, field by field.
#[derive(Debug)]
pub struct RowWriter<'a> {
    out: &'a mut Vec<u8>,
    form: Form,
    rows: u64,
    at_row_start: bool,
}

impl<'a> RowWriter<'a> {
    /// A writer that appends to `out`.
    #[must_use]
    pub const fn new(out: &'a mut Vec<u8>, form: Form) -> Self {
        Self {
            out,
            form,
            rows: 0,
            at_row_start: true,
        }
    }

    /// How many rows were ended.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// How long the buffer is by now, with what it held before.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.out.len()
    }

    /// A whole number.
    #[inline]
    pub fn integer(&mut self, number: impl itoa::Integer) {
        self.begin_field();
        self.out
            .extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    /// A string, a decimal number or a time, in ASCII.
    ///
    /// # Panics
    /// In debug builds, when it is not ASCII: servers are told that it is.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        debug_assert!(text.is_ascii(), "{}", String::from_utf8_lossy(text));
        self.begin_field();
        if self.form == Form::Literals {
            self.out.push(b'\'');
        }
        // one look over the bytes is cheap, and nearly no text of a benchmark has anything to escape
        if text.iter().any(|&byte| escape(byte).is_some()) {
            self.escaped(text);
        } else {
            self.out.extend_from_slice(text);
        }
        if self.form == Form::Literals {
            self.out.push(b'\'');
        }
    }

    /// SQL NULL.
    pub fn null(&mut self) {
        self.begin_field();
        self.out.extend_from_slice(match self.form {
            Form::Tabbed => b"\\N",
            Form::Literals => b"NULL",
        });
    }

    /// The row is complete.
    #[inline]
    pub fn end_row(&mut self) {
        self.out.push(match self.form {
            Form::Tabbed => b'\n',
            Form::Literals => b')',
        });
        self.at_row_start = true;
        self.rows += 1;
    }

    #[inline]
    fn begin_field(&mut self) {
        match (self.form, self.at_row_start) {
            (Form::Tabbed, true) => {}
            (Form::Tabbed, false) => self.out.push(b'\t'),
            (Form::Literals, true) if self.rows > 0 => self.out.extend_from_slice(b",("),
            (Form::Literals, true) => self.out.push(b'('),
            (Form::Literals, false) => self.out.push(b','),
        }
        self.at_row_start = false;
    }

    #[cold]
    fn escaped(&mut self, text: &[u8]) {
        for &byte in text {
            match escape(byte) {
                Some(letter) => self.out.extend_from_slice(&[b'\\', letter]),
                None => self.out.push(byte),
            }
        }
    }
}

/// The letter after the backslash, for the bytes that one form or the other needs escaped. Both read all of them alike.
const fn escape(byte: u8) -> Option<u8> {
    match byte {
        b'\\' | b'\'' => Some(byte),
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        0 => Some(b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: Form) -> String {
        let mut out = Vec::new();
        let mut writer = RowWriter::new(&mut out, form);
        writer.integer(-7_i64);
        writer.text(b"12-34");
        writer.end_row();
        writer.null();
        writer.text(b"it's\ta \\ \n\r\0");
        writer.end_row();
        assert_eq!(writer.rows(), 2);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_for_load_data() {
        assert_eq!(
            written(Form::Tabbed),
            "-7\t12-34\n\\N\tit\\'s\\ta \\\\ \\n\\r\\0\n"
        );
    }

    #[test]
    fn rows_for_insert() {
        assert_eq!(
            written(Form::Literals),
            "(-7,'12-34'),(NULL,'it\\'s\\ta \\\\ \\n\\r\\0')"
        );
    }
}
