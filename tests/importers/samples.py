# ruff: noqa: E501 - lines as the tools print them
"""Logs of TPC-C-derived tools, written after their documentation and source."""

HAMMERDB = """HammerDB CLI v4.12
Copyright (C) 2003-2024 Steve Shaw
Type "help" for a list of commands
hammerdb>vurun
Vuser 1 created MONITOR - WAIT IDLE
Vuser 2 created - WAIT IDLE
Vuser 3 created - WAIT IDLE
3 Virtual Users Created with Monitor VU
Vuser 1:RUNNING
Vuser 1:Beginning rampup time of 2 minutes
0 MariaDB tpm
Vuser 2:RUNNING
Vuser 2:Processing 10000000 transactions with output suppressed...
Vuser 3:RUNNING
9000 MariaDB tpm
Vuser 1:Rampup 1 minutes complete ...
Vuser 1:Rampup 2 minutes complete ...
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 1 in minutes
12000 MariaDB tpm
Vuser 1:1 ...,
18000 MariaDB tpm
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:2 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 6500 NOPM from 15000 MariaDB TPM
Vuser 1:FINISHED SUCCESS
Vuser 3:FINISHED SUCCESS
Vuser 2:FINISHED SUCCESS
ALL VIRTUAL USERS COMPLETE
"""
XTPROF = """>>>>> VIRTUAL USER 2 : ELAPSED TIME : 180,102ms
>>>>> PROC: NEWORD
CALLS: 999\tMIN: 1.100ms\tAVG: 9.999ms\tMAX: 99.000ms\tTOTAL: 9,989.000ms
P99: 88.000ms\tP95: 77.000ms\tP50: 6.000ms\tSD: 4000.123\tRATIO: 60.000%
>>>>> SUMMARY OF 2 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 180,102ms
>>>>> PROC: NEWORD
CALLS: 6,512\tMIN: 1.234ms\tAVG: 2.500ms\tMAX: 41.000ms\tTOTAL: 16,280.000ms
P99: 9.750ms\tP95: 5.250ms\tP50: 2.125ms\tSD: 1234.567\tRATIO: 55.000%
>>>>> PROC: SLEV
CALLS: 640\tMIN: 0.500ms\tAVG: 0.750ms\tMAX: 8.000ms\tTOTAL: 480.000ms
P99: 2.000ms\tP95: 1.500ms\tP50: 0.625ms\tSD: 300.000\tRATIO: 1.600%
"""
GO_TPC = """[Current] DELIVERY - Takes(s): 9.5, Count: 19, TPM: 120.0, Sum(ms): 1900.0, Avg(ms): 100.0, 50th(ms): 96.5, 90th(ms): 130.0, 95th(ms): 142.6, 99th(ms): 167.8, 99.9th(ms): 167.8, Max(ms): 167.8
[Current] NEW_ORDER - Takes(s): 10.0, Count: 200, TPM: 1200.0, Sum(ms): 12000.0, Avg(ms): 60.0, 50th(ms): 58.7, 90th(ms): 79.7, 95th(ms): 88.1, 99th(ms): 121.6, 99.9th(ms): 142.6, Max(ms): 151.0
[Current] DELIVERY - Takes(s): 9.9, Count: 21, TPM: 127.3, Sum(ms): 2100.0, Avg(ms): 100.0, 50th(ms): 96.5, 90th(ms): 130.0, 95th(ms): 142.6, 99th(ms): 167.8, 99.9th(ms): 167.8, Max(ms): 167.8
[Current] NEW_ORDER - Takes(s): 10.0, Count: 300, TPM: 1800.0, Sum(ms): 12000.0, Avg(ms): 40.0, 50th(ms): 39.8, 90th(ms): 54.5, 95th(ms): 58.7, 99th(ms): 71.3, 99.9th(ms): 92.3, Max(ms): 100.7
[Current] NEW_ORDER_ERR - Takes(s): 10.0, Count: 5, TPM: 30.0, Sum(ms): 50.0, Avg(ms): 10.0, 50th(ms): 9.4, 90th(ms): 12.6, 95th(ms): 12.6, 99th(ms): 12.6, 99.9th(ms): 12.6, Max(ms): 12.6
Finished
[Summary] DELIVERY - Takes(s): 19.5, Count: 40, TPM: 123.1, Sum(ms): 4000.0, Avg(ms): 100.0, 50th(ms): 96.5, 90th(ms): 130.0, 95th(ms): 142.6, 99th(ms): 167.8, 99.9th(ms): 167.8, Max(ms): 167.8
[Summary] NEW_ORDER - Takes(s): 20.0, Count: 500, TPM: 1500.0, Sum(ms): 24000.0, Avg(ms): 48.0, 50th(ms): 46.1, 90th(ms): 67.1, 95th(ms): 75.5, 99th(ms): 113.2, 99.9th(ms): 142.6, Max(ms): 151.0
[Summary] NEW_ORDER_ERR - Takes(s): 20.0, Count: 5, TPM: 15.0, Sum(ms): 50.0, Avg(ms): 10.0, 50th(ms): 9.4, 90th(ms): 12.6, 95th(ms): 12.6, 99th(ms): 12.6, 99.9th(ms): 12.6, Max(ms): 12.6
tpmC: 1500.0, efficiency: 116.6%
"""
TPCC_MYSQL = """***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
option h with value '127.0.0.1'
option c with value '20'
<Parameters>
     [server]: 127.0.0.1
     [DBname]: tpcc40
       [user]: root
  [warehouse]: 40
 [connection]: 20
     [rampup]: 60 (sec.)
    [measure]: 20 (sec.)

RAMP-UP TIME.(60 sec.)

MEASURING START.

  10, trx: 1000, 95%: 9.5, 99%: 18.7, max_rt: 213.1, 990|98.7, 100|10.5, 95|443.9, 115|670.8
  20, trx: 1200, 95%: 8.5, 99%: 16.5, max_rt: 113.1, 1210|88.7, 120|9.5, 125|343.9, 105|570.8

STOPPING THREADS....................

<Raw Results>
  [0] sc:2150 lt:50  rt:2  fl:1 avg_rt: 3.5 (5)
  [1] sc:2200 lt:0  rt:0  fl:0 avg_rt: 1.5 (5)
  [2] sc:220 lt:0  rt:0  fl:0 avg_rt: 0.5 (5)
  [3] sc:215 lt:5  rt:0  fl:0 avg_rt: 12.5 (80)
  [4] sc:220 lt:0  rt:0  fl:0 avg_rt: 20.5 (20)
 in 20 sec.

<Raw Results2(sum ver.)>
  [0] sc:2150  lt:50  rt:2  fl:1
  [1] sc:2200  lt:0  rt:0  fl:0
  [2] sc:220  lt:0  rt:0  fl:0
  [3] sc:215  lt:5  rt:0  fl:0
  [4] sc:220  lt:0  rt:0  fl:0

<Constraint Check> (all must be [OK])
 [transaction percentage]
        Payment: 43.48% (>=43.0%) [OK]
<TpmC>
                 6600.000 TpmC
"""
TPCC_MYSQL_OLD_LINES = """  10, 1000(20):0.4|0.6, 990(0):0.2|0.3, 100(0):0.1|0.1, 95(0):0.5|0.8, 115(0):0.9|1.0
  20, 1200(30):0.4|0.6, 1210(0):0.2|0.3, 120(0):0.1|0.1, 125(5):0.5|0.8, 105(0):0.9|1.0
"""


def as_table(plain: str, bar: str = "|") -> str:
    """go-tpc's plain output in its table style."""
    names = [part.split(": ")[0] for part in plain.splitlines()[0].split(" - ")[1].split(", ")]
    lines, block = [], ""
    for line in plain.splitlines():
        if line.startswith("["):
            name, _, figures = line.partition(" - ")
            prefix, operation = name.split()
            if prefix != block:
                lines.append(f"{bar} " + f" {bar} ".join(["Prefix", "Operation", *names]).upper() + f" {bar}")
                block = prefix
            cells = [prefix, operation, *(part.split(": ")[1] for part in figures.split(", "))]
            lines.append(f"{bar} " + f" {bar} ".join(cells) + f" {bar}")
        elif line.startswith("tpmC"):
            tpmc, _, efficiency = line.removeprefix("tpmC: ").partition(", efficiency: ")
            lines += [f"{bar}  TPMC  {bar} EFFICIENCY {bar}", f"{bar} {tpmc} {bar} {efficiency} {bar}"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"
