import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import * as library from '../../src/sandbox/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { tempDir } from './support/harness.ts'

const DOOR = resolve(import.meta.dirname, '../../src/sandbox/index.ts')

test('starts with a folder alone, and has ended when the block is left', async () => {
  const dir = tempDir()
  let url = ''
  {
    await using sandbox = await startSandbox({ dir })
    url = sandbox.url
    const { key } = await sandbox.keys.create({ name: 'mine' })
    await sandbox.storage('storage_a').put('/in/report.pdf', 'a report')
    const reply = await fetch(`${url}/files?service=storage_a&path=/in`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await reply.json()).toMatchObject({ success: true, data: [{ name: 'report.pdf', size: 8 }] })
  }
  await expect(fetch(url)).rejects.toThrow()
  await using again = await startSandbox({ dir })
  expect(again.keys.list()).toMatchObject([{ name: 'mine' }])
})

test('exports one function, and says of every type what it is', () => {
  expect(Object.keys(library)).toEqual(['startSandbox'])
  const lines = [...readFileSync(DOOR, 'utf8').matchAll(/export (?:type )?\{ ([^}]+) \} from '([^']+)'/gs)]
  const undocumented = lines.flatMap(([, names = '', file = '']) => {
    const text = readFileSync(join(dirname(DOOR), file), 'utf8')
    const wanted = names.split(',').map((name) => name.trim().replace(/^type /, ''))
    const isDocumented = (name: string) =>
      new RegExp(`\\*/\\nexport (async )?(interface|type|class|function) ${name}\\b`).test(text)
    return wanted.filter((name) => name !== '' && !isDocumented(name)).map((name) => `${file} ${name}`)
  })
  expect(lines.length).toBeGreaterThan(10)
  expect(undocumented).toEqual([])
})
