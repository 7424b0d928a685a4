//! The rig's one clock.

use std::time::Instant;

/// `CLOCK_MONOTONIC` in nanoseconds, read through the vDSO without a system call. Every thread sees the same clock.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec; CLOCK_MONOTONIC always exists on Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The reading of [`now_ns`] at which `instant` is or was reached.
pub(crate) fn instant_ns(instant: Instant) -> u64 {
    let now = Instant::now();
    let now_ns = now_ns();
    let ahead = instant.saturating_duration_since(now);
    let behind = now.saturating_duration_since(instant);
    now_ns
        .saturating_add(duration_ns(ahead))
        .saturating_sub(duration_ns(behind))
}

/// A duration in nanoseconds, saturating (584 years).
pub(crate) fn duration_ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
