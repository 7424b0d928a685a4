//! Single packets of any content.
#![no_main]

use dyno_wire::columns::Columns;
use dyno_wire::handshake::Handshake;
use dyno_wire::response::{parse_error, parse_ok};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|packet: &[u8]| {
    let _ = parse_ok(packet);
    let _ = Handshake::parse(packet);
    let _ = Columns::default().push(packet);
    if let Ok(error) = parse_error(packet) {
        // Replacement characters take three bytes for one.
        assert!(error.message.len() <= 3 * packet.len());
    }
});
