#!/usr/bin/env node
import { nodeVersionProblem } from './node-version';

/** An older Node.js cannot even parse the rest, so the version is checked before anything else is loaded. */
const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) require('./command-line');
else {
  console.error(problem);
  process.exitCode = 1;
}
