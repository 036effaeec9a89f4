import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { NamedFile } from '../../../../../src/app/rehearsal/gather-files.ts'
import { giveBytes } from '../../../../../src/cli/commands/app/rehearse/rehearse.ts'
import { readFaults } from '../../../../../src/cli/commands/sandbox/fault.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

test('orders of trouble are rules of the sandbox, with how often and what', () => {
  const orders = [
    'files.delete 503 ×2, download cut x1',
    '* 2s',
    'delivery 1m duplicate',
    'files.get 500 afterwards',
    'delivery signature=bad probability=0.5',
  ]
  expect(readFaults(orders).map(({ text, rule }) => [text, rule])).toMatchObject([
    ['files.delete 503 ×2', { on: 'files.delete', status: 503, times: 2 }],
    ['download cut x1', { on: 'download', cutAfterBytes: 1, times: 1 }],
    ['* 2s', { on: '*', latencyMs: 2_000, times: null }],
    ['delivery 1m duplicate', { on: 'delivery', delayMs: 60_000, duplicate: true }],
    ['files.get 500 afterwards', { on: 'files.get', status: 500, afterwards: true }],
    ['delivery signature=bad probability=0.5', { on: 'delivery', signature: 'bad', probability: 0.5 }],
  ])
})

test.each([
  ['file.delete 503', 'there is no target "file.delete"'],
  ['files.delete', 'no effect'],
  ['files.delete 503 twice', '"twice" is not part of a fault'],
  ['files.delete 302', 'expected number to be >=400'],
  ['delivery 503', 'does nothing on delivery'],
  ['', 'there is no target'],
])('the order "%s" is refused: %s', (order, why) => {
  expect(() => readFaults([order])).toThrow(why)
})

test('bytes of this machine are for a file that the event names, with or without its storage', () => {
  const from = join(tempFolder(), 'own.csv')
  writeFileSync(from, 'a,b')
  const file: NamedFile = {
    storage: 'storage_a',
    id: 'fil_1',
    path: '/in/a=b.csv',
    type: 'file',
    size: 3,
    createdAt: null,
    modifiedAt: null,
    sha256: null,
  }
  const files = [file, { ...file, storage: 'storage_b' as const }]
  expect(giveBytes(files, [`/in/a=b.csv=${from}`]).map((each) => each.from)).toEqual([from, from])
  expect(giveBytes(files, [`storage_b:/in/a=b.csv=${from}`]).map((each) => each.from)).toEqual([undefined, from])
  expect(() => giveBytes(files, [`/in/other.csv=${from}`])).toThrow('neither the event nor a run of it names')
  expect(() => giveBytes(files, [`/in/a=b.csv=${from}.gone`])).toThrow('is no file')
  expect(() => giveBytes(files, ['/in/a'])).toThrow('no file is named')
})
