/**
 * Reads CHANGELOG.md for the release workflow.
 *
 * usage: node release/changelog.mjs notes v1.2.3         prints the notes of a version; fails if it is not ready for release
 *        node release/changelog.mjs changed-since COMMIT fails if users get a change that the changelog does not list
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The folders that users get: the constructs, the functions, and the command line. */
const PUBLISHED = /^(lib|lambda|bin)\//;

/** The notes of a version, without its heading; undefined if the changelog does not have the version. */
function notesOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  return section?.slice(section.indexOf('\n')).trim();
}

/** The reason why a tag is not ready for release, or undefined. */
function lacking(tag, version, changelog) {
  if (tag !== `v${version}`) return `the tag must be v${version}, the version of package.json, got ${tag}`;
  if (!notesOf(changelog, version)) return `CHANGELOG.md must have notes under "## ${version}"`;
  if (!new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm').test(changelog)) {
    return `the heading of the notes must be "## ${version} (YYYY-MM-DD)"`;
  }
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}

function main(command, argument) {
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  if (command === 'notes') {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const problem = lacking(argument, version, changelog);
    if (problem) fail(problem);
    return console.log(notesOf(changelog, version));
  }
  if (command === 'changed-since') {
    const diff = execFileSync('git', ['diff', '--name-only', `${argument}...HEAD`], { encoding: 'utf8' });
    const files = diff.split('\n');
    if (files.includes('CHANGELOG.md') || !files.some((file) => PUBLISHED.test(file))) return;
    fail('lib, lambda or bin changed: give CHANGELOG.md a line for what users see');
  }
  fail('usage: node release/changelog.mjs notes TAG | changed-since COMMIT');
}

main(...process.argv.slice(2));
