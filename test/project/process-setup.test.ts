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
