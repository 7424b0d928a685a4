use super::*;

/// Linux 2.6.32: no estimate of available memory, eleven columns of a disk, no steal on this machine.
const OLD: HostTexts<'_> = HostTexts {
    stat: "cpu  30 2 12 200 5 1 1\ncpu0 10 1 4 100 2 1 0\ncpu1 20 1 8 100 3 0 1\nintr 5 1 2\nctxt 1000\nbtime 1\nprocesses 9\n",
    meminfo: "MemTotal:        8061544 kB\nMemFree:         1000000 kB\nBuffers:          200000 kB\nCached:          3000000 kB\n\
              SwapCached:            0 kB\nActive:          1 kB\nInactive:        1 kB\nSwapTotal:       0 kB\nSwapFree:        0 kB\n\
              Dirty:               512 kB\nWriteback:           0 kB\nMapped:              4 kB\nSlab:                4 kB\n\
              Committed_AS:        4 kB\nVmallocTotal:   34359738367 kB\nVmallocUsed:         4 kB\nVmallocChunk:   34359 kB\n",
    diskstats: "   8       0 sda 100 10 2000 50 40 5 800 30 0 70 80\n   8       1 sda1 90 10 1900 45 40 5 800 30 0 60 75\n",
    net_dev: "Inter-|   Receive                                                |  Transmit\n \
              face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
              lo:     500       5    0    0    0     0          0         0      500       5    0    0    0     0       0          0\n",
};

/// Linux 6.1 on a POWER machine with simultaneous multithreading off: only every fourth CPU is online.
const SPARSE: HostTexts<'_> = HostTexts {
    stat: "cpu  66 0 66 600 0 0 0 6 0 0\ncpu0 30 0 30 300 0 0 0 3 0 0\ncpu4 36 0 36 300 0 0 0 3 0 0\nintr 12 0 0\nctxt 77\nbtime 2\n\
           processes 3\nprocs_running 1\nprocs_blocked 0\nsoftirq 1 2 3\n",
    meminfo: "MemTotal:       65011712 kB\nMemFree:        60000000 kB\nMemAvailable:   62000000 kB\nBuffers:            1024 kB\n\
              Cached:          2048 kB\nSwapCached:            0 kB\nActive:          1 kB\nInactive:        1 kB\nSwapTotal:       0 kB\n\
              SwapFree:        0 kB\nZswap:               0 kB\nDirty:               8 kB\nWriteback:           0 kB\nMapped:          4 kB\n\
              Slab:            4 kB\nCommitted_AS:        4 kB\nVmallocTotal:   34359738367 kB\nVmallocUsed:         4 kB\n\
              VmallocChunk:          0 kB\nHugetlb:               0 kB\n",
    diskstats: " 259       0 nvme0n1 1000 0 80000 900 2000 0 160000 700 3 1500 1600 7 0 5 1 40 12\n \
                259       1 nvme0n1p1 1000 0 80000 900 2000 0 160000 700 3 1500 1600 7 0 5 1 0 0\n   \
                7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 253       0 dm-0 3 0 24 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n",
    net_dev: "Inter-|   Receive\n face |bytes\n  eth0: 708170230   30093    0    0    0     0          0         0  1539865   15258    0    0    0     0       0          0\n",
};

fn devices(whole: &[&str], holding: Option<(u32, u32)>) -> Devices {
    Devices {
        whole: whole.iter().map(|name| (*name).to_owned()).collect(),
        holding,
    }
}

#[test]
fn reads_an_old_kernel() {
    let reading = HostReading::parse(&OLD, 100, &devices(&["sda"], None)).unwrap();
    let expected = CpuSample {
        cpu: 1,
        user_us: 210_000,
        system_us: 90_000,
        iowait_us: 30_000,
        steal_us: 0,
        idle_us: 1_000_000,
    };
    assert_eq!(reading.cpus[&1], expected);
    assert_eq!(reading.context_switches, 1000);
    let memory = MemorySample {
        total_bytes: 8_061_544 << 10,
        available_bytes: 4_200_000 << 10,
        dirty_bytes: 512 << 10,
        cached_bytes: 3_000_000 << 10,
    };
    assert_eq!(reading.memory, memory);
    let sda = &reading.disks["sda"];
    assert_eq!(
        (
            sda.reads,
            sda.read_bytes,
            sda.writes,
            sda.written_bytes,
            sda.busy_us
        ),
        (100, 1_024_000, 40, 409_600, 70_000)
    );
    assert_eq!(reading.networks["lo"].rx_packets, 5);
}

#[test]
fn cpus_keep_their_numbers_when_others_are_offline() {
    let reading = HostReading::parse(&SPARSE, 100, &Devices::default()).unwrap();
    assert_eq!(reading.cpus.keys().copied().collect::<Vec<_>>(), [0, 4]);
    assert_eq!(reading.cpus[&4].steal_us, 30_000);
    assert_eq!(reading.memory.available_bytes, 62_000_000 << 10);
}

#[test]
fn whole_devices_and_the_one_that_holds_the_data() {
    let names = |devices: &Devices| -> Vec<String> {
        HostReading::parse(&SPARSE, 100, devices)
            .unwrap()
            .disks
            .into_keys()
            .collect()
    };
    assert_eq!(
        names(&devices(&["nvme0n1", "loop0", "dm-0"], None)),
        ["dm-0", "nvme0n1"],
        "an idle loop is left out"
    );
    assert_eq!(
        names(&devices(&["nvme0n1"], Some((259, 1)))),
        ["nvme0n1", "nvme0n1p1"]
    );
}

#[test]
fn a_record_is_the_difference_of_two_readings() {
    let all = devices(&["nvme0n1"], None);
    let before = HostReading::parse(&SPARSE, 100, &all).unwrap();
    let later = HostTexts {
        stat: "cpu  0\ncpu0 130 0 30 290 0 0 0 3\ncpu5 1 1 1 1\nctxt 100\n",
        diskstats: " 259 0 nvme0n1 1010 0 80016 900 2000 0 160000 700 3 1600 1600\n",
        ..SPARSE
    };
    let now = HostReading::parse(&later, 100, &all).unwrap();
    let record = now.since(&before, 5_000_000, 1_000_000);
    assert_eq!(
        (record.t_us, record.duration_us, record.context_switches),
        (5_000_000, 1_000_000, 23)
    );
    let cpu0 = CpuSample {
        cpu: 0,
        user_us: 1_000_000,
        system_us: 0,
        iowait_us: 0,
        steal_us: 0,
        idle_us: 0,
    };
    assert_eq!(
        record.cpus,
        [cpu0],
        "a CPU that came or went has no difference; idle time that stepped back is none"
    );
    let disk = &record.disks[0];
    assert_eq!(
        (disk.reads, disk.read_bytes, disk.busy_us),
        (10, 8192, 100_000)
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let broken = HostTexts {
        stat: "cpu0 1 2 x\nctxt 1\n",
        ..SPARSE
    };
    let error = HostReading::parse(&broken, 100, &Devices::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/proc/stat") && error.contains("cpu0 1 2 x"),
        "{error}"
    );
    let error = HostReading::parse(&HostTexts { stat: "", ..SPARSE }, 100, &Devices::default())
        .unwrap_err();
    assert!(error.to_string().contains("ctxt"));
}

#[test]
fn this_machine_is_plausible() {
    let here = std::env::current_dir().unwrap();
    let reading = HostReading::now(&Devices::of_host(Some(&here))).unwrap();
    let online = std::thread::available_parallelism().unwrap().get();
    assert!(reading.cpus.len() >= online, "{:?}", reading.cpus);
    assert!(
        reading
            .cpus
            .values()
            .all(|cpu| cpu.user_us + cpu.system_us > 0)
    );
    let memory = &reading.memory;
    assert!(
        memory.total_bytes > 64 << 20 && memory.available_bytes <= memory.total_bytes,
        "{memory:?}"
    );
    assert!(reading.networks.contains_key("lo"));
    assert!(reading.context_switches > 1000);
}
