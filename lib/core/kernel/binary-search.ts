/**
 * Binary search: the smallest integer from `from` to `to - 1` for which `holds` is true, or `to` if there is none. If `holds` is
 * true for a number, it must be true for all larger numbers.
 */
export function binarySearch(from: number, to: number, holds: (number: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
