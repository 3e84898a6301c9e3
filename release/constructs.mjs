/** Compares the constructs of two packages: jsii-diff finds the changes that break an app. The defaults are compared here. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultValues } from './defaults.mjs';

const JSII_DIFF = join(import.meta.dirname, 'node_modules/jsii-diff/bin/jsii-diff.js');

/** The breaks of the constructs: a map from the name of each break to an explanation. */
export function constructBreaks(last, current) {
  return new Map([...jsiiBreaks(last, current), ...changedDefaults(last, current)]);
}

function jsiiBreaks(last, current) {
  if (!existsSync(JSII_DIFF)) throw new Error('jsii-diff is missing: run npm ci --prefix release --ignore-scripts');
  const options = ['--keys', '--default-stability', 'stable', '--error-on', 'all'];
  const { status, stderr } = spawnSync(process.execPath, [JSII_DIFF, ...options, last, current], { encoding: 'utf8' });
  // A line is, for example: "err  - PROP package.Props.name: has been removed [removed:package.Props.name]".
  const breaks = [...stderr.matchAll(/^err +- (.*) \[(.*)\]$/gm)].map(([, explanation, key]) => [key, explanation]);
  if (status !== 0 && breaks.length === 0) throw new Error(`jsii-diff ended with ${status}:\n${stderr}`);
  return breaks;
}

function changedDefaults(last, current) {
  const [old, now] = [last, current].map(documentedDefaults);
  return [...old].flatMap(([name, text]) => {
    const next = now.get(name);
    if (next === undefined || defaultValues(text) === defaultValues(next)) return [];
    return [[`${name} @default`, `the default was: ${text}; it is: ${next}`]];
  });
}

function documentedDefaults(folder) {
  const { types } = JSON.parse(readFileSync(join(folder, '.jsii'), 'utf8'));
  const properties = Object.values(types).flatMap(({ fqn, properties = [] }) =>
    properties.map(({ name, docs }) => [`${fqn}.${name}`, docs?.default]),
  );
  return new Map(properties.filter(([, text]) => text !== undefined));
}
