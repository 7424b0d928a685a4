//! What the whole machine did: processors, memory, disks and networks, from `/proc`.
//!
//! Parsing is apart from reading, so that the texts of other kernels can be tested.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use dyno_record::{CpuSample, DiskSample, Host, MemorySample, NetworkSample};
use procfs::FromBufRead;

/// The unit of `/proc/diskstats`, whatever the device's own sector size is.
const SECTOR_BYTES: u64 = 512;

/// Everything one sample reads: memory levels of the moment, and counters since boot. The counters come in the
/// records' own types, which hold their differences later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostReading {
    cpus: BTreeMap<usize, CpuSample>,
    context_switches: u64,
    memory: MemorySample,
    disks: BTreeMap<String, DiskSample>,
    networks: BTreeMap<String, NetworkSample>,
}

/// The texts of the four files a reading is made of.
pub(crate) struct HostTexts<'a> {
    pub stat: &'a str,
    pub meminfo: &'a str,
    pub diskstats: &'a str,
    pub net_dev: &'a str,
}

impl HostReading {
    /// Reads the machine's state now. Only `devices` are kept of the disks.
    pub fn now(devices: &Devices) -> io::Result<Self> {
        let texts = HostTexts {
            stat: &std::fs::read_to_string("/proc/stat")?,
            meminfo: &std::fs::read_to_string("/proc/meminfo")?,
            diskstats: &std::fs::read_to_string("/proc/diskstats").unwrap_or_default(),
            net_dev: &std::fs::read_to_string("/proc/net/dev").unwrap_or_default(),
        };
        Self::parse(&texts, procfs::ticks_per_second(), devices)
    }

    /// Parses the four texts; times come in ticks of 1/`ticks_per_second` s.
    pub fn parse(
        texts: &HostTexts<'_>,
        ticks_per_second: u64,
        devices: &Devices,
    ) -> io::Result<Self> {
        let (cpus, context_switches) = parse_stat(texts.stat, ticks_per_second)?;
        Ok(Self {
            cpus,
            context_switches,
            memory: parse_memory(texts.meminfo)?,
            disks: parse_disks(texts.diskstats, devices)?,
            networks: parse_networks(texts.net_dev)?,
        })
    }

    /// The record of what happened between `before` and `self`.
    pub fn since(&self, before: &Self, t_us: i64, duration_us: u64) -> Host {
        Host {
            t_us,
            duration_us,
            cpus: differences(&self.cpus, &before.cpus, cpu_difference),
            memory: self.memory.clone(),
            disks: differences(&self.disks, &before.disks, disk_difference),
            networks: differences(&self.networks, &before.networks, network_difference),
            context_switches: self
                .context_switches
                .saturating_sub(before.context_switches),
        }
    }
}

/// The difference of everything that is in both readings: what came or went in between has none.
fn differences<K: Ord, V>(
    now: &BTreeMap<K, V>,
    before: &BTreeMap<K, V>,
    difference: impl Fn(&V, &V) -> V,
) -> Vec<V> {
    now.iter()
        .filter_map(|(key, now)| before.get(key).map(|then| difference(now, then)))
        .collect()
}

// Idle and iowait are known to step back on some kernels: a difference below zero is no time.
fn cpu_difference(now: &CpuSample, then: &CpuSample) -> CpuSample {
    CpuSample {
        cpu: now.cpu,
        user_us: now.user_us.saturating_sub(then.user_us),
        system_us: now.system_us.saturating_sub(then.system_us),
        iowait_us: now.iowait_us.saturating_sub(then.iowait_us),
        steal_us: now.steal_us.saturating_sub(then.steal_us),
        idle_us: now.idle_us.saturating_sub(then.idle_us),
    }
}

fn disk_difference(now: &DiskSample, then: &DiskSample) -> DiskSample {
    DiskSample {
        device: now.device.clone(),
        reads: now.reads.saturating_sub(then.reads),
        read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
        writes: now.writes.saturating_sub(then.writes),
        written_bytes: now.written_bytes.saturating_sub(then.written_bytes),
        busy_us: now.busy_us.saturating_sub(then.busy_us),
    }
}

fn network_difference(now: &NetworkSample, then: &NetworkSample) -> NetworkSample {
    NetworkSample {
        interface: now.interface.clone(),
        rx_bytes: now.rx_bytes.saturating_sub(then.rx_bytes),
        tx_bytes: now.tx_bytes.saturating_sub(then.tx_bytes),
        rx_packets: now.rx_packets.saturating_sub(then.rx_packets),
        tx_packets: now.tx_packets.saturating_sub(then.tx_packets),
    }
}

fn invalid(file: &str, text: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{file}: cannot read `{text}`"),
    )
}

/// CPU times by CPU number, and the context switches since boot.
///
/// Not procfs' parser: that one numbers CPUs by position, which is wrong when one is offline.
fn parse_stat(text: &str, ticks_per_second: u64) -> io::Result<(BTreeMap<usize, CpuSample>, u64)> {
    let mut cpus = BTreeMap::new();
    let mut context_switches = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("cpu") {
            // "cpu  …" is the sum of all the others
            if !rest.starts_with(' ') {
                let times =
                    parse_cpu(rest, ticks_per_second).ok_or_else(|| invalid("/proc/stat", line))?;
                cpus.insert(times.cpu, times);
            }
        } else if let Some(rest) = line.strip_prefix("ctxt ") {
            context_switches = rest.trim().parse().ok();
        }
    }
    let context_switches = context_switches.ok_or_else(|| invalid("/proc/stat", "ctxt"))?;
    Ok((cpus, context_switches))
}

/// `0 user nice system idle iowait irq softirq steal …`; kernels before 2.6.11 end early.
fn parse_cpu(text: &str, ticks_per_second: u64) -> Option<CpuSample> {
    let mut words = text.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok()?;
    let mut us = [0_u64; 8];
    for (slot, word) in us.iter_mut().zip(words) {
        *slot = word.parse::<u64>().ok()? * 1_000_000 / ticks_per_second;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = us;
    Some(CpuSample {
        cpu,
        user_us: user + nice,
        system_us: system + irq + softirq,
        iowait_us: iowait,
        steal_us: steal,
        idle_us: idle,
    })
}

fn parse_memory(text: &str) -> io::Result<MemorySample> {
    let info = procfs::Meminfo::from_buf_read(text.as_bytes()).map_err(io::Error::other)?;
    Ok(MemorySample {
        total_bytes: info.mem_total,
        // before Linux 3.14 there is no estimate of the kernel's own: the classic one
        available_bytes: info
            .mem_available
            .unwrap_or(info.mem_free + info.buffers + info.cached),
        dirty_bytes: info.dirty,
        cached_bytes: info.cached,
    })
}

fn parse_disks(text: &str, devices: &Devices) -> io::Result<BTreeMap<String, DiskSample>> {
    let mut disks = BTreeMap::new();
    for line in text.lines() {
        let disk = procfs::DiskStat::from_line(line).map_err(io::Error::other)?;
        if devices.keeps(&disk) {
            let totals = DiskSample {
                device: disk.name.clone(),
                reads: disk.reads,
                read_bytes: disk.sectors_read * SECTOR_BYTES,
                writes: disk.writes,
                written_bytes: disk.sectors_written * SECTOR_BYTES,
                busy_us: disk.time_in_progress * 1000,
            };
            disks.insert(disk.name, totals);
        }
    }
    Ok(disks)
}

fn parse_networks(text: &str) -> io::Result<BTreeMap<String, NetworkSample>> {
    let all = procfs::net::InterfaceDeviceStatus::from_buf_read(text.as_bytes())
        .map_err(io::Error::other)?;
    let totals = all.0.into_iter().map(|(name, device)| {
        let totals = NetworkSample {
            interface: name.clone(),
            rx_bytes: device.recv_bytes,
            tx_bytes: device.sent_bytes,
            rx_packets: device.recv_packets,
            tx_packets: device.sent_packets,
        };
        (name, totals)
    });
    Ok(totals.collect())
}

/// Which block devices are worth a line each: whole disks, and the one that holds the data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices {
    whole: BTreeSet<String>,
    holding: Option<(u32, u32)>,
}

impl Devices {
    /// The machine's whole devices, plus the partition that holds `path` (if it is on one).
    pub fn of_host(path: Option<&Path>) -> Self {
        let whole = std::fs::read_dir("/sys/block")
            .map(|entries| {
                entries
                    .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                    .collect()
            })
            .unwrap_or_default();
        Self {
            whole,
            holding: path.and_then(device_of),
        }
    }

    fn keeps(&self, disk: &procfs::DiskStat) -> bool {
        let holds_data = self.holding.is_some_and(|(major, minor)| {
            u32::try_from(disk.major) == Ok(major) && u32::try_from(disk.minor) == Ok(minor)
        });
        // loop, RAM and the like stand by the dozen in every kernel, never used
        let used = disk.reads > 0 || disk.writes > 0;
        holds_data || (self.whole.contains(&disk.name) && used)
    }
}

/// Major and minor number of the device that holds `path`; none for btrfs, overlay and the like.
fn device_of(path: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let device = std::fs::metadata(path).ok()?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    (major != 0).then_some((major, minor))
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
