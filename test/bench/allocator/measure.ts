/** The median processor time of several runs. Processor time hardly depends on other work of the machine. */
export function milliseconds(work: () => void, runs = 1): number {
  const times = Array.from({ length: runs }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  });
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]!;
}
