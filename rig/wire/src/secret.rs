//! A password that does not show itself.

use std::fmt;

/// Text that is never printed: its `Debug` form is a row of asterisks, and it has no `Display` form.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Keep `text` secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that must send it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_prints() {
        assert_eq!(
            format!("{:?}", Some(Secret::new("hunter2"))),
            "Some(Secret(***))"
        );
    }
}
