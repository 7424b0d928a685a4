//! A login against any server. The first byte chooses the options; packets are cut as on the wire.
#![no_main]

use dyno_wire::auth::{Auth, AuthStep, Channel};
use dyno_wire::frame::PacketBuffer;
use dyno_wire::handshake::{Handshake, capability_names};
use dyno_wire::{Address, ConnectOptions, Secret, TlsMode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut buffer = PacketBuffer::new(1 << 20);
    let mut packets = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let spare = buffer.spare();
        let count = spare.len().min(rest.len());
        spare[..count].copy_from_slice(&rest[..count]);
        buffer.filled(count);
        rest = &rest[count..];
        // Whatever the numbers are: what matters here is what is inside.
        buffer.ignore_numbers();
        while let Ok(Some(range)) = buffer.next(&mut 0) {
            packets.push(buffer.payload(range).to_vec());
        }
    }
    login(choice, &packets);
});

fn login(choice: u8, packets: &[Vec<u8>]) {
    let Some((greeting, packets)) = packets.split_first() else { return };
    let Ok(handshake) = Handshake::parse(greeting) else { return };
    let mut options = ConnectOptions::new(Address::Unix("fuzz".into()), "user");
    options.tls = if choice & 1 == 0 { TlsMode::Off } else { TlsMode::Required };
    if let Ok(capabilities) = handshake.negotiate(&options) {
        assert!(capability_names(capabilities).len() <= 32);
    }
    let channel = match choice >> 1 & 3 {
        0 => Channel::Open,
        1 => Channel::Local,
        _ => Channel::Encrypted,
    };
    let password = (choice & 0x80 == 0).then(|| Secret::new("password"));
    let mut auth = Auth::new(&handshake.auth_plugin, &handshake.nonce, password, channel);
    auth.answer();
    for packet in packets {
        if matches!(auth.step(packet), Ok(AuthStep::Done) | Err(_)) {
            break;
        }
    }
}
