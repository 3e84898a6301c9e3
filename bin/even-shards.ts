#!/usr/bin/env node
import { EXIT_BROKEN } from './exit-broken';
import { nodeVersionProblem } from './node-version';

/** An older Node.js cannot parse the other modules, so the version is checked before they are loaded. */
const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) require('./command-line');
else {
  console.error(problem);
  process.exitCode = EXIT_BROKEN;
}
