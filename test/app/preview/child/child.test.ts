import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Child } from '../../../../src/app/preview/child/child.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

test('a process that is to be killed in a month may end by itself', async () => {
  const entry = join(tempFolder(), 'end.mjs')
  writeFileSync(entry, 'setTimeout(() => process.exit(3), 200)')
  const child = new Child({ name: 'The process', entry, handlers: {} })
  await child.killAfter(30 * 86_400_000)
  expect(await child.ended).toMatchObject({ code: 3 })
})
