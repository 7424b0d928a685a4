//! Result sets, made up by a model and read back through the state machine.

use dyno_wire::columns::Columns;
use dyno_wire::cursor::put_lenenc;
use dyno_wire::response::{Response, STATUS_MORE_RESULTS, Step};
use dyno_wire::row::Spans;
use dyno_wire::{BinaryRow, Error, Outcome, TextRow};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Text(Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Tiny,
    UShort,
    Long,
    ULongLong,
    Double,
    VarString,
    Decimal,
}

impl Kind {
    fn type_and_flags(self) -> (u8, u16) {
        match self {
            Self::Tiny => (1, 0),
            Self::UShort => (2, 0x20),
            Self::Long => (3, 0),
            Self::ULongLong => (8, 0x20),
            Self::Double => (5, 0),
            Self::VarString => (253, 0),
            Self::Decimal => (246, 0),
        }
    }

    fn cell(self) -> BoxedStrategy<Cell> {
        let value = match self {
            Self::Tiny => any::<i8>()
                .prop_map(|value| Cell::Int(value.into()))
                .boxed(),
            Self::UShort => any::<u16>()
                .prop_map(|value| Cell::UInt(value.into()))
                .boxed(),
            Self::Long => any::<i32>()
                .prop_map(|value| Cell::Int(value.into()))
                .boxed(),
            Self::ULongLong => any::<u64>().prop_map(Cell::UInt).boxed(),
            Self::Double => (-1e9..1e9).prop_map(Cell::Double).boxed(),
            Self::VarString => prop::collection::vec(any::<u8>(), 0..600)
                .prop_map(Cell::Text)
                .boxed(),
            Self::Decimal => (-9999..9999_i32)
                .prop_map(|value| Cell::Text(format!("{value}.25").into_bytes()))
                .boxed(),
        };
        prop_oneof![1 => Just(Cell::Null), 4 => value].boxed()
    }

    fn put_binary(self, cell: &Cell, out: &mut Vec<u8>) {
        match (self, cell) {
            (_, Cell::Null) => {}
            (Self::Tiny, Cell::Int(value)) => out.extend_from_slice(&value.to_le_bytes()[..1]),
            (Self::Long, Cell::Int(value)) => out.extend_from_slice(&value.to_le_bytes()[..4]),
            (Self::UShort, Cell::UInt(value)) => out.extend_from_slice(&value.to_le_bytes()[..2]),
            (_, Cell::UInt(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Cell::Int(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Cell::Double(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (_, Cell::Text(text)) => {
                put_lenenc(out, text.len() as u64);
                out.extend_from_slice(text);
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Model {
    kinds: Vec<Kind>,
    rows: Vec<Vec<Cell>>,
}

fn model() -> impl Strategy<Value = Model> {
    let kind = prop::sample::select(vec![
        Kind::Tiny,
        Kind::UShort,
        Kind::Long,
        Kind::ULongLong,
        Kind::Double,
        Kind::VarString,
        Kind::Decimal,
    ]);
    prop::collection::vec(kind, 1..12).prop_flat_map(|kinds| {
        let row: Vec<_> = kinds.iter().map(|kind| kind.cell()).collect();
        prop::collection::vec(row, 0..6).prop_map(move |rows| Model {
            kinds: kinds.clone(),
            rows,
        })
    })
}

fn column_definition(name: &str, kind: Kind) -> Vec<u8> {
    let mut out = Vec::new();
    for text in ["def", "db", "t", "t", name, name] {
        put_lenenc(&mut out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    let (column_type, flags) = kind.type_and_flags();
    out.extend_from_slice(&[12, 45, 0, 11, 0, 0, 0, column_type]);
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&[0, 0, 0]);
    out
}

fn text_row(row: &[Cell]) -> Vec<u8> {
    let mut out = Vec::new();
    for cell in row {
        let text = match cell {
            Cell::Null => {
                out.push(0xfb);
                continue;
            }
            Cell::Int(value) => value.to_string().into_bytes(),
            Cell::UInt(value) => value.to_string().into_bytes(),
            Cell::Double(value) => value.to_string().into_bytes(),
            Cell::Text(text) => text.clone(),
        };
        put_lenenc(&mut out, text.len() as u64);
        out.extend_from_slice(&text);
    }
    out
}

fn binary_row(kinds: &[Kind], row: &[Cell]) -> Vec<u8> {
    let mut out = vec![0; 1 + (row.len() + 9) / 8];
    for (index, cell) in row.iter().enumerate() {
        if *cell == Cell::Null {
            out[1 + (index + 2) / 8] |= 1 << ((index + 2) % 8);
        }
    }
    for (kind, cell) in kinds.iter().zip(row) {
        kind.put_binary(cell, &mut out);
    }
    out
}

/// The packets of one result set.
fn packets(model: &Model, binary: bool, deprecate_eof: bool, status: u16) -> Vec<Vec<u8>> {
    let [low, high] = status.to_le_bytes();
    let mut count = Vec::new();
    put_lenenc(&mut count, model.kinds.len() as u64);
    let mut packets = vec![count];
    for (index, &kind) in model.kinds.iter().enumerate() {
        packets.push(column_definition(&format!("c{index}"), kind));
    }
    if !deprecate_eof {
        packets.push(vec![0xfe, 0, 0, low, high]);
    }
    packets.extend(model.rows.iter().map(|row| {
        if binary {
            binary_row(&model.kinds, row)
        } else {
            text_row(row)
        }
    }));
    packets.push(if deprecate_eof {
        vec![0xfe, 0, 0, low, high, 3, 0]
    } else {
        vec![0xfe, 3, 0, low, high]
    });
    packets
}

fn read_text(packet: &[u8], columns: &Columns, kinds: &[Kind]) -> dyno_wire::Result<Vec<Cell>> {
    let mut spans = Spans::new();
    let row = TextRow::decode(packet, columns, &mut spans)?;
    let cell = |(index, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Tiny | Kind::Long => row.get_i64(index)?.map_or(Cell::Null, Cell::Int),
            Kind::UShort | Kind::ULongLong => row.get_u64(index)?.map_or(Cell::Null, Cell::UInt),
            Kind::Double => row.get_f64(index)?.map_or(Cell::Null, Cell::Double),
            Kind::VarString | Kind::Decimal => row
                .get_bytes(index)?
                .map_or(Cell::Null, |bytes| Cell::Text(bytes.to_vec())),
        })
    };
    kinds.iter().enumerate().map(cell).collect()
}

fn read_binary(packet: &[u8], columns: &Columns, kinds: &[Kind]) -> dyno_wire::Result<Vec<Cell>> {
    let mut spans = Spans::new();
    let row = BinaryRow::decode(packet, columns, &mut spans)?;
    let cell = |(index, kind): (usize, &Kind)| {
        Ok(match kind {
            Kind::Tiny | Kind::Long => row.get_i64(index)?.map_or(Cell::Null, Cell::Int),
            Kind::UShort | Kind::ULongLong => row.get_u64(index)?.map_or(Cell::Null, Cell::UInt),
            Kind::Double => row.get_f64(index)?.map_or(Cell::Null, Cell::Double),
            Kind::VarString | Kind::Decimal => row
                .get_bytes(index)?
                .map_or(Cell::Null, |bytes| Cell::Text(bytes.to_vec())),
        })
    };
    kinds.iter().enumerate().map(cell).collect()
}

fn is_protocol<T>(result: &dyno_wire::Result<T>) -> bool {
    matches!(result, Err(Error::Protocol { .. }))
}

proptest! {
    /// Two result sets in one answer come back row by row, in every variant of the protocol.
    #[test]
    fn rows_round_trip(first in model(), second in model(), binary in any::<bool>(), deprecate_eof in any::<bool>()) {
        let mut response = Response::new(deprecate_eof, true);
        let mut columns = Columns::default();
        let models = [(&first, STATUS_MORE_RESULTS | 2), (&second, 2)];
        for (model, status) in models {
            let mut rows = Vec::new();
            let packets = packets(model, binary, deprecate_eof, status);
            let last = packets.len() - 1;
            for (index, packet) in packets.iter().enumerate() {
                let step = response.step(packet, &mut columns).unwrap();
                if step == Step::Row {
                    let read = if binary { read_binary } else { read_text };
                    rows.push(read(packet, &columns, &model.kinds).unwrap());
                }
                prop_assert_eq!(step == Step::Done, index == last && status & STATUS_MORE_RESULTS == 0);
            }
            prop_assert_eq!(&rows, &model.rows);
            prop_assert_eq!(columns.name(0), Some(&b"c0"[..]));
        }
        let rows = (first.rows.len() + second.rows.len()) as u64;
        let expected = Outcome { rows, result_sets: 2, warnings: 3, status: 2, ..Outcome::default() };
        prop_assert_eq!(response.outcome(), expected);
    }

    /// A row cut short, or with something after it, is an error and not a value.
    #[test]
    fn mutilated_rows_are_refused(model in model(), binary in any::<bool>(), cut in any::<prop::sample::Index>()) {
        let mut columns = Columns::default();
        for &kind in &model.kinds {
            columns.push(&column_definition("c", kind)).unwrap();
        }
        let read = if binary { read_binary } else { read_text };
        for row in &model.rows {
            let packet = if binary { binary_row(&model.kinds, row) } else { text_row(row) };
            let end = cut.index(packet.len());
            prop_assert!(is_protocol(&read(&packet[..end], &columns, &model.kinds)));
            let longer = [&packet[..], b"x"].concat();
            prop_assert!(is_protocol(&read(&longer, &columns, &model.kinds)));
        }
    }

    #[test]
    fn any_packets_are_survived(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..30),
        deprecate_eof in any::<bool>(),
    ) {
        let mut response = Response::new(deprecate_eof, true);
        let mut columns = Columns::default();
        let mut spans = Spans::new();
        for packet in &packets {
            match response.step(packet, &mut columns) {
                Ok(Step::Row) => {
                    let _ = TextRow::decode(packet, &columns, &mut spans);
                    let _ = BinaryRow::decode(packet, &columns, &mut spans);
                }
                Ok(Step::More) => {}
                _ => break,
            }
        }
    }
}

#[test]
fn an_error_in_the_middle_of_rows_is_the_servers() {
    let model = Model {
        kinds: vec![Kind::Long],
        rows: vec![vec![Cell::Int(1)]],
    };
    let mut response = Response::new(true, true);
    let mut columns = Columns::default();
    let mut all = packets(&model, false, true, 2);
    all.pop();
    for packet in &all {
        response.step(packet, &mut columns).unwrap();
    }
    let error = response
        .step(b"\xff\xbd\x04#40001Deadlock found", &mut columns)
        .unwrap_err();
    assert_eq!(error.code(), Some(1213));
    assert_eq!(
        error.to_string(),
        "server error 1213 (40001): Deadlock found"
    );
}

/// A text row whose first value is 16 MiB long begins like the end of a result does.
#[test]
fn a_huge_value_is_not_the_end() {
    let model = Model {
        kinds: vec![Kind::VarString],
        rows: vec![vec![Cell::Text(vec![b'x'; 1 << 24])]],
    };
    let mut response = Response::new(true, true);
    let mut columns = Columns::default();
    let steps: Vec<Step> = packets(&model, false, true, 2)
        .iter()
        .map(|packet| response.step(packet, &mut columns).unwrap())
        .collect();
    assert_eq!(steps, [Step::More, Step::More, Step::Row, Step::Done]);
}

#[test]
fn too_many_columns_are_refused() {
    let error = Response::new(true, true)
        .step(&[0xfd, 0, 0, 1], &mut Columns::default())
        .unwrap_err();
    assert!(
        error.to_string().contains("the header of a result"),
        "{error}"
    );
}
