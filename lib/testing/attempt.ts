/** Runs an action now, and returns a function that returns its result or throws its error. */
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
