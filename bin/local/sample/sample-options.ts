/** What the command line tells the sample run, which takes for granted that the options fit together. */
export interface SampleOptions {
  /** Files of newline-delimited JSON events, run in place of the built-in samples. */
  readonly input: readonly string[];
  /** The field of an event that holds its partition key. Required with an input. */
  readonly partitionKey?: string;
  /** The field that holds an item's table key. With it, events are written to a table and queried back. */
  readonly id?: string;
  /** The field that holds the value of the index. */
  readonly value?: string;
  /** The field that holds the sort key of the index. Required with an id. */
  readonly sort?: string;
  /** Prints a line of the run's report. */
  readonly print: (line: string) => void;
}
