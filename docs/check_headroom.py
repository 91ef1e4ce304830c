"""Checks a floor of `drystone headroom LOG --jobs found.csv --prices prices.json` by trying every second as a start."""
import csv, json, sys

given, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2])))
q, begin, delta, prices = given["q"], given["begin"], given["delta"], given["prices"]
releases, ran_already = given["releases"], set(given["ran_already"])
sums = [0]
for price in prices:
    sums.append(sums[-1] + price * delta)
prices.append(0)

def until(time):  # what a processor costs up to this second
    cell = min(max(time - begin, 0) // delta, len(sums) - 1)
    return sums[cell] + prices[cell] * (time - begin - cell * delta) if time > begin else 0

steps = [(begin, given["procs"])] + [(max(time, begin), procs) for time, procs in given["capacity"]]
ends = [time for time, _ in steps[1:]] + [max(steps[-1][0], begin + delta * len(sums))]
total = -sum(procs * (until(end) - until(time)) for (time, procs), end in zip(steps, ends))
for at, row in enumerate(rows):
    submit, procs, run, wait = (int(row[name]) for name in ("submit", "procs", "run", "wait"))
    over, under = {"wait": (1, 1), "bounded-slowdown": (1, max(run, 10)), "area-wait": (procs * run, 1)}[given["measure"]]
    weight = (over << q) // under if row["counted"] == "1" else 0
    free_until = submit + (max(10 - run, 0) if given["measure"] == "bounded-slowdown" else 0)
    start, best = releases.get(str(at), submit), None
    if at in ran_already:
        total += weight * max(submit + wait - free_until, 0)
        continue
    while weight and (best is None or weight * max(start - free_until, 0) < best):
        paid = weight * max(start - free_until, 0) + procs * (until(start + run) - until(start))
        best, start = paid if best is None else min(best, paid), start + 1
    total += best or 0
print(f"floor of the sum: {total / 2**q:.6f}, of the mean: {total / 2**q / given['divisor']:.6f}; claimed {given['floor_of_sum']} / 2^{q}")
sys.exit(0 if max(total, 0) == int(given["floor_of_sum"]) else 1)
