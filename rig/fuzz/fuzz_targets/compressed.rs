//! The compressed protocol. The first byte chooses the algorithm, the second the size of reads.
#![no_main]

use dyno_wire::Compression;
use dyno_wire::compress::Codec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, piece, bytes @ ..] = data else { return };
    let compression = if choice & 1 == 0 { Compression::Zlib } else { Compression::Zstd { level: 1 } };
    let Ok(Some(mut codec)) = Codec::new(compression) else { return };
    let mut buffer = [0; 4096];
    for chunk in bytes.chunks(usize::from(*piece) + 1) {
        codec.feed(chunk);
        while let Ok(1..) = codec.take(&mut buffer) {}
    }
});
