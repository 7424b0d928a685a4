//! The JSON schema of a record line, derived from the types that write it.

use schemars::schema_for;

use crate::line::Line;

/// The JSON schema of one line of a record stream, pretty-printed, with a newline at the end.
///
/// # Panics
/// Never: a schema is plain JSON.
#[must_use]
pub fn schema_json() -> String {
    let mut schema = schema_for!(Line);
    schema.insert("title".into(), "Dyno record line".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_the_one_of_the_types() {
        let committed = include_str!("../../../docs/record.schema.json");
        assert!(
            committed == super::schema_json(),
            "docs/record.schema.json is old; run: dyno-rig schema > docs/record.schema.json"
        );
    }
}
