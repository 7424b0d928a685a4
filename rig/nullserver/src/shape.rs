//! What a statement's answer looks like, from its text alone.
//!
//! No parser of SQL: it knows as much as the statements of benchmarks need. What it does not know gets an
//! answer that is still valid protocol.

use crate::protocol::{Cell, Column, ColumnType, SERVER_VERSION};

/// Rows that a range of the OLTP workloads returns (`range_size`'s default).
const RANGE_ROWS: u32 = 100;
/// Customers that share a last name, in the middle of which TPC-C looks.
const NAMESAKES: u32 = 3;

/// A statement, understood as far as needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub params: u16,
    pub answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done {
        affected_rows: u64,
    },
    Rows {
        columns: Vec<Column>,
        rows: u32,
    },
    /// LOAD DATA LOCAL: the client is to send this file.
    Infile {
        file: Vec<u8>,
    },
}

/// A word of SQL, its values taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Keyword, name, or a system variable with its `@@`.
    Word(&'a [u8]),
    /// A number or a string.
    Literal(&'a [u8]),
    /// `?`
    Param,
    Sign(u8),
}

impl Token<'_> {
    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn is_value(&self) -> bool {
        matches!(self, Token::Literal(_) | Token::Param)
    }
}

/// Splits SQL into tokens, without comments and white space.
pub(crate) struct Tokens<'a> {
    sql: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(sql: &'a [u8]) -> Self {
        Self { sql, at: 0 }
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.sql.get(self.at).is_some_and(|&byte| keep(byte)) {
            self.at += 1;
        }
    }

    /// Past the end of a comment that begins here, if one does.
    fn skip_comment(&mut self) -> bool {
        let rest = &self.sql[self.at..];
        if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            self.at += end.map_or(rest.len(), |end| end + 4);
        } else if rest.starts_with(b"-- ") || rest.starts_with(b"#") {
            self.skip_while(|byte| byte != b'\n');
        } else {
            return false;
        }
        true
    }

    /// Past the string whose opening quote is here; a quote is escaped by a backslash or by doubling.
    fn skip_string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.sql.get(self.at) {
            self.at += 1;
            if byte == b'\\' && quote != b'`' {
                self.at = (self.at + 1).min(self.sql.len());
            } else if byte == quote {
                if self.sql.get(self.at) != Some(&quote) {
                    return;
                }
                self.at += 1;
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace());
            if self.at >= self.sql.len() || !self.skip_comment() {
                break;
            }
        }
        let start = self.at;
        let first = *self.sql.get(start)?;
        Some(match first {
            b'\'' | b'"' => {
                self.skip_string(first);
                Token::Literal(&self.sql[start..self.at])
            }
            b'`' => {
                self.skip_string(first);
                Token::Word(self.sql[start..self.at].trim_ascii())
            }
            b'0'..=b'9' => {
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
                Token::Literal(&self.sql[start..self.at])
            }
            b'?' => {
                self.at += 1;
                Token::Param
            }
            _ if is_word(first) => {
                // a qualified name is one word
                self.skip_while(|byte| is_word(byte) || byte == b'.');
                Token::Word(&self.sql[start..self.at])
            }
            _ => {
                self.at += 1;
                Token::Sign(first)
            }
        })
    }
}

/// A number that two texts share when they differ only in their values, so that one answer serves both.
pub(crate) fn fingerprint(sql: &[u8]) -> u64 {
    // FNV-1a
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for token in Tokens::new(sql) {
        match token {
            Token::Word(word) => word.iter().for_each(|&byte| add(byte)),
            Token::Literal(_) => add(b'0'),
            Token::Param => add(b'?'),
            Token::Sign(sign) => add(sign),
        }
        add(b' ');
    }
    hash
}

/// Finds out what `sql` is answered with.
pub(crate) fn parse(sql: &[u8]) -> Statement {
    let tokens: Vec<Token<'_>> = Tokens::new(sql).collect();
    let params = tokens
        .iter()
        .filter(|token| **token == Token::Param)
        .count();
    Statement {
        params: u16::try_from(params).unwrap_or(u16::MAX),
        answer: answer(&tokens),
    }
}

fn answer(tokens: &[Token<'_>]) -> Answer {
    let verb = tokens.iter().find_map(|token| match token {
        Token::Word(word) => Some(word.to_ascii_lowercase()),
        _ => None,
    });
    match verb.as_deref() {
        Some(b"select" | b"with" | b"values") => select(tokens),
        Some(b"show") => show(tokens),
        Some(
            b"explain" | b"describe" | b"desc" | b"check" | b"analyze" | b"optimize" | b"checksum",
        ) => texts(&["Table", "Op", "Msg_type", "Msg_text"]),
        Some(b"insert" | b"replace") => Answer::Done {
            affected_rows: inserted(tokens),
        },
        Some(b"update" | b"delete") => Answer::Done {
            affected_rows: touched(tokens).into(),
        },
        Some(b"load") => load(tokens),
        Some(b"call") => called(),
        _ => Answer::Done { affected_rows: 0 },
    }
}

/// A result set of text columns without rows.
fn texts(names: &[&str]) -> Answer {
    let column = |name: &&str| Column {
        name: (*name).into(),
        kind: ColumnType::Char(64),
    };
    Answer::Rows {
        columns: names.iter().map(column).collect(),
        rows: 0,
    }
}

/// What a stored procedure sends back: one row, a number.
fn called() -> Answer {
    let column = Column {
        name: "o_id".into(),
        kind: ColumnType::Int,
    };
    Answer::Rows {
        columns: vec![column],
        rows: 1,
    }
}

fn show(tokens: &[Token<'_>]) -> Answer {
    if tokens
        .iter()
        .any(|token| token.is("warnings") || token.is("errors"))
    {
        texts(&["Level", "Code", "Message"])
    } else {
        texts(&["Variable_name", "Value"])
    }
}

/// Tuples after VALUES.
fn inserted(tokens: &[Token<'_>]) -> u64 {
    let values = tokens
        .iter()
        .skip_while(|token| !token.is("values") && !token.is("value"));
    let mut depth = 0_u32;
    let mut tuples = 0;
    for token in values {
        match token {
            Token::Sign(b'(') => {
                tuples += u64::from(depth == 0);
                depth += 1;
            }
            Token::Sign(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    tuples.max(1)
}

/// Rows that a WHERE names: one a value of an IN list, a hundred a range, else one for each alternative.
fn touched(tokens: &[Token<'_>]) -> u32 {
    if let Some(at) = tokens.iter().position(|token| token.is("in")) {
        return listed(&tokens[at + 1..]);
    }
    if tokens.iter().any(|token| token.is("between")) {
        return RANGE_ROWS;
    }
    let more = tokens.iter().filter(|token| token.is("or")).count();
    u32::try_from(1 + more).unwrap_or(u32::MAX)
}

/// Elements of the list in parentheses that begins here; an element may be a tuple.
fn listed(tokens: &[Token<'_>]) -> u32 {
    let (mut depth, mut elements) = (0_u32, 0_u32);
    for token in tokens {
        match token {
            Token::Sign(b'(') => {
                depth += 1;
                elements += u32::from(depth == 2);
            }
            Token::Sign(b')') => depth = depth.saturating_sub(1),
            value if value.is_value() => elements += u32::from(depth == 1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    elements.max(1)
}

fn load(tokens: &[Token<'_>]) -> Answer {
    let local = tokens.iter().any(|token| token.is("local"));
    let file = tokens
        .iter()
        .skip_while(|token| !token.is("infile"))
        .find_map(|token| match token {
            Token::Literal(quoted) if quoted.len() >= 2 => {
                Some(quoted[1..quoted.len() - 1].to_vec())
            }
            _ => None,
        });
    match file {
        Some(file) if local => Answer::Infile { file },
        _ => Answer::Done { affected_rows: 0 },
    }
}

fn select(tokens: &[Token<'_>]) -> Answer {
    let from = tokens
        .iter()
        .position(|token| token.is("from"))
        .unwrap_or(tokens.len());
    let start = tokens
        .iter()
        .position(|token| token.is("select"))
        .map_or(0, |at| at + 1);
    let list = &tokens[start.min(from)..from];
    let items = split_items(list);
    let mut columns: Vec<Column> = items.iter().flat_map(|item| columns_of(item)).collect();
    if columns.is_empty() {
        columns.push(Column {
            name: "dyno".into(),
            kind: ColumnType::Char(16),
        });
    }
    let aggregate = items.iter().all(|item| is_aggregate(item));
    let tail = &tokens[from..];
    let schema = tail.iter().any(
        |token| matches!(token, Token::Word(word) if starts_with(word, b"information_schema")),
    );
    let rows = if tail.is_empty() || aggregate {
        1
    } else if schema {
        0
    } else {
        limit(tail).min(if by_last_name(tail) {
            NAMESAKES
        } else {
            touched(tail)
        })
    };
    Answer::Rows { columns, rows }
}

fn starts_with(word: &[u8], prefix: &[u8]) -> bool {
    word.len() >= prefix.len() && word[..prefix.len()].eq_ignore_ascii_case(prefix)
}

fn by_last_name(tail: &[Token<'_>]) -> bool {
    tail.windows(3)
        .any(|three| three[0].is("c_last") && three[1] == Token::Sign(b'=') && three[2].is_value())
}

fn limit(tail: &[Token<'_>]) -> u32 {
    let at = tail.iter().position(|token| token.is("limit"));
    match at.and_then(|at| tail.get(at + 1)) {
        Some(Token::Literal(number)) => std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(u32::MAX),
        _ => u32::MAX,
    }
}

/// The expressions of a select list, split at its outer commas; DISTINCT is no part of the first.
fn split_items<'t, 'a>(list: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let list = match list.first() {
        Some(first) if first.is("distinct") || first.is("all") => &list[1..],
        _ => list,
    };
    let mut depth = 0_u32;
    let outer_comma = |token: &Token<'_>| {
        match token {
            Token::Sign(b'(') => depth += 1,
            Token::Sign(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Sign(b',')
    };
    list.split(outer_comma)
        .filter(|item| !item.is_empty())
        .collect()
}

fn is_aggregate(item: &[Token<'_>]) -> bool {
    let called = item.get(1) == Some(&Token::Sign(b'('));
    called
        && ["count", "sum", "avg", "min", "max"]
            .iter()
            .any(|name| item[0].is(name))
}

/// The columns an expression stands for: one, except `*`.
fn columns_of(item: &[Token<'_>]) -> Vec<Column> {
    if item == [Token::Sign(b'*')] {
        return ["id", "k", "c", "pad"]
            .into_iter()
            .map(|name| Column {
                name: name.into(),
                kind: kind_of(name),
            })
            .collect();
    }
    let name = expression_name(item);
    let kind = match item {
        [Token::Literal(value)] if value[0].is_ascii_digit() => ColumnType::BigInt,
        [first, Token::Sign(b'('), ..] if first.is("count") => ColumnType::BigInt,
        [first, Token::Sign(b'('), ..] if first.is("sum") || first.is("avg") => ColumnType::Decimal,
        [first, Token::Sign(b'('), Token::Word(inner), ..]
            if first.is("min") || first.is("max") =>
        {
            kind_of(&unqualified(inner))
        }
        [Token::Word(word), ..] => kind_of(&unqualified(word)),
        _ => ColumnType::Char(16),
    };
    vec![Column { name, kind }]
}

/// The name after AS, or else the expression as it stands.
fn expression_name(item: &[Token<'_>]) -> String {
    if let [.., word, Token::Word(alias)] = item
        && word.is("as")
    {
        return unqualified(alias);
    }
    if let [Token::Word(word)] = item {
        return unqualified(word);
    }
    let text = |token: &Token<'_>| match token {
        Token::Word(text) | Token::Literal(text) => String::from_utf8_lossy(text).into_owned(),
        Token::Param => "?".to_owned(),
        Token::Sign(sign) => char::from(*sign).to_string(),
    };
    item.iter().map(text).collect()
}

/// `t.c` and `` `c` `` are `c`; the dots of a system variable are its own.
fn unqualified(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word).replace('`', "");
    if text.starts_with('@') {
        return text;
    }
    text.rsplit('.').next().unwrap_or(&text).to_owned()
}

/// The type of a column, from the names that the OLTP and TPC-C schemas use.
fn kind_of(name: &str) -> ColumnType {
    let name = name.to_ascii_lowercase();
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    match name.as_str() {
        "c" => ColumnType::Char(120),
        "pad" => ColumnType::Char(60),
        "id" | "k" => ColumnType::Int,
        "c_data" => ColumnType::Char(500),
        "c_since" | "h_date" => ColumnType::Datetime,
        "@@version" | "@@version_comment" | "@@global.version" => ColumnType::Char(64),
        _ if name.starts_with("@@") => ColumnType::BigInt,
        _ if ends(&["_entry_d", "_delivery_d"]) => ColumnType::Datetime,
        _ if ends(&[
            "_tax",
            "_discount",
            "_balance",
            "_ytd",
            "_price",
            "_amount",
            "_credit_lim",
            "_ytd_payment",
        ]) =>
        {
            ColumnType::Decimal
        }
        _ if ends(&["_id", "_cnt", "_quantity", "_number", "_local"]) => ColumnType::Int,
        _ => ColumnType::Char(24),
    }
}

/// The value of `column` in row `row` (from 0).
pub(crate) fn cell(column: &Column, row: u32) -> Cell {
    match column.kind {
        ColumnType::Int => Cell::Number(if column.name == "k" { 5000 } else { row + 1 }),
        ColumnType::BigInt => Cell::Number(system_value(&column.name)),
        ColumnType::Decimal => Cell::Text(b"500.00".to_vec()),
        ColumnType::Datetime => Cell::Day { month: 11, day: 20 },
        ColumnType::Char(_) if column.name.to_ascii_lowercase().contains("version") => {
            Cell::Text(SERVER_VERSION.into())
        }
        ColumnType::Char(120) => Cell::Text(digit_groups(10, row)),
        ColumnType::Char(60) => Cell::Text(digit_groups(5, row)),
        ColumnType::Char(length) => Cell::Text(vec![b'd'; usize::from(length / 2)]),
    }
}

/// A literal is its own value; system variables that clients ask for have the values that stop nobody.
fn system_value(name: &str) -> u32 {
    let lower = name.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    if let Ok(number) = name.parse() {
        number
    } else if has("max_allowed_packet") {
        64 << 20
    } else if has("max_connections") || has("max_prepared_stmt_count") {
        1_000_000
    } else if has("count(") {
        RANGE_ROWS
    } else {
        1
    }
}

/// `groups` groups of 11 digits, joined by `-`: the shape of the OLTP tables' texts.
fn digit_groups(groups: usize, row: u32) -> Vec<u8> {
    let group = format!(
        "{:011}",
        10_000_000_019_u64 * u64::from(row % 9 + 1) % 100_000_000_000
    );
    vec![group; groups].join("-").into_bytes()
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
