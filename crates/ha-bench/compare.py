"""What compare.sh needs beside its programs: waiting for the server, keeping result lines, the memory and start of a
process that leads, what the disk costs, and the table."""

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict

# What is to be reached on one server in one run, by the medians in memory: (workload, what its variant begins with, what
# is limited, the limit).
TARGETS = [
    ("w1-counter", "", "ratio_to_set", 1.4),
    ("w1-counter", "", "req_per_op", 1.01),
    ("w2-checkpoint-add", "", "ratio_to_set", 2.5),
    ("w2-checkpoint-add", "", "req_per_op", 1.01),
    ("w3-put", "", "ratio_to_set", 2.5),
    ("w3-put", "", "req_per_op", 1.05),
    ("w3-recover", "", "total_ms", 80),
    ("w3-remove", "", "ratio_to_set", 2),
    ("w3-remove", "", "req_per_op", 1.05),
    ("w4-graceful", "", "ratio_to_set", 8),
    ("w4-crash", "", "ratio_to_set", 7),
    ("w5-fanout", "L=1000 clients=shared", "ratio_to_set", 10),
    ("w5-fanout", "L=1000 clients=shared", "req_per_op", 2),
    ("w6-footprint", "", "idle_rss_mb", 12),
    ("w6-footprint", "", "median_us", 60_000),
]


def wait(server):
    host, port = server.split(":")
    for _ in range(200):
        try:
            with socket.create_connection((host, int(port)), 5) as connection:
                connection.sendall(b"srvr")
                # It answers before it serves, and then has no transactions yet.
                if b"Zxid: " in b"".join(iter(lambda: connection.recv(4096), b"")):
                    return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(1)


def keep(place, number):
    """Of what a program prints, the lines that are results, with where and when."""
    for line in sys.stdin:
        if line.startswith("{"):
            print(json.dumps({**json.loads(line), "place": place, "round": int(number)}), flush=True)


def quantile(samples, part):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def files(folder, count):
    """An append with fdatasync, as the server's log makes one a transaction; a file put in place durably, as the HA
    storage makes one a state."""
    data = os.urandom(10240)

    def append(log):
        os.write(log, data[:512])
        os.fdatasync(log)

    def put(size, name):
        path = os.path.join(folder, name)
        file = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(file, data[:size])
        os.fsync(file)
        os.close(file)
        os.rename(path + ".new", path)
        directory = os.open(folder, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    log = os.open(os.path.join(folder, "fs-log"), os.O_WRONLY | os.O_CREAT)
    os.posix_fallocate(log, 0, 1 << 22)
    kinds = [("append 512 + fdatasync", lambda _: append(log))]
    kinds += [(f"durable file of {size}", lambda i, size=size: put(size, f"fs-{size}-{i}")) for size in (1024, 10240)]
    for variant, work in kinds:
        samples = []
        for i in range(int(count)):
            began = time.perf_counter()
            work(i)
            samples.append((time.perf_counter() - began) * 1e6)
        print(json.dumps(dict(peer="disk", workload="fs", variant=variant, n=len(samples),
                              median_us=round(quantile(samples, 0.5), 1), p99_us=round(quantile(samples, 0.99), 1))))
    os.close(log)
    for name in os.listdir(folder):
        if name.startswith("fs-"):
            os.unlink(os.path.join(folder, name))


def field(pid, file, name):
    with open(f"/proc/{pid}/{file}") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def footprint(who, runs, *command):
    """From the start of the process to its line LEADER; its memory two seconds later; the end of its stdin ends it."""
    starts, resident, peak, threads = [], [], [], []
    for _ in range(int(runs)):
        began = time.perf_counter()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            if not any(line.strip() == "LEADER" for line in iter(process.stdout.readline, "")):
                sys.exit(f"no LEADER from {who}")
            starts.append((time.perf_counter() - began) * 1e6)
            time.sleep(2)
            resident.append(field(process.pid, "status", "VmRSS") / 1024)
            peak.append(field(process.pid, "status", "VmHWM") / 1024)
            threads.append(field(process.pid, "status", "Threads"))
            process.stdin.close()
            try:
                process.wait(8)
            except subprocess.TimeoutExpired:
                process.kill()
    print(json.dumps(dict(peer=who, workload="w6-footprint", variant="default", n=len(starts),
                          median_us=round(quantile(starts, 0.5), 1), p99_us=round(max(starts), 1),
                          idle_rss_mb=round(quantile(resident, 0.5), 1), peak_rss_mb=round(quantile(peak, 0.5), 1),
                          threads=quantile(threads, 0.5))))


def median(lines, name):
    values = [line[name] for line in lines if line.get(name) is not None]
    return statistics.median(values) if values else None


def number(value, form="{:,.0f}"):
    return "" if value is None else form.format(value)


def kind(line):
    """What is comparable between the peers, whose variants say how each does it."""
    work, variant = line["workload"], line["variant"]
    return (work, variant.split(",")[0] if work in ("raw", "fs", "w5-fanout", "w7-job-result") else "")


def extras(lines):
    names = [("close_call_median_us", "call"), ("grant_median_us", "grant"), ("confirm_median_us", "published"),
             ("publish_median_us", "publish"), ("each_listener_median_us", "each"), ("create_dirty_median_us", "dirty"),
             ("mark_clean_median_us", "clean")]
    found = [f"{short} {number(median(lines, name))} us" for name, short in names if median(lines, name) is not None]
    if median(lines, "total_ms") is not None and lines[0]["workload"].startswith("w3"):
        found.append(f"all {number(median(lines, 'total_ms'), '{:,.1f}')} ms")
    if median(lines, "idle_rss_mb") is not None:
        found.append(f"idle {number(median(lines, 'idle_rss_mb'), '{:.1f}')} MiB")
    return "; ".join(found)


def table(path):
    with open(path) as results:
        lines = [json.loads(line) for line in results]
    for place in dict.fromkeys(line["place"] for line in lines):
        groups = defaultdict(list)
        for line in lines:
            if line["place"] == place:
                groups[(*kind(line), line["peer"], line["variant"])].append(line)
        print(f"\n### ZooKeeper's log and the HA storage directory: {place}\n")
        print("`x set` is the median by the same client's own raw set of 100 bytes in the same round; `x here` is the "
              "median by that of this project.\n")
        print("| workload | who | how | rounds | median us | p99 us | medians from, to | requests | transactions | x set "
              "| x here | more | peak MiB |")
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for (work, of, who, variant), group in sorted(groups.items(), key=lambda item: item[0]):
            here = [line for key, own in groups.items() if key[:3] == (work, of, "rust") for line in own]
            mine = median(here, "median_us")
            each = median(group, "median_us")
            times = each / mine if mine and who != "rust" else None
            medians = [line["median_us"] for line in group]
            cells = [work, f"**{who}**" if who == "rust" else who, variant, len(group), number(each),
                     number(median(group, "p99_us")), f"{number(min(medians))}, {number(max(medians))}",
                     number(median(group, "req_per_op"), "{:.2f}"), number(median(group, "txn_per_op"), "{:.2f}"),
                     number(median(group, "ratio_to_set"), "{:.2f}"), number(times, "{:.1f}"), extras(group),
                     number(median(group, "peak_rss_mb"), "{:.1f}")]
            print("| " + " | ".join(str(cell) for cell in cells) + " |")
        if place == "memory":
            targets(groups)


def targets(groups):
    print("\n| to be reached | at most | here | |\n|---|---|---|---|")
    for work, begins, name, limit in TARGETS:
        group = [line for key, own in groups.items() if key[0] == work and key[2] == "rust"
                 and key[3].startswith(begins) for line in own]
        value = median(group, name)
        if value is not None:
            verdict = "yes" if value <= limit else "**missed**"
            print(f"| {work} {begins} {name} | {limit:,} | {value:,.2f} | {verdict} |")


if __name__ == "__main__":
    tasks = dict(wait=wait, keep=keep, files=files, footprint=footprint, table=table)
    tasks[sys.argv[1]](*sys.argv[2:])
