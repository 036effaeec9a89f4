import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { wrapModule } from '../../../src/app/backtest/check-out.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test('a module of any name is the only one of a folder, which is gone afterwards', async () => {
  const file = join(tempFolder(), 'tidy of today.shadow.mjs')
  writeFileSync(file, 'export default 7\n')
  let folder: string
  {
    await using wrapped = wrapModule(file)
    folder = wrapped.workflowsDir
    const names = readdirSync(folder)
    expect(names).toEqual([expect.stringMatching(/\.workflow\.js$/)])
    expect(await import(join(folder, names[0] ?? ''))).toMatchObject({ default: 7 })
  }
  expect(existsSync(folder)).toBe(false)
})
