#!/usr/bin/env node
import { nodeVersionProblem } from './node-version';

/** An older Node.js cannot even read the rest, so nothing of it is loaded before the version is known to do. */
const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) require('./command-line');
else {
  console.error(problem);
  process.exitCode = 1;
}
