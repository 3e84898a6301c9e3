/** How a local run treats the properties of a resource type. A path joins the names of nested properties with dots. */
export interface PropertyTable {
  /** A changed value changes the run. The run leaves out the part of the app that needs an unknown value. */
  readonly honoured: readonly string[];
  /** The value makes no difference in a local run: the paths by reason. A path includes all properties below it. */
  readonly withoutEffect: PathsByReason;
  /** The run prints these properties at its start: the paths by reason. A path includes all properties below it. */
  readonly named: PathsByReason;
  /** The values of named properties that make no difference. */
  readonly harmless?: Readonly<Record<string, unknown>>;
}

type PathsByReason = Readonly<Record<string, readonly string[]>>;
