import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

test('"npm create upshot" packs, installs, and makes a project with the package that it brings', () => {
  const folder = tempFolder()
  const env = { ...CHILD_ENVIRONMENT, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, HOME: folder }
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe', env })
  const creator = join(folder, 'creator')
  run(process.execPath, join(ROOT, 'packaging/create/main.ts'), creator)
  // Ours, whose command is that of the repository: packing the whole takes a minute.
  const ours = join(folder, 'ours')
  mkdirSync(ours)
  writeFileSync(join(ours, 'main.js'), `await import(${JSON.stringify(pathToFileURL(join(ROOT, 'src/cli/main.js')))})`)
  const manifest = { name: 'upshot', version, type: 'module', exports: { './package.json': './package.json' } }
  writeFileSync(join(ours, 'package.json'), JSON.stringify({ ...manifest, bin: { upshot: './main.js' } }))
  for (const each of [creator, ours]) run('npm', 'pack', each, '--pack-destination', folder)
  const packed = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  expect(packed.sort()).toEqual([`create-upshot-${version}.tgz`, `upshot-${version}.tgz`])

  writeFileSync(join(folder, 'package.json'), '{}')
  const installed = packed.map((name) => join(folder, name))
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', ...installed)
  const made = run('npm', 'exec', '--offline', '--', 'create-upshot', 'my-automations', '--template', 'cleanup')
  expect(made).toContain('workflows/retire-source.workflow.ts')
  expect(readdirSync(join(folder, 'my-automations'))).toEqual(expect.arrayContaining(['package.json', 'workflows']))
  expect(run('npm', 'exec', '--offline', '--', 'create-upshot', '--help')).toContain('Usage: upshot init')
})
