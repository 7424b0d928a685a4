//! Any answer to a statement. The first byte chooses the protocol; rows are decoded and every value asked for.
#![no_main]

use dyno_wire::columns::Columns;
use dyno_wire::frame::PacketBuffer;
use dyno_wire::response::{Response, Step};
use dyno_wire::row::Spans;
use dyno_wire::{BinaryRow, TextRow};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, mut rest)) = data.split_first() else { return };
    let (deprecate_eof, keep_columns, binary) = (choice & 1 != 0, choice & 2 != 0, choice & 4 != 0);
    let mut buffer = PacketBuffer::new(1 << 20);
    buffer.ignore_numbers();
    let mut response = Response::new(deprecate_eof, keep_columns);
    let mut columns = Columns::default();
    let mut spans = Spans::new();
    while !rest.is_empty() {
        let spare = buffer.spare();
        let count = spare.len().min(rest.len());
        spare[..count].copy_from_slice(&rest[..count]);
        buffer.filled(count);
        rest = &rest[count..];
        while let Ok(Some(range)) = buffer.next(&mut 0) {
            let packet = buffer.payload(range);
            match response.step(packet, &mut columns) {
                Ok(Step::Row) if binary => read_binary(packet, &columns, &mut spans),
                Ok(Step::Row) => read_text(packet, &columns, &mut spans),
                Ok(Step::More | Step::LocalInfile) => {}
                Ok(Step::Done) | Err(_) => return,
            }
        }
    }
});

fn read_text(packet: &[u8], columns: &Columns, spans: &mut Spans) {
    let Ok(row) = TextRow::decode(packet, columns, spans) else { return };
    for column in 0..=row.len() {
        let _ = (row.get_bytes(column), row.get_str(column), columns.name(column));
        let _ = (row.get_i64(column), row.get_u64(column), row.get_f64(column));
    }
}

fn read_binary(packet: &[u8], columns: &Columns, spans: &mut Spans) {
    let Ok(row) = BinaryRow::decode(packet, columns, spans) else { return };
    for column in 0..=row.len() {
        let _ = (row.get_bytes(column), row.get_str(column), columns.name(column));
        let _ = (row.get_i64(column), row.get_u64(column), row.get_f64(column));
    }
}
