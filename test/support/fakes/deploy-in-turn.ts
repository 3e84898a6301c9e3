import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';

/** A warning of synthesis: the path of the construct, and the text, which ends with the id for `acknowledgeWarning`. */
interface Warning {
  readonly path: string;
  readonly text: string;
}

/**
 * The warnings of synthesis for each deployment of the stack `Orders`, with the template of the previous deployment.
 */
export function deployInTurn(...deployments: ((stack: Stack) => void)[]): Warning[][] {
  const folder = mkdtempSync(join(tmpdir(), 'even-shards-deployed-'));
  return deployments.map((define, deployment) => {
    const context = deployment > 0 ? { 'even-shards:deployedAssembly': folder } : {};
    const app = new App({ outdir: folder, context });
    const stack = new Stack(app, 'Orders');
    define(stack);
    app.synth();
    const warnings = Annotations.fromStack(stack).findWarning('*', Match.anyValue());
    return warnings.map(({ id, entry: { data } }) => ({ path: id, text: data as string }));
  });
}

/** The warnings of synthesis for the second of two deployments. */
export function warningsOfChange(deployed: (stack: Stack) => void, next: (stack: Stack) => void): string[] {
  return deployInTurn(deployed, next)[1]!.map(({ text }) => text);
}
