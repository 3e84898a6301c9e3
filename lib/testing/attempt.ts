/** Runs an action now. Returns a function that returns the result of the action, or throws its error. */
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
