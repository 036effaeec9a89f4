import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { describeOldNode } from '../../src/project/process-setup.js'
import { tempFolder } from '../support/temp-folder.ts'

test('an old Node is told in one line, with the version that is needed and how to get it', () => {
  for (const version of ['18.20.8', '20.20.2', '22.12.0', '23.11.1']) {
    const told = describeOldNode(version) ?? ''
    expect(told).toContain(`upshot needs Node 24 or newer, and this is ${version}`)
    expect(told).not.toContain('\n')
  }
  for (const version of ['24.0.0', '26.1.0']) expect(describeOldNode(version)).toBeNull()
})

test.each(['cli', 'app'])('the entry of %s tells an old Node in one line, and loads no TypeScript before', (room) => {
  // As an old Node does, it cannot read types.
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const preload = `data:text/javascript,${encodeURIComponent(old)}`
  const entry = resolve(import.meta.dirname, `../../src/${room}/main.js`)
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--no-experimental-strip-types', '--import', preload, entry, 'runs', 'list'],
    { encoding: 'utf8' },
  )
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${describeOldNode('20.20.2')}\n` })
})

test.runIf(process.platform === 'linux').each(['cli', 'app'])(
  'the entry of %s refuses a process that may open too few files in one line',
  (room) => {
    const entry = resolve(import.meta.dirname, `../../src/${room}/main.js`)
    const limited = 'ulimit -n 40; exec "$0" "$1" version'
    const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, entry], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^This process may have 40 files open at once, .* "ulimit -n 4096".*\n$/)
  },
)

test.each([
  { room: 'cli', told: /^upshot \d/ },
  { room: 'app', told: /^Unexpected argument 'version'.*\nThe only option of the app is --role <role>.*\n$/ },
])('the entry of $room starts for a user without a home', ({ room, told }) => {
  // The system throws for a user whom it does not list, unless `HOME` is set.
  const homeless = `import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    os.homedir = () => { throw new Error('no such user') }
    syncBuiltinESMExports()`
  const preload = `data:text/javascript,${encodeURIComponent(homeless)}`
  const entry = resolve(import.meta.dirname, `../../src/${room}/main.js`)
  const { XDG_CACHE_HOME: _, ...environment } = process.env
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, entry, 'version'], {
    env: environment,
    encoding: 'utf8',
  })
  expect(stdout + stderr).toMatch(told)
})

test('the threads of a process share its cache of compiled code', () => {
  const setup = JSON.stringify(new URL('../../src/project/process-setup.js', import.meta.url).href)
  const inThread = `import { getCompileCacheDir } from 'node:module'
    console.log(getCompileCacheDir())`
  const script = `
    const { setUpProcess } = await import(${setup})
    setUpProcess()
    const { Worker } = await import('node:worker_threads')
    new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(inThread)})))`
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env
  const env = { ...environment, XDG_CACHE_HOME: tempFolder() }
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { env, encoding: 'utf8' })
  expect(stdout.trim().startsWith(join(env.XDG_CACHE_HOME, 'upshot'))).toBe(true)
})
