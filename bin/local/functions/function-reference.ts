/** The function name and the qualifier of an invocation. */
export interface FunctionReference {
  readonly name: string;
  readonly qualifier?: string;
}

/** Parses each form that the Invoke API accepts: a name, a partial ARN or an ARN, with or without a qualifier. */
export function functionReference(nameOrArn: string): FunctionReference | undefined {
  const [, name, qualifier] =
    /^(?:arn:[^:]+:lambda:[^:]+:\d{12}:function:|\d{12}:function:)?([\w-]+)(?::([\w$-]+))?$/.exec(nameOrArn) ?? [];
  return name === undefined ? undefined : { name, ...(qualifier !== undefined && { qualifier }) };
}
