import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEventData, setFields } from '../../../../src/cli/commands/events/trigger.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

test('--set sets fields at any depth, with JSON values where the text is JSON', () => {
  const data = { file: { name: 'a', size: 1 } }
  const changed = setFields(data, ['data.file.name=b=c', 'data.file.size=2', 'data.tags.0=null', 'data.note='])
  expect(changed).toEqual({ file: { name: 'b=c', size: 2 }, tags: { 0: null }, note: '' })
  expect(data.file.name).toBe('a')
})

test.each(['name=x', 'data=x', 'data.=x', 'data.a', 'data.a..b=x', 'data.__proto__.x=1'])(
  '--set refuses %s',
  (assignment) => {
    expect(() => setFields({}, [assignment])).toThrow(/sets no field/)
  },
)

test('event data is read from a whole event or its data alone, and must be an object', async () => {
  const file = join(tempFolder(), 'event.json')
  writeFileSync(file, '{"id":"evt_1","type":"x","data":{"a":1}}')
  expect(await readEventData(file)).toEqual({ a: 1 })
  writeFileSync(file, '{"a":1}')
  expect(await readEventData(file)).toEqual({ a: 1 })
  writeFileSync(file, '[1]')
  await expect(readEventData(file)).rejects.toThrow(/does not hold a JSON object/)
  await expect(readEventData(`${file}.none`)).rejects.toThrow(/ENOENT/)
})
