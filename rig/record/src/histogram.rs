//! Latency histograms: their one shape, and their text form (`HdrHistogram` V2, deflated, base64).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Significant decimal digits of every histogram: a relative error of at most 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;
/// The highest latency that is told apart, in nanoseconds: one hour. Longer ones count as this.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// A text that is not a histogram of this format.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("a latency is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The bytes are not a deflated V2 histogram.
    #[error("a latency is not a deflated HdrHistogram V2: {0}")]
    Format(String),
}

/// An empty histogram of nanoseconds with the shape of every latency in a record stream.
///
/// # Panics
/// Never: the bounds are constants that the library accepts.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("constant bounds are valid")
}

/// Turns histograms into text. Holds the scratch buffers, so that a collector encodes without growing memory.
#[derive(Default)]
pub struct HistogramCodec {
    serializer: V2DeflateSerializer,
    bytes: Vec<u8>,
}

impl HistogramCodec {
    /// The text of a histogram, or `None` when it is empty.
    ///
    /// # Panics
    /// Never in practice: writing into memory does not fail.
    pub fn encode(&mut self, histogram: &Histogram<u64>) -> Option<String> {
        if histogram.is_empty() {
            return None;
        }
        self.bytes.clear();
        self.serializer
            .serialize(histogram, &mut self.bytes)
            .expect("a histogram is written into memory");
        Some(BASE64.encode(&self.bytes))
    }
}

/// The histogram of a text that [`HistogramCodec::encode`] made.
pub fn decode_histogram(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = BASE64.decode(text)?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| HistogramError::Format(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_is_null() {
        assert_eq!(HistogramCodec::default().encode(&new_histogram()), None);
    }

    #[test]
    fn the_text_is_the_exchange_format() {
        let mut h = new_histogram();
        h.record(1_500_000).unwrap();
        let text = HistogramCodec::default().encode(&h).unwrap();
        assert!(text.starts_with("HISTFAAA"), "{text}");
    }

    #[test]
    fn damaged_texts_are_errors() {
        assert!(matches!(
            decode_histogram("?"),
            Err(HistogramError::Base64(_))
        ));
        assert!(matches!(
            decode_histogram("AAAA"),
            Err(HistogramError::Format(_))
        ));
    }

    proptest! {
        #[test]
        fn encoding_loses_nothing(values in prop::collection::vec(1..HIGHEST_NS, 1..200)) {
            let mut h = new_histogram();
            for v in &values { h.saturating_record(*v); }
            let text = HistogramCodec::default().encode(&h).unwrap();
            let back = decode_histogram(&text).unwrap();
            prop_assert_eq!(back, h);
        }

        #[test]
        fn merging_is_adding(a in prop::collection::vec(1..HIGHEST_NS, 0..100), b in prop::collection::vec(1..HIGHEST_NS, 0..100)) {
            let (mut ha, mut hb, mut both) = (new_histogram(), new_histogram(), new_histogram());
            for v in &a { ha.saturating_record(*v); both.saturating_record(*v); }
            for v in &b { hb.saturating_record(*v); both.saturating_record(*v); }
            ha.add(&hb).unwrap();
            prop_assert_eq!(ha, both);
        }
    }
}
