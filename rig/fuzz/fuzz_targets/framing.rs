//! Any bytes, in reads of any size: packets or an error, and no more memory than was sent.
#![no_main]

use dyno_wire::frame::PacketBuffer;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 40 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((&piece, mut rest)) = data.split_first() else { return };
    let mut buffer = PacketBuffer::new(LIMIT);
    let mut sequence = 0;
    let mut received = 0;
    let mut delivered = 0;
    while !rest.is_empty() {
        let spare = buffer.spare();
        assert!(spare.len() <= 2 * received + (64 << 10), "more room than was earned");
        let count = spare.len().min(usize::from(piece) + 1).min(rest.len());
        spare[..count].copy_from_slice(&rest[..count]);
        buffer.filled(count);
        received += count;
        rest = &rest[count..];
        loop {
            match buffer.next(&mut sequence) {
                Ok(Some(range)) => delivered += buffer.payload(range).len(),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    assert!(delivered <= received);
});
