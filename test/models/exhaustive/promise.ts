/** Ends the run as a violation unless the promise is kept. */
export function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
