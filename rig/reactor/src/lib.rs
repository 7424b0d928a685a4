//! One thread, one epoll, one timerfd, many tasks.
//!
//! A load generator must cost next to nothing beside the engine that it measures. This executor therefore knows only
//! what a session needs: sockets, timers and a way for tasks of one thread to wake each other. It takes no lock, does
//! not allocate after a task was spawned, and keeps no waker: an epoll event names a socket, the socket names the task
//! that waits for it, and that task is polled.
//!
//! The economy of system calls is part of the contract. A session that sends a request and reads its answer costs one
//! `send`, one `recv` and a share of one `epoll_wait`: sockets are registered once, edge-triggered; [`Stream::read`]
//! never tries before the kernel reported data and never asks again after a short read.
//!
//! Futures of this crate wake the task that polled them last, not a [`std::task::Waker`]. A combinator that polls its
//! children on every wake-up (`select`, `join` by `poll_fn`, [`timeout`]) works; one that keeps wakers of its own, such
//! as `FuturesUnordered`, does not.

mod address;
mod clock;
mod cpu;
mod executor;
mod listener;
mod sources;
mod stream;
mod sync;
mod sys;
mod time;
mod timers;

pub use address::{Address, Endpoint};
pub use clock::now_ns;
pub use cpu::{allowed_cpus, pin_current_thread};
pub use executor::{Reactor, block_on, spawn, yield_now};
pub use listener::Listener;
pub use stream::Stream;
pub use sync::{Notify, Signal};
pub use time::{Elapsed, sleep, sleep_until, sleep_until_ns, timeout};
