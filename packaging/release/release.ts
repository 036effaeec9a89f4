import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notesOf, releaseIn } from './changelog.ts'

/** The reason why a release is not made, as a sentence. */
export class ReleaseRefusal extends Error {}

/**
 * Writes a version into manifest, lockfile and changelog of a repository. The unreleased text
 * becomes that of the version. `day`: such as `2026-12-01`.
 */
export function prepareRelease(root: string, version: string, day: string): void {
  const manifest = readJson(join(root, 'package.json'))
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new ReleaseRefusal(`"${version}" is no version. Give one such as 0.2.0 or 1.0.0-rc.1.`)
  if (!isAbove(version, String(manifest.version)) && notesOf(readChangelog(root), version) !== null)
    throw new ReleaseRefusal(`${version} is in CHANGELOG.md already. Give a version above ${manifest.version}.`)
  if (isAbove(String(manifest.version), version))
    throw new ReleaseRefusal(`${version} is below ${manifest.version}, which package.json has.`)
  if (notesOf(readChangelog(root), 'Unreleased') === null)
    throw new ReleaseRefusal('CHANGELOG.md has nothing under "Unreleased", so there is nothing to release.')
  for (const file of ['package.json', 'package-lock.json']) {
    const path = join(root, file)
    const json = readJson(path)
    json.version = version
    const own = (json.packages as Record<string, { version?: string }> | undefined)?.['']
    if (own !== undefined) own.version = version
    writeFileSync(path, `${JSON.stringify(json, null, 2)}\n`)
  }
  writeFileSync(join(root, 'CHANGELOG.md'), releaseIn(readChangelog(root), version, day))
}

/** Throws {@link ReleaseRefusal} unless a tag such as `v0.2.0` is what the repository is. */
export function checkRelease(root: string, tag: string): void {
  const manifest = readJson(join(root, 'package.json'))
  const lockfile = readJson(join(root, 'package-lock.json'))
  const version = tag.replace(/^v/, '')
  for (const [file, found] of Object.entries({ 'package.json': manifest, 'package-lock.json': lockfile })) {
    if (found.version !== version)
      throw new ReleaseRefusal(`The tag is ${tag}, and ${file} says ${found.version}. Run "npm run release".`)
  }
  if (manifest.repository === undefined)
    throw new ReleaseRefusal('package.json has no "repository", to which npm ties the provenance of a package.')
  releaseNotes(root, tag)
}

/** The text of the changelog for a tag. */
export function releaseNotes(root: string, tag: string): string {
  const notes = notesOf(readChangelog(root), tag.replace(/^v/, ''))
  if (notes === null) throw new ReleaseRefusal(`CHANGELOG.md says nothing of ${tag}. Run "npm run release" first.`)
  return notes
}

/** Whether a version is above another; one with a suffix is below the same without. */
function isAbove(version: string, other: string): boolean {
  const rank = (text: string) => {
    const [numbers = '', suffix] = text.split('-')
    return [...numbers.split('.').map(Number), suffix === undefined ? 1 : 0]
  }
  const [left, right] = [rank(version), rank(other)]
  const at = left.findIndex((number, index) => number !== right[index])
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0)
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function readChangelog(root: string): string {
  return readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
}
