/** What the command line tells the sample run. */
export interface SampleOptions {
  /** Files of newline-delimited JSON events. */
  readonly input: readonly string[];
  readonly partitionKey?: string;
  readonly id?: string;
  readonly value?: string;
  readonly sort?: string;
  readonly sequence?: string;
  /** Prints a line of the run's report. */
  readonly print: (line: string) => void;
}
