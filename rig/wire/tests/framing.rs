//! Framing: whatever is sent arrives as it was, however the network cuts it.

use dyno_wire::frame::{PART_BYTES_MAX, PacketBuffer, begin, finish};
use proptest::prelude::*;

const LIMIT: usize = 64 << 20;

fn frame(payload: &[u8], sequence: &mut u8, out: &mut Vec<u8>) {
    let mut packet = Vec::new();
    begin(&mut packet);
    packet.extend_from_slice(payload);
    *sequence = finish(&mut packet, *sequence);
    out.extend_from_slice(&packet);
}

/// Feed `wire` in pieces of at most `piece` bytes and collect the payloads.
fn receive(wire: &[u8], piece: usize, limit: usize) -> dyno_wire::Result<Vec<Vec<u8>>> {
    let mut buffer = PacketBuffer::new(limit);
    let mut sequence = 0;
    let mut payloads = Vec::new();
    let mut rest = wire;
    loop {
        while let Some(range) = buffer.next(&mut sequence)? {
            payloads.push(buffer.payload(range).to_vec());
        }
        if rest.is_empty() {
            assert!(payloads.len() < 1000);
            return Ok(payloads);
        }
        let spare = buffer.spare();
        let count = spare.len().min(piece).min(rest.len());
        assert_ne!(count, 0, "there is always room to read");
        spare[..count].copy_from_slice(&rest[..count]);
        buffer.filled(count);
        rest = &rest[count..];
    }
}

proptest! {
    #[test]
    fn round_trip(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6000), 0..12),
        piece in 1..10_000_usize,
    ) {
        let mut wire = Vec::new();
        let mut sequence = 0;
        for payload in &payloads {
            frame(payload, &mut sequence, &mut wire);
        }
        prop_assert_eq!(receive(&wire, piece, LIMIT).unwrap(), payloads);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1..50_usize) {
        let _ = receive(&bytes, piece, 1000);
    }
}

/// A payload that fills its last packet to the brim is ended by an empty packet.
#[test]
fn long_payloads_are_cut_and_joined() {
    for length in [
        PART_BYTES_MAX - 1,
        PART_BYTES_MAX,
        PART_BYTES_MAX + 1,
        2 * PART_BYTES_MAX,
        2 * PART_BYTES_MAX + 7,
    ] {
        let long: Vec<u8> = (0..length)
            .map(|index| (index % 251).to_le_bytes()[0])
            .collect();
        let payloads = [b"before".to_vec(), long, b"after".to_vec()];
        let mut wire = Vec::new();
        let mut sequence = 250;
        for payload in &payloads {
            frame(payload, &mut sequence, &mut wire);
        }
        let parts = length / PART_BYTES_MAX + 1;
        assert_eq!(wire.len(), 11 + length + 4 * (parts + 2));
        let mut wire_from_zero = Vec::new();
        let mut sequence = 0;
        for payload in &payloads {
            frame(payload, &mut sequence, &mut wire_from_zero);
        }
        for piece in [100_000, usize::MAX] {
            assert!(
                receive(&wire_from_zero, piece, LIMIT).unwrap() == payloads,
                "{length} bytes in pieces of {piece}"
            );
        }
    }
}

#[test]
fn a_wrong_number_is_refused() {
    let error = receive(&[1, 0, 0, 3, b'x'], 9, LIMIT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "protocol violation: packet number 3 where 0 was due"
    );
}

#[test]
fn a_packet_beyond_the_limit_is_refused_before_it_arrives() {
    let error = receive(&[0xe9, 3, 0, 0], 9, 1000).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("1001 bytes or more, the limit is 1000"),
        "{error}"
    );
    // The first part of several is already too much.
    let error = receive(&[0xff, 0xff, 0xff, 0], 9, 1000).unwrap_err();
    assert!(error.to_string().contains("the limit is 1000"), "{error}");
}

/// Memory follows what was received, not what was announced.
#[test]
fn an_announcement_alone_takes_no_memory() {
    let mut buffer = PacketBuffer::new(LIMIT);
    let spare = buffer.spare();
    spare[..5].copy_from_slice(&[0xfe, 0xff, 0xff, 0, 1]);
    buffer.filled(5);
    assert!(buffer.next(&mut 0).unwrap().is_none());
    assert!(buffer.spare().len() < 100_000);
}
