//! The bytes of a server that does not exist.

/// `payload` with its header.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// A greeting that names `plugin` and offers `capabilities`.
pub fn greeting_with(plugin: &str, capabilities: u32) -> Vec<u8> {
    let [a, b, c, d] = capabilities.to_le_bytes();
    let mut out = b"\x0a10.11.0-MariaDB-fake\0\x07\0\0\0".to_vec();
    out.extend_from_slice(b"12345678\0");
    out.extend_from_slice(&[a, b, 45, 2, 0, c, d, 21]);
    out.extend_from_slice(&[0; 10]);
    out.extend_from_slice(b"123456789012\0");
    out.extend_from_slice(plugin.as_bytes());
    out.push(0);
    out
}

/// `PROTOCOL_41`, `SECURE_CONNECTION`, `PLUGIN_AUTH`, `PLUGIN_AUTH_LENENC`, `DEPRECATE_EOF`.
pub const CAPABILITIES: u32 = 0x0128_8200;
/// An OK packet.
pub const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// The definition of a column `c` of type `INT`.
pub const COLUMN: &[u8] = b"\x03def\0\0\0\x01c\0\x0c\x2d\0\x0b\0\0\0\x03\0\0\0\0\0";
