//! The stored procedures: what they are called, and how the server tells whether it has these and no others.

use crate::error::BuildError;
use crate::sql::{execute, literal, query, quoted};
use dyno_wire::Connection;

/// A stored procedure of the workload.
#[derive(Debug)]
pub struct Routine {
    pub name: &'static str,
    /// Parameters and body.
    text: &'static str,
}

/// All of them.
pub const ROUTINES: [Routine; 5] = [
    Routine {
        name: "tpcc_new_order",
        text: include_str!("new_order.sql"),
    },
    Routine {
        name: "tpcc_payment",
        text: include_str!("payment.sql"),
    },
    Routine {
        name: "tpcc_order_status",
        text: include_str!("order_status.sql"),
    },
    Routine {
        name: "tpcc_delivery",
        text: include_str!("delivery.sql"),
    },
    Routine {
        name: "tpcc_stock_level",
        text: include_str!("stock_level.sql"),
    },
];

/// What the comments of all versions begin with.
const MARK: &str = "dyno-rig ";

impl Routine {
    /// The comment under which the server keeps it: another text, another comment.
    pub fn version(&self) -> String {
        // FNV-1a
        let hash = self
            .text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!("{MARK}{hash:016x}")
    }

    /// The statements that make it, whatever was there under its name. `prefix` is empty or the database with its dot.
    pub fn make(&self, prefix: &str) -> [String; 2] {
        let (parameters, body) = self.text.split_once("\nBEGIN\n").unwrap_or_default();
        [
            format!("DROP PROCEDURE IF EXISTS {prefix}{}", self.name),
            format!(
                "CREATE PROCEDURE {prefix}{} {parameters} SQL SECURITY INVOKER COMMENT '{}'\nBEGIN\n{body}",
                self.name,
                self.version()
            ),
        ]
    }
}

/// Asks for names and comments of the procedures in a database, which is an SQL expression.
pub fn listing(database: &str) -> String {
    format!(
        "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA = {database} AND ROUTINE_TYPE = 'PROCEDURE'"
    )
}

/// Makes all of them in a database.
pub async fn make_all(connection: &mut Connection, database: &str) -> Result<(), BuildError> {
    let prefix = format!("{}.", quoted(database));
    for routine in &ROUTINES {
        for sql in routine.make(&prefix) {
            execute(
                connection,
                &sql,
                &format!("make procedure {}", routine.name),
            )
            .await?;
        }
    }
    Ok(())
}

/// Drops those that this program made, of whatever version; procedures of others that have such a name stay.
pub async fn drop_all(connection: &mut Connection, database: &str) -> Result<(), BuildError> {
    let sql = listing(&literal(database));
    for row in query(connection, &sql, "look for the procedures").await? {
        let [Some(name), Some(comment)] = row.as_slice() else {
            continue;
        };
        let ours = ROUTINES.iter().any(|routine| routine.name == name) && comment.starts_with(MARK);
        if ours {
            let sql = format!("DROP PROCEDURE {}.{}", quoted(database), quoted(name));
            execute(connection, &sql, &format!("drop procedure {name}")).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_make_procedures_of_their_own_version() {
        let mut versions: Vec<String> = ROUTINES.iter().map(Routine::version).collect();
        versions.dedup();
        assert_eq!(versions.len(), ROUTINES.len());
        for routine in &ROUTINES {
            let [drop, create] = routine.make("`a`.");
            assert_eq!(
                drop,
                format!("DROP PROCEDURE IF EXISTS `a`.{}", routine.name)
            );
            let head = format!("CREATE PROCEDURE `a`.{} (in_w INT, ", routine.name);
            assert!(create.starts_with(&head), "{create}");
            assert!(create.contains(&format!("COMMENT '{}'\nBEGIN\n", routine.version())));
            assert!(create.trim_end().ends_with("END"));
        }
    }
}
