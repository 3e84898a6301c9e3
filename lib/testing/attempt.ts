/** Does something now, and tells what came of it later: its result, or what it threw. */
export function attempt<T>(action: () => T): () => T {
  try {
    const result = action();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
