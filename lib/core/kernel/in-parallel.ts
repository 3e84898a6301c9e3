/**
 * Calls `work` for each item, with at most `concurrency` calls at the same time. Begins no further call as soon as `isOver`
 * returns true.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
  isOver: () => boolean,
): Promise<void> {
  const waiting = [...items];
  const queue = waiting.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (isOver()) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, worker));
}
