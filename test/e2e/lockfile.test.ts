import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { publishedManifest } from '../../packaging/manifest.ts'

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

test('npm ci runs no install script but that of better-sqlite3, which ships its binary', () => {
  const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  expect(scripts.filter((path) => path !== 'node_modules/better-sqlite3')).toEqual([])
  expect(read('package.json').allowScripts).toEqual({ 'better-sqlite3': false })
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

test('the published package brings no Node of its own', () => {
  expect(publishedManifest(read('package.json'))).not.toHaveProperty('optionalDependencies')
})
