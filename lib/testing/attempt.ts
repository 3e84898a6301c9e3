/** Does something now, and returns a function that gives its result later, or throws its error. */
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
